//! What a delegate wants done.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::{Record, RequestId, TaskKey};
use crate::contract::Contract;
use crate::envelope::Envelope;
use crate::id::{DelegateId, SessionId, SkillName, TaskId};
use crate::mode::PayloadMode;
use crate::payload::Payload;
use crate::seal::Seal;
use crate::time::Timestamp;

/// In order: what follows a record takes effect only when that record is on disk.
#[derive(Debug, Clone, Serialize)]
pub enum Output {
    Record(Box<Record>),
    /// Sign this as `seal` says, and send it as the answer to the request.
    Reply {
        request: RequestId,
        envelope: Box<Envelope>,
        seal: Seal,
    },
    /// Do this; what comes of it is told as [`super::Input::Task`] with the same key.
    Start(Box<TaskOrder>),
    /// Stop this at once. Who must still say what there was is told by [`StopReason`].
    Stop {
        key: TaskKey,
        why: StopReason,
    },
    /// For whoever follows the task's stream.
    Update {
        key: TaskKey,
        seq: u64,
        envelope: Box<Envelope>,
        seal: Seal,
    },
    /// Look up how this task ended, and tell it as [`super::Input::Recalled`].
    Recall {
        request: RequestId,
        key: TaskKey,
    },
}

/// A task that passed every check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskOrder {
    pub key: TaskKey,
    pub session: SessionId,
    pub skill: SkillName,
    pub mode: PayloadMode,
    #[serde(serialize_with = "as_value")]
    pub payload: Payload,
    pub contract: Option<Contract>,
    /// Earlier tasks of the session that ended, oldest first.
    pub history: Arc<VecDeque<TaskId>>,
    /// Who handed the task on, oldest first; the last is its sender.
    pub delegation_path: Arc<[DelegateId]>,
    /// When it will be stopped.
    pub deadline: Timestamp,
    /// When it was begun. Together with the key, a name that no other task has.
    pub started_at: Timestamp,
    pub start: TaskStart,
}

/// Whether a task was begun before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStart {
    First,
    /// The node stopped or died while it ran, and nobody knows how far it came.
    Again,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Nobody waits for what it had.
    Cancelled,
    /// Its contract is broken, or it ran too long: a last event with what there was is expected.
    Violated,
}

fn as_value<S: Serializer>(payload: &Payload, serializer: S) -> Result<S::Ok, S::Error> {
    payload.to_value().serialize(serializer)
}
