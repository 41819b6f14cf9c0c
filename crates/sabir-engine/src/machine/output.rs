//! What a machine wants done.

use std::sync::Arc;

use sabir_policy::{AuditRow, Confinement};

use super::settings::Settings;
use super::thread::Record;
use crate::protocol::Event;
use crate::stream::ModelRequest;
use crate::tools::ToolCall;

#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Show this.
    Emit(Event),
    /// Remember this.
    Record(Record),
    /// Keep this for whoever asks why something was done, or not.
    Audit(Box<AuditRow>),
    /// Ask the model; its answer comes as `Input::Model` with the same number.
    Ask { attempt: u64, request: Box<ModelRequest> },
    /// Hang up.
    HangUp { attempt: u64 },
    /// Try a patch on the files without changing any.
    Prepare { key: u64, input: String, cwd: String },
    /// Do this; what comes of it is told as `Input::Tool` with the same number.
    Start { key: u64, work: Work, settings: Arc<Settings> },
    /// The patch that was prepared under this number is not wanted, or will not be when it is.
    Discard { key: u64 },
    /// Stop this at once; it still ends with `ToolEvent::Finished`.
    Stop { key: u64 },
    /// Tick then, or later.
    WakeAt(u64),
    /// The session is over.
    Close,
}

/// Work that was allowed.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    Exec {
        command: Vec<String>,
        cwd: String,
        timeout_ms: u64,
        confinement: Confinement,
    },
    /// The patch that was prepared under the same number.
    Patch,
    /// Reading, searching, listing, another agent, or a tool of another server.
    Call(ToolCall),
    /// Take back changes, newest first.
    Undo(Vec<serde_json::Value>),
}
