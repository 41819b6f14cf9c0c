//! The queue pair between a person's program and an agent: submissions and events, the machine of
//! sessions, tasks, turns and approvals, patches, and model streams. It names no channel, no clock
//! and no file.

mod items;
mod machine;
pub mod patch;
mod protocol;
mod retry;
mod stream;
mod tools;

pub use items::{Content, Item, Role, Summary};
pub use machine::{
    ApprovalState, GrantRecord, Input, OfferedTool, Output, PreparedPatch, Record, Session,
    Settings, ToolEvent, ToolResult, Work, thread_at,
};
pub use protocol::{
    AbortReason, ApprovalGrant, ConfigureSession, Decision, Decoded, Effort, Event, EventMsg,
    ExecOutput, FileChange, InputItem, InputMode, MAX_LINE_BYTES, Op, OutputStream, PlanStep,
    ProviderSettings, Refusal, StepStatus, Submission, TokenTotals, ToolInfo, WireApi, decode,
    schema, too_long, typescript,
};
pub use retry::{Attempts, delay_ms as retry_delay_ms};
pub use stream::{
    FailureKind, ModelEvent, ModelFailure, ModelRequest, SseDecoder, SseEvent, SseTooLarge,
    StreamDecoder, Usage,
};
pub use tools::{ListDir, ReadFile, Search, Shell, SpawnAgent, ToolCall, UpdatePlan, built_in};
