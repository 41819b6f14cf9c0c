//! What delegated tasks wait for: questions that only the operator of this node may answer. Whoever
//! shows them to a person lists and decides them here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_ldp::{SkillName, TaskKey};
use tokio::sync::{oneshot, watch};

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Approvals(Arc<Shared>);

/// A question that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: u64,
    /// Whose task it is.
    pub task: TaskKey,
    pub skill: SkillName,
    /// What is to be allowed, in words and in full: a command, or the lines of a patch.
    pub what: String,
    pub asked_at_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Approve,
    Deny,
}

/// Nothing waits under that number: it was decided already, or its task is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotWaiting(pub u64);

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    questions: BTreeMap<u64, (Approval, oneshot::Sender<Decision>)>,
}

/// A question that was asked. Dropping it takes the question back.
#[derive(Debug)]
pub(super) struct Asked {
    approvals: Approvals,
    id: u64,
    decision: oneshot::Receiver<Decision>,
}

impl Default for Approvals {
    fn default() -> Self {
        let changes = watch::channel(0).0;
        Self(Arc::new(Shared { waiting: Mutex::default(), changes }))
    }
}

impl Approvals {
    /// What waits, oldest first.
    pub fn list(&self) -> Vec<Approval> {
        self.waiting().questions.values().map(|(approval, _)| approval.clone()).collect()
    }

    pub fn decide(&self, id: u64, decision: Decision) -> Result<(), NotWaiting> {
        let (_, answer) = self.waiting().questions.remove(&id).ok_or(NotWaiting(id))?;
        self.changed();
        answer.send(decision).map_err(|_| NotWaiting(id))
    }

    /// Changes whenever the list does.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    pub(super) fn ask(&self, task: TaskKey, skill: SkillName, what: String) -> Asked {
        let (answer, decision) = oneshot::channel();
        let id = {
            let mut waiting = self.waiting();
            waiting.next += 1;
            let id = waiting.next;
            let asked_at_ms = crate::clock::now_ms();
            let approval = Approval { id, task, skill, what, asked_at_ms };
            waiting.questions.insert(id, (approval, answer));
            id
        };
        self.changed();
        Asked { approvals: self.clone(), id, decision }
    }

    fn changed(&self) {
        self.0.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// Nobody can decide any more when everything is over: that is a no.
    pub(super) async fn decided(&mut self) -> Decision {
        (&mut self.decision).await.unwrap_or(Decision::Deny)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.approvals.waiting().questions.remove(&self.id).is_some() {
            self.approvals.changed();
        }
    }
}

impl fmt::Display for NotWaiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no approval waits under the number {}", self.0)
    }
}

impl std::error::Error for NotWaiting {}
