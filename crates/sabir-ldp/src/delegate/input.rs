//! What a delegate can be told.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Declined, TaskEnded, TaskKey, Usage};
use crate::envelope::{Malformed, Received};
use crate::error::LdpError;
use crate::provenance::LineageHop;
use crate::trust::Standing;

/// A request that waits for its reply. Who drives the machine chooses the number, and never twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u64);

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Input {
    /// A message, and how its sender was authenticated; verified before it comes here, because a
    /// machine is held by a lock and a signature takes its time.
    Message { request: RequestId, received: Box<Received>, standing: Result<Standing, Declined> },
    /// A message that could not be read.
    Malformed { request: RequestId, malformed: Box<Malformed> },
    /// News of a task that was started.
    Task { key: TaskKey, event: TaskEvent },
    /// What the store has under the key that [`super::Output::Recall`] named.
    Recalled { request: RequestId, ended: Option<Box<TaskEnded>> },
    /// The caller's wait is over: answer with the state.
    GiveUp { request: RequestId },
    /// Time has passed.
    Tick,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TaskEvent {
    Progress {
        message: Option<String>,
        progress: Option<f64>,
    },
    /// What was spent so far, as totals.
    Usage(Usage),
    /// A person at this node must allow something first.
    WaitingForApproval {
        what: String,
    },
    Finished(Box<Finished>),
    /// It failed, or was stopped; `error.partial_output` is what there was.
    Failed {
        error: LdpError,
        usage: Usage,
    },
}

/// What a task came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub output: Value,
    pub usage: Usage,
    pub confidence: Option<f64>,
    /// The success criteria of the contract that were checked and are not met.
    pub unmet: Vec<String>,
    /// Who did parts of it, newest hop first.
    pub lineage: Vec<LineageHop>,
    /// When another than the card's did it.
    pub model_version: Option<String>,
}
