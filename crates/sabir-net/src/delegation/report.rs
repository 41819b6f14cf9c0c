//! What is told about a delegation: news while it goes on, and one report at its end. It computes
//! nothing.

use std::sync::Arc;

use sabir_ldp::{
    Choice, DelegateId, LdpError, PayloadMode, Provenance, SessionId, SkillName, TaskState,
    VerificationStatus,
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

use super::DelegationError;
use crate::ldp::client::NewPin;

/// All there is to say about a delegation. With an `error` the task was not done, or its result did
/// not stand the check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DelegationReport {
    pub task_id: String,
    /// None if nobody could be asked what there is.
    pub skill: Option<SkillName>,
    pub output: Option<Value>,
    pub error: Option<LdpError>,
    /// Who made the output, as far as it is known; `verified` only if a check of ours passed.
    pub provenance: Option<Provenance>,
    /// The producer's own record with its signature, which covers what the producer says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_record: Option<Value>,
    pub payload_mode: Option<PayloadMode>,
    /// Who did it, or was the last to try.
    pub delegate_id: Option<DelegateId>,
    pub address: Option<String>,
    pub chosen: Chosen,
    pub attempts: Vec<AttemptReport>,
    pub cost: Cost,
    pub checks: Vec<Check>,
    /// Keys that were pinned because they were seen for the first time.
    pub pinned_keys: Vec<NewPin>,
    /// What could not be written down about it, and why. The result is none the worse for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}

impl DelegationReport {
    pub fn is_done(&self) -> bool {
        self.error.is_none()
    }

    /// Keeps why something could not be written down: the work was done all the same.
    pub(super) fn note(&mut self, recorded: Result<(), DelegationError>) {
        if let Err(error) = recorded {
            self.note_all([error.to_string()]);
        }
    }

    pub(super) fn note_all(&mut self, reasons: impl IntoIterator<Item = String>) {
        for why in reasons {
            if !self.unrecorded.contains(&why) {
                self.unrecorded.push(why);
            }
        }
    }
}

/// How the delegate was chosen.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Chosen {
    /// The choice in words.
    pub why: String,
    pub choice: Option<Choice>,
    /// Who could not be asked, and why.
    pub unreachable: Vec<Unreachable>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unreachable {
    pub address: String,
    pub error: LdpError,
}

/// One delegate's turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttemptReport {
    pub delegate_id: DelegateId,
    pub address: String,
    pub latency_ms: u64,
    pub outcome: AttemptOutcome,
    pub error: Option<LdpError>,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    Delivered,
    Failed,
    /// Somebody else, who was asked as well, had delivered; it was told to stop.
    Stopped,
}

/// What it took. Tokens and dollars are the delegate's word; the time is ours.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Cost {
    pub tokens: Option<u64>,
    pub usd: Option<f64>,
    pub latency_ms: u64,
    /// Whether the delegate's word is within the budget. None without a budget, or without a word about
    /// something that it limits.
    pub within_budget: Option<bool>,
}

/// An independent look at the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub status: VerificationStatus,
    /// Which rule, tool, delegate or person.
    pub by: String,
    pub passed: bool,
    pub outcome: CheckOutcome,
    pub detail: Option<String>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    Passed,
    Failed,
    /// It was not made: nobody answered, or nobody and nothing could be asked. That says nothing about
    /// the result.
    NotMade,
}

/// News of a delegation, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DelegationEvent {
    /// An address was looked at and answered.
    Found {
        delegate_id: DelegateId,
        address: String,
    },
    Unreachable {
        address: String,
        error: LdpError,
    },
    KeyPinned(NewPin),
    Chosen {
        why: String,
        skill: SkillName,
    },
    /// Where the request says so, the task is sent when the last copy of this is dropped.
    Trying {
        delegate_id: DelegateId,
        address: String,
        /// How many tasks its card says that it works on at once.
        #[serde(skip_serializing_if = "Option::is_none")]
        tasks_at_once: Option<u64>,
        #[serde(skip)]
        held: Held,
    },
    SessionOpened {
        delegate_id: DelegateId,
        session: SessionId,
        mode: PayloadMode,
    },
    Progress {
        delegate_id: DelegateId,
        progress: Option<f64>,
        message: Option<String>,
        state: Option<TaskState>,
    },
    Failed {
        delegate_id: DelegateId,
        error: LdpError,
    },
    /// It is asked as well: who was asked before takes longer than the hedge delay.
    Hedging {
        delegate_id: DelegateId,
    },
    /// It was told to stop, because somebody else delivered.
    Stopped {
        delegate_id: DelegateId,
    },
    Delivered {
        delegate_id: DelegateId,
    },
    Checking {
        by: String,
    },
    Checked(Check),
}

/// What keeps a task from being sent for as long as somebody has it.
#[derive(Debug, Clone, Default)]
pub struct Held {
    _until_dropped: Option<Arc<oneshot::Sender<()>>>,
}

/// Two are as good as one.
impl PartialEq for Held {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Held {
    /// Also gives what ends when the last copy is dropped.
    pub(super) fn new() -> (Self, impl Future<Output = ()>) {
        let (sender, dropped) = oneshot::channel();
        let wait = async {
            let _ = dropped.await;
        };
        (Self { _until_dropped: Some(Arc::new(sender)) }, wait)
    }
}
