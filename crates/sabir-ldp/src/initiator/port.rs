//! What an initiator can be told, and what it wants done.

use serde::{Deserialize, Serialize, Serializer};

use crate::contract::Contract;
use crate::delegate::Declined;
use crate::envelope::{Envelope, Outcome, Received, Update};
use crate::error::LdpError;
use crate::id::{DelegateId, SessionId, SkillName, TaskId};
use crate::mode::PayloadMode;
use crate::payload::Payload;
use crate::seal::Seal;
use crate::time::Timestamp;
use crate::trust::Standing;

/// A message that was sent, and whose answer is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExchangeId(pub u64);

#[derive(Debug, Clone, Serialize)]
pub enum Input {
    /// Open the session.
    Begin,
    Submit(Box<TaskRequest>),
    Cancel {
        task: TaskId,
    },
    /// A task that the delegate may have from before: it is told to cancel it, and is not sent it.
    Withdraw(Box<TaskRequest>),
    /// The answer to a message, and how its sender was authenticated.
    Received {
        exchange: ExchangeId,
        received: Box<Received>,
        standing: Result<Standing, Declined>,
    },
    /// News of a task on a stream that goes on. It answers nothing.
    Streamed {
        received: Box<Received>,
        standing: Result<Standing, Declined>,
    },
    TransportFailed {
        exchange: ExchangeId,
        why: String,
        arrival: Arrival,
    },
    /// The message was turned away, and would be again.
    TurnedAway {
        exchange: ExchangeId,
        error: LdpError,
        arrival: Arrival,
    },
    Suspend,
    Resume,
    Close,
    Tick,
}

/// Whether a message whose answer did not come may have been acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrival {
    /// It did not get there, or was refused before it was read.
    Never,
    Unknown,
}

/// A task, with its payload in the richest form that the caller has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRequest {
    pub task_id: TaskId,
    pub skill: SkillName,
    #[serde(serialize_with = "as_value")]
    pub payload: Payload,
    pub contract: Option<Contract>,
    /// Through whose hands the task came before, the oldest first.
    pub delegation_path: Vec<DelegateId>,
}

#[derive(Debug, Clone, Serialize)]
pub enum Output {
    /// Sign this as `seal` says and send it; after `deadline` no answer counts.
    Send {
        exchange: ExchangeId,
        envelope: Box<Envelope>,
        seal: Seal,
        deadline: Timestamp,
    },
    Opened {
        session: SessionId,
        delegate: DelegateId,
        mode: PayloadMode,
        resumed: bool,
    },
    Progress(UpdateOf),
    /// A task has a result, which nobody has verified yet.
    Done(Box<Report>),
    Failed {
        task: TaskId,
        error: LdpError,
    },
    Suspended,
    /// The delegate does not let the session rest: it goes on.
    NotSuspended(LdpError),
    /// The session is over. Nothing comes after this.
    Ended(Option<LdpError>),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpdateOf {
    pub task: TaskId,
    pub progress: Option<f64>,
    pub message: Option<String>,
    pub state: Option<crate::envelope::TaskState>,
    pub seq: Option<u64>,
}

/// A result as it is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub outcome: Outcome,
    /// In which the task was sent at last.
    pub mode: PayloadMode,
    pub session: SessionId,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Outcome { task_id, output, provenance } = &self.outcome;
        (task_id, output, provenance, self.mode, &self.session).serialize(serializer)
    }
}

impl From<Update> for UpdateOf {
    fn from(update: Update) -> Self {
        let Update { task_id, progress, message, state, seq } = update;
        Self { task: task_id, progress, message, state, seq }
    }
}

fn as_value<S: Serializer>(payload: &Payload, serializer: S) -> Result<S::Ok, S::Error> {
    payload.to_value().serialize(serializer)
}
