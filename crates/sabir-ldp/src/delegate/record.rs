//! What a delegate must not forget. The records of a node, in their order, are its state; a refusal
//! is recorded for whoever asks later, and restores nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Usage;
use crate::contract::Contract;
use crate::envelope::{Body, Failure, MessageType, Outcome, TaskState};
use crate::error::LdpError;
use crate::id::{DelegateId, MessageId, SessionId, SkillName, TaskId, hash_of_named};
use crate::mode::PayloadMode;
use crate::provenance::Provenance;
use crate::replay::ReplayRecord;
use crate::sign::SessionKeys;
use crate::time::Timestamp;
use crate::trust::Mark;
use crate::value::HexBytes;

/// A task, named by who sent it: ids of different senders do not meet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskKey {
    pub owner: DelegateId,
    pub id: TaskId,
}

impl TaskKey {
    /// Stands for the key where there are many: two keys that share it are taken for known, and looked
    /// up.
    pub fn trace(&self) -> u64 {
        let hash = hash_of_named(&self.owner, self.id.as_str());
        hash[..8].iter().fold(0, |trace, byte| trace << 8 | u64::from(*byte))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A message passed the first checks: its id is used up.
    Seen(Seen),
    Opened(Box<Opened>),
    /// A payload failed in the mode before; the session goes on in this one.
    SteppedDown {
        session: SessionId,
        mode: PayloadMode,
    },
    Suspended {
        session: SessionId,
        at: Timestamp,
    },
    Resumed {
        session: SessionId,
        keys: Option<KeptKeys>,
        at: Timestamp,
    },
    SessionEnded {
        session: SessionId,
        owner: DelegateId,
        how: HowEnded,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<Mark>,
        at: Timestamp,
    },
    Started(Box<TaskStarted>),
    Updated(Box<TaskUpdated>),
    Ended(Box<TaskEnded>),
    /// Written by a snapshot only: a finished task, without how it ended, which the store has.
    Known {
        key: TaskKey,
        digest: TaskDigest,
        authentication: Authentication,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<Mark>,
    },
    /// Written by a snapshot only: the traces of tasks that finished before those.
    Faded {
        traces: Vec<u64>,
    },
    /// Written by a snapshot only: there are finished tasks that the records do not name.
    Forgot,
    Attested(Box<Attested>),
    Refused(Box<Refused>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub replay: ReplayRecord,
    /// The session that it used, which lives on by it.
    pub session: Option<SessionId>,
    pub at: Timestamp,
}

/// A session, as it was opened, or as a snapshot found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    pub session: SessionId,
    pub owner: DelegateId,
    pub domain: String,
    pub mode: PayloadMode,
    pub fallback_chain: Vec<PayloadMode>,
    pub ttl_ms: u64,
    pub keys: Option<KeptKeys>,
    pub authentication: Authentication,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Mark>,
    pub at: Timestamp,
    #[serde(default)]
    pub spent: Usage,
    #[serde(default)]
    pub history: Vec<TaskId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HowEnded {
    Closed,
    Expired,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskStarted {
    pub key: TaskKey,
    pub session: SessionId,
    pub skill: SkillName,
    pub digest: TaskDigest,
    pub mode: PayloadMode,
    pub contract: Option<Contract>,
    pub delegation_path: Arc<[DelegateId]>,
    pub deadline: Timestamp,
    pub authentication: Authentication,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Mark>,
    /// What it is to be done with, where it may have to be started once more.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub input: Option<Value>,
    pub at: Timestamp,
}

/// A null that is written down is an input.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskUpdated {
    pub key: TaskKey,
    pub seq: u64,
    pub state: TaskState,
    pub message: Option<String>,
    pub progress: Option<f64>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskEnded {
    pub key: TaskKey,
    pub session: SessionId,
    pub digest: TaskDigest,
    pub mode: PayloadMode,
    pub ending: Ending,
    pub usage: Usage,
    pub authentication: Authentication,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Mark>,
    pub at: Timestamp,
}

/// How a task ended. It is told again whenever its sender asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Result { output: Value, provenance: Box<Provenance> },
    Failed(LdpError),
}

impl Ending {
    /// The message that says so.
    pub(super) fn body(&self, task: &TaskId) -> Body {
        match self {
            Self::Result { output, provenance } => Body::TaskResult(Outcome {
                task_id: task.clone(),
                output: output.clone(),
                provenance: (**provenance).clone(),
            }),
            Self::Failed(error) => {
                Body::TaskFailed(Failure { task_id: Some(task.clone()), error: error.clone() })
            }
        }
    }
}

/// SHA-256 over skill and input: whether a known task id means the same task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDigest(pub HexBytes<32>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attested {
    pub from: DelegateId,
    pub session: Option<SessionId>,
    pub claim: Value,
    pub evidence: Value,
    pub at: Timestamp,
}

/// A message that was not obeyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub from: Option<DelegateId>,
    pub session: Option<SessionId>,
    pub message: Option<MessageId>,
    pub kind: Option<MessageType>,
    pub task: Option<TaskId>,
    pub code: String,
    pub why: String,
    pub at: Timestamp,
}

/// How sure it was who opened a session or sent a task. Who uses it or asks about it must be as
/// sure, and where that was no more than a token or certificate that anybody may hold, must show the
/// same: its mark stands beside, as `shown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authentication {
    Unsigned,
    /// A token or a certificate.
    Shown,
    Reference,
    Signed,
}

/// The keys of a session, to be kept where secrets are: without them, what comes in the session after
/// a restart could not be checked.
#[derive(Debug, Clone)]
pub struct KeptKeys(pub SessionKeys);

impl PartialEq for KeptKeys {
    fn eq(&self, other: &Self) -> bool {
        *self.0.reveal() == *other.0.reveal()
    }
}

impl Serialize for KeptKeys {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.reveal())
    }
}

impl<'de> Deserialize<'de> for KeptKeys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = zeroize::Zeroizing::new(String::deserialize(deserializer)?);
        let keys = SessionKeys::restore(&text);
        keys.map(Self).ok_or_else(|| serde::de::Error::custom("expected the keys of a session"))
    }
}
