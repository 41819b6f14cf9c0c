//! The gate: facts about an action and a policy in, a decision and its rule out. It knows commands
//! and paths as text; it reads no file and runs nothing.

mod approval;
mod audit;
mod binding;
mod bounds;
mod call;
mod command;
mod doc;
mod explain;
mod gate;
mod grant;
mod labels;
mod roots;
mod rule;
mod ruling;
mod settings;

pub use approval::{Approval, ApprovalError};
pub use audit::{ApprovalMark, AuditRow, Audited};
pub use binding::Binding;
pub use bounds::{Bounds, UnreadableBounds};
pub use call::{
    Address, AddressKind, ArgumentSource, Budget, Call, CallFacts, Evidence, FieldHints, FieldKind,
    Judged, LeadsTo, Limits, Offer, OriginKind, Page, Provenance, Question, Reading, Scope,
    Sensitive, ShownArgument, Surroundings, Taint, hosts_named, judge_call, shown_in_full,
};
pub use command::{Assessment, Place, Verdict, assess};
pub use doc::{DeniedHosts, PolicyDoc, PolicyError};
pub use explain::explain;
pub use gate::{
    Action, Confinement, Decision, Facts, Outcome, ServerTrust, ToolEffects, ToolHints, decide,
};
pub use grant::{Grant, Request, as_typed};
pub use labels::{Labels, SERVED_TOOLS, tool_names};
pub use roots::{LeftOut, PatchReach, Root, left_out, reach, usable_folder, writable_roots};
pub use rule::RuleId;
pub use ruling::{Ruling, Stance, Waivable, Waivers};
pub use settings::{ApprovalPolicy, SandboxMode, SandboxPolicy};
