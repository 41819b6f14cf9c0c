//! The queue pair between a person's program and an agent: submissions and events, the machine of
//! sessions, tasks, turns and approvals, patches, and model streams. It names no channel, no clock
//! and no file.

mod items;
pub mod patch;
mod protocol;
mod retry;
mod stream;

pub use items::{Content, Item, Role, Summary};
pub use protocol::{
    AbortReason, ApprovalGrant, ConfigureSession, Decision, Effort, Event, EventMsg, ExecOutput,
    FileChange, InputItem, InputMode, Op, OutputStream, PlanStep, ProviderSettings, StepStatus,
    Submission, TokenTotals, ToolInfo, WireApi,
};
pub use retry::{RetryRules, delay_ms, is_retryable};
pub use stream::{
    FailureKind, ModelEvent, ModelFailure, ModelRequest, SseDecoder, SseEvent, SseTooLarge,
    StreamDecoder, Usage,
};
