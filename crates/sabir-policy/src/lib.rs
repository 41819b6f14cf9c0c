//! The gate: facts about an action and a policy in, a decision and its rule out. It knows commands
//! and paths as text; it reads no file and runs nothing.

mod command;
mod settings;

pub use command::{Assessment, Verdict, assess};
pub use settings::{ApprovalPolicy, SandboxMode, SandboxPolicy};
