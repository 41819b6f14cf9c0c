//! The two queues as data: what a person's program submits, and what it is told. Everything here is
//! plain and serializable; no channel or handle is ever inside.

mod decode;
mod describe;
mod event;
mod op;
mod settings;

pub use decode::{Decoded, MAX_LINE_BYTES, Refusal, decode, too_long};
pub use describe::{schema, typescript};
pub use event::{
    AbortReason, ApprovalGrant, Event, EventMsg, ExecOutput, FileChange, OutputStream, PlanStep,
    StepStatus, TokenTotals, ToolInfo,
};
pub use op::{ConfigureSession, Decision, InputItem, InputMode, Op, Submission};
pub use settings::{Effort, ProviderSettings, WireApi};
