//! What the engine tells.

use std::collections::BTreeMap;

use sabir_policy::{ApprovalPolicy, SandboxPolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::items::Item;
use crate::stream::Usage;

/// A message from the engine. The id is that of the submission it is about: for everything within a
/// task, the one that started the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Event {
    pub id: String,
    pub msg: EventMsg,
}

/// What happened. Readers must pass over kinds that they do not know: there will be more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventMsg {
    SessionConfigured {
        session_id: String,
        model: String,
        cwd: String,
        approval_policy: ApprovalPolicy,
        sandbox_policy: SandboxPolicy,
        /// How many items the thread holds: more than none after a resume.
        history_items: u64,
    },
    TaskStarted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_window: Option<u64>,
    },
    TaskComplete {
        #[serde(default)]
        last_agent_message: Option<String>,
    },
    /// A turn is over, and its response can be resumed or forked from.
    TurnComplete {
        response_id: String,
    },
    /// The task ended before it was done.
    TurnAborted {
        reason: AbortReason,
    },
    AgentMessage {
        message: String,
    },
    AgentMessageDelta {
        delta: String,
    },
    AgentReasoning {
        text: String,
    },
    AgentReasoningDelta {
        delta: String,
    },
    ExecApprovalRequest {
        call_id: String,
        command: Vec<String>,
        cwd: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What `approved_for_session` would cover, in words.
        session_scope: String,
    },
    /// A request for approval that nobody answered waits no longer; the call was denied.
    ApprovalExpired {
        call_id: String,
    },
    ExecCommandBegin {
        call_id: String,
        command: Vec<String>,
        cwd: String,
    },
    ExecCommandOutputDelta {
        call_id: String,
        stream: OutputStream,
        /// Text; bytes that are none are replaced.
        chunk: String,
    },
    ExecCommandEnd {
        call_id: String,
        #[serde(flatten)]
        output: ExecOutput,
    },
    ApplyPatchApprovalRequest {
        call_id: String,
        changes: BTreeMap<String, FileChange>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        session_scope: String,
    },
    PatchApplyBegin {
        call_id: String,
        changes: BTreeMap<String, FileChange>,
        auto_approved: bool,
    },
    PatchApplyEnd {
        call_id: String,
        success: bool,
        message: String,
    },
    /// What the files look like now against what they were before the task, as a unified diff.
    TurnDiff {
        unified_diff: String,
    },
    PlanUpdate {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
        plan: Vec<PlanStep>,
    },
    /// Tokens of the last response, and of the session.
    TokenCount {
        #[serde(flatten)]
        usage: Usage,
        total: TokenTotals,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_window: Option<u64>,
    },
    ToolCallBegin {
        call_id: String,
        tool: String,
        arguments: Value,
    },
    ToolCallEnd {
        call_id: String,
        tool: String,
        success: bool,
        /// Shortened to what a person would read.
        output: String,
    },
    /// The answer to `list_tools`.
    Tools {
        tools: Vec<ToolInfo>,
    },
    /// The answer to `list_approvals` and `revoke_approval`.
    Approvals {
        approvals: Vec<ApprovalGrant>,
    },
    /// The answer to `get_history`.
    History {
        items: Vec<Item>,
        /// The response after which the thread stands.
        #[serde(default)]
        last_response_id: Option<String>,
    },
    Warning {
        message: String,
    },
    Error {
        message: String,
    },
    /// Something that needs no answer: a server started, a thread was compacted.
    BackgroundEvent {
        message: String,
    },
    /// The model's stream broke, and what is done about it.
    StreamError {
        message: String,
    },
    ShutdownComplete,
}

/// Why a task ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AbortReason {
    Interrupted,
    Replaced,
    Reconfigured,
    Shutdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// What a command left behind. Long output keeps its beginning and its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ExecOutput {
    /// 124 after a timeout, 130 after an interrupt, 128 and the signal's number after a signal.
    pub exit_code: i32,
    pub stdout: String,
    pub stderr: String,
    pub duration_ms: u64,
    pub timed_out: bool,
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Add { content: String },
    Delete { content: String },
    Update { unified_diff: String, move_path: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PlanStep {
    pub step: String,
    pub status: StepStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    Pending,
    InProgress,
    Completed,
}

/// Tokens of the whole session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TokenTotals {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub reasoning: u64,
}

impl TokenTotals {
    /// What servers say is not to be trusted: it adds up to the largest number at most.
    pub(crate) fn add(&mut self, usage: Usage) {
        self.input = self.input.saturating_add(usage.input);
        self.cached = self.cached.saturating_add(usage.cached);
        self.output = self.output.saturating_add(usage.output);
        self.reasoning = self.reasoning.saturating_add(usage.reasoning);
    }
}

/// A tool that the model is offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolInfo {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

/// Something that was approved for the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ApprovalGrant {
    pub approval_id: String,
    /// What it covers, in words.
    pub covers: String,
}
