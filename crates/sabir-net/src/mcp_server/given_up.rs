//! Which calls their client does not want any more. A conversation that is lost says nothing of the
//! kind: what was begun in it goes on.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

/// The calls of one conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    running: HashMap<RequestId, CancellationToken>,
    /// Given up before they began, or when they were over: nobody can tell.
    unknown: VecDeque<RequestId>,
}

/// A call that runs. It is forgotten when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    calls: Calls,
    id: RequestId,
    /// Set when the client says that it does not want it any more.
    pub(super) given_up: CancellationToken,
}

impl Calls {
    pub(super) fn begin(&self, id: RequestId) -> Running {
        let given_up = CancellationToken::new();
        let mut known = self.lock();
        if let Some(place) = known.unknown.iter().position(|it| *it == id) {
            known.unknown.remove(place);
            given_up.cancel();
        }
        known.running.insert(id.clone(), given_up.clone());
        drop(known);
        Running { calls: self.clone(), id, given_up }
    }

    pub(super) fn give_up(&self, id: RequestId) {
        let mut known = self.lock();
        match known.running.get(&id) {
            Some(given_up) => given_up.cancel(),
            None => {
                if known.unknown.len() >= MOST_UNKNOWN {
                    known.unknown.pop_front();
                }
                known.unknown.push_back(id);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.calls.lock().running.remove(&self.id);
    }
}

/// More than a client gives up in the moment that a call takes to begin.
const MOST_UNKNOWN: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    /// BR-M6
    #[test]
    fn a_call_is_given_up_before_it_begins_or_while_it_runs() {
        let id = |number| RequestId::Number(number);
        let calls = Calls::default();
        calls.give_up(id(1));
        let (first, second) = (calls.begin(id(1)), calls.begin(id(2)));
        assert!(first.given_up.is_cancelled() && !second.given_up.is_cancelled());
        calls.give_up(id(2));
        assert!(second.given_up.is_cancelled());
        drop((first, second));
        for number in 0..100 {
            calls.give_up(id(number));
        }
        assert_eq!(calls.lock().unknown.len(), MOST_UNKNOWN);
        assert!(calls.lock().running.is_empty());
    }
}
