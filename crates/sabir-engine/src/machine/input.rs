//! What a machine can be told.

use sabir_policy::ToolEffects;

use super::Changes;
use super::settings::Settings;
use super::thread::Record;
use crate::protocol::{EventMsg, ExecOutput, OutputStream, Submission, ToolInfo};
use crate::stream::{ModelEvent, Usage};

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// `configure_session`, with everything looked up.
    Configure {
        sub_id: String,
        settings: Box<Settings>,
        /// What is stored of the session, if it is resumed.
        stored: Option<Vec<Record>>,
        external: Vec<OfferedTool>,
    },
    /// Any other submission.
    Submit(Submission),
    /// Something to show that only the driver knows: a submission that could not be read or used,
    /// a server that did not start.
    Tell { sub_id: String, msg: EventMsg },
    /// The tools of other servers are these from now on.
    External(Vec<OfferedTool>),
    /// What the model is told before the thread is this from the next request on.
    Instructions(String),
    /// Nobody can answer any more: what waits for a person is denied, now and later.
    Unattended,
    /// A response of another session, and the thread that led to it, as [`super::thread_at`] says.
    Adopt { response_id: String, thread: Vec<Record> },
    /// News of the request that was numbered so.
    Model { attempt: u64, event: ModelEvent },
    /// A patch was read and tried on the files, without changing any.
    Prepared { key: u64, patch: Result<PreparedPatch, String> },
    /// News of the work that was numbered so.
    Tool { key: u64, event: ToolEvent },
    /// Time has passed.
    Tick,
}

/// A tool of another server, and what it does as far as that can be believed.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    pub info: ToolInfo,
    pub effects: ToolEffects,
}

/// A patch that would apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedPatch {
    pub changes: Changes,
    /// The same, as `diff` and `git` write it.
    pub unified_diff: String,
    /// Every file that it touches, absolute.
    pub paths: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ToolEvent {
    Output { stream: OutputStream, chunk: String },
    Finished(ToolResult),
}

/// What work came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolResult {
    pub success: bool,
    /// For the model.
    pub output: String,
    /// For people, when a command ran.
    pub exec: Option<ExecOutput>,
    /// The sandbox seems to have stood in the way.
    pub sandbox_denied: bool,
    /// How to take back what was changed.
    pub undo: Option<serde_json::Value>,
    /// What it cost, when another agent did it.
    pub usage: Option<Usage>,
}
