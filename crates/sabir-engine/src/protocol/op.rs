//! What can be submitted.

use sabir_policy::{ApprovalPolicy, SandboxPolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::settings::{Effort, ProviderSettings};

/// A message to the engine. The sender chooses the id; every event about it repeats the id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Submission {
    pub id: String,
    pub op: Op,
}

/// What is asked of the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// Must come first, and may come again: a running task is then aborted.
    ConfigureSession(ConfigureSession),
    /// Starts a task, or joins or follows the running one.
    UserInput {
        items: Vec<InputItem>,
        /// Continue after this response instead of where the thread stands: resume or fork.
        #[serde(default)]
        #[ts(optional = nullable)]
        last_response_id: Option<String>,
        #[serde(default)]
        #[ts(optional, as = "Option<InputMode>")]
        mode: InputMode,
    },
    /// Ends the running task.
    Interrupt,
    /// Answers `exec_approval_request`.
    ExecApproval {
        call_id: String,
        decision: Decision,
        /// With `approved_for_session`: cover every command that begins with these words, instead
        /// of exactly this one.
        #[serde(default)]
        #[ts(optional = nullable)]
        prefix: Option<Vec<String>>,
    },
    /// Answers `apply_patch_approval_request`.
    PatchApproval {
        call_id: String,
        decision: Decision,
    },
    /// Changes settings from the next turn on, and leaves the running task alone.
    OverrideTurnContext {
        #[serde(default)]
        #[ts(optional = nullable)]
        cwd: Option<String>,
        #[serde(default)]
        #[ts(optional = nullable)]
        model: Option<String>,
        #[serde(default)]
        #[ts(optional = nullable)]
        approval_policy: Option<ApprovalPolicy>,
        #[serde(default)]
        #[ts(optional = nullable)]
        sandbox_policy: Option<SandboxPolicy>,
        #[serde(default)]
        #[ts(optional = nullable)]
        effort: Option<Effort>,
    },
    /// Replaces the thread by a summary of it.
    Compact,
    /// Takes back the file changes of the last task that changed files.
    Undo,
    /// Has the model look over the changes in the workspace, beside the thread.
    Review {
        #[serde(default)]
        #[ts(optional = nullable)]
        prompt: Option<String>,
    },
    /// Runs a command that the person typed. It needs no approval and no model.
    RunUserShellCommand {
        command: String,
    },
    ListTools,
    /// What was approved for the session.
    ListApprovals,
    /// Takes back what was approved for the session.
    RevokeApproval {
        approval_id: String,
    },
    GetHistory,
    Shutdown,
}

/// The session's settings. What is absent keeps its value, or takes the default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ConfigureSession {
    /// Resumes this stored session.
    pub session_id: Option<String>,
    pub model: Option<String>,
    pub provider: Option<ProviderSettings>,
    /// Absolute.
    pub cwd: Option<String>,
    pub approval_policy: Option<ApprovalPolicy>,
    pub sandbox_policy: Option<SandboxPolicy>,
    /// Beside the built-in instructions.
    pub instructions: Option<String>,
    pub effort: Option<Effort>,
    /// How long an approval may wait for a person; after that it is denied, and the model is told
    /// why. Absent: for ever.
    pub approval_timeout_ms: Option<u64>,
    /// The tokens that the model can hold. The thread is compacted before it is full.
    pub context_window: Option<u64>,
}

/// A part of what a user says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputItem {
    Text {
        text: String,
    },
    /// A `data:` or `https:` address, given to the model as it is.
    Image {
        image_url: String,
    },
    /// A file of this machine.
    LocalImage {
        path: String,
    },
}

/// What input does while a task runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum InputMode {
    /// Aborts the running task and starts a new one.
    #[default]
    Replace,
    /// Joins the running task before its next turn.
    Steer,
    /// Starts after the running task.
    Queue,
}

/// A person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Approved,
    /// Also the next time, until the session ends or the approval is revoked.
    ApprovedForSession,
    /// Not this; the task goes on.
    Denied,
    /// Not this, and the task ends.
    Abort,
}
