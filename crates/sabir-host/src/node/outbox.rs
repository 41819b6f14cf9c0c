//! What the journal has written or lost, in its order, and what is to be done about it. The thread that
//! writes puts it here and goes on writing; one task of the runtime at a time does all that is here. It
//! knows who is on duty, and nothing of what is done.

use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) struct Outbox<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    waiting: Vec<T>,
    /// Somebody takes out all that is put in.
    is_on_duty: bool,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self(Mutex::new(State { waiting: Vec::new(), is_on_duty: false }))
    }
}

impl<T> Outbox<T> {
    /// Puts in one thing more. Says whether somebody has to be sent to take it out.
    pub(super) fn put(&self, thing: T) -> bool {
        let mut state = self.state();
        state.waiting.push(thing);
        !std::mem::replace(&mut state.is_on_duty, true)
    }

    /// For who was sent: everything that is there. If that is nothing, its duty is over.
    pub(super) fn take_all(&self) -> Option<Vec<T>> {
        let mut state = self.state();
        state.is_on_duty = !state.waiting.is_empty();
        state.is_on_duty.then(|| std::mem::take(&mut state.waiting))
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_takes_out_everything_in_its_order() {
        let outbox = Outbox::default();
        assert!(outbox.put(1));
        assert!(!outbox.put(2));
        assert_eq!(outbox.take_all(), Some(vec![1, 2]));
        // Who took them is still there, and looks again.
        assert!(!outbox.put(3));
        assert_eq!(outbox.take_all(), Some(vec![3]));
        assert_eq!(outbox.take_all(), None);
        assert!(outbox.put(4));
    }
}
