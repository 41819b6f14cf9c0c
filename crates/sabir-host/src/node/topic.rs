//! The latest updates of a task that somebody follows. It holds few: who falls behind reads from the
//! store.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sabir_ldp::TaskUpdated;
use tokio::sync::watch;

#[derive(Debug)]
pub(super) struct Topic {
    recent: Mutex<Recent>,
    latest: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Recent {
    updates: VecDeque<Arc<TaskUpdated>>,
    bytes: usize,
}

/// What comes after an update.
#[derive(Debug, PartialEq)]
pub(super) enum After {
    /// These, without a gap.
    Updates(Vec<Arc<TaskUpdated>>),
    /// Some that only the store has.
    InStore,
    NothingYet,
}

impl Default for Topic {
    fn default() -> Self {
        Self { recent: Mutex::default(), latest: watch::channel(0).0 }
    }
}

impl Topic {
    /// Called when the update is on disk.
    pub(super) fn push(&self, update: Arc<TaskUpdated>) {
        let seq = update.seq;
        {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            recent.bytes += weight(&update);
            recent.updates.push_back(update);
            while recent.bytes > MOST_BYTES || recent.updates.len() > MOST_UPDATES {
                let Some(oldest) = recent.updates.pop_front() else { break };
                recent.bytes -= weight(&oldest);
            }
        }
        self.latest.send_replace(seq);
    }

    pub(super) fn after(&self, seq: u64) -> After {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let next = seq.saturating_add(1);
        let newer = recent.updates.iter().filter(|update| update.seq >= next);
        let newer: Vec<_> = newer.cloned().collect();
        match newer.first() {
            Some(first) if first.seq == next => After::Updates(newer),
            Some(_) => After::InStore,
            None if *self.latest.borrow() >= next => After::InStore,
            None => After::NothingYet,
        }
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }
}

fn weight(update: &TaskUpdated) -> usize {
    size_of::<TaskUpdated>() + update.message.as_ref().map_or(0, String::len)
}

/// A burst; a follower that is slower than that reads them in larger pieces.
const MOST_UPDATES: usize = 64;
const MOST_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use sabir_ldp::{DelegateId, TaskId, TaskKey, TaskState, Timestamp};

    fn update(seq: u64, bytes: usize) -> Arc<TaskUpdated> {
        let owner = DelegateId::new("ldp:delegate:a").unwrap();
        Arc::new(TaskUpdated {
            key: TaskKey { owner, id: TaskId::new("t").unwrap() },
            seq,
            state: TaskState::Working,
            message: Some("x".repeat(bytes)),
            progress: None,
            at: Timestamp::from_millis(seq),
        })
    }

    fn seqs(after: After) -> Vec<u64> {
        match after {
            After::Updates(updates) => updates.iter().map(|it| it.seq).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn who_keeps_up_is_given_what_is_new_and_who_does_not_is_sent_to_the_store() {
        let topic = Topic::default();
        assert_eq!(topic.after(0), After::NothingYet);
        for seq in 5..=7 {
            topic.push(update(seq, 1));
        }
        assert_eq!(topic.after(0), After::InStore);
        assert_eq!(topic.after(3), After::InStore);
        assert_eq!(seqs(topic.after(4)), [5, 6, 7]);
        assert_eq!(seqs(topic.after(6)), [7]);
        assert_eq!(topic.after(7), After::NothingYet);
        assert_eq!(topic.after(u64::MAX), After::NothingYet);
    }

    #[test]
    fn few_are_held_however_long_they_are() {
        let topic = Topic::default();
        for seq in 1..=1000 {
            topic.push(update(seq, 0));
        }
        assert_eq!(seqs(topic.after(1000 - MOST_UPDATES as u64)).len(), MOST_UPDATES);
        assert_eq!(topic.after(10), After::InStore);
        topic.push(update(1001, MOST_BYTES));
        assert_eq!(topic.after(1000), After::InStore);
    }
}
