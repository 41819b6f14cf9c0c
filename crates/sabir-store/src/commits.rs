//! Who is told that more is on disk.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) type Told = Box<dyn Fn(u64) + Send + Sync>;

pub(crate) struct Commits(Mutex<State>);

struct State {
    /// The last entry on disk.
    last: u64,
    /// None when nothing will be written any more.
    listeners: Option<Vec<Told>>,
}

impl Commits {
    pub(crate) fn new(last: u64) -> Self {
        Self(Mutex::new(State { last, listeners: Some(Vec::new()) }))
    }

    /// Under the lock, so that no number is passed over and none comes after a greater one.
    pub(crate) fn listen(&self, told: Told) {
        let mut state = self.lock();
        tell(&told, state.last);
        if let Some(listeners) = &mut state.listeners {
            listeners.push(told);
        }
    }

    pub(crate) fn reached(&self, last: u64) {
        let mut state = self.lock();
        state.last = last;
        state.listeners.iter().flatten().for_each(|told| tell(told, last));
    }

    /// Lets go of everybody.
    pub(crate) fn close(&self) {
        let listeners = self.lock().listeners.take();
        drop(listeners);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two related changes, so a poisoned state is still whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody else's panic must not end the thread on which everyone's entries depend.
fn tell(told: &Told, last: u64) {
    let _ = catch_unwind(AssertUnwindSafe(|| told(last)));
}

impl fmt::Debug for Commits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commits").field("last", &self.lock().last).finish_non_exhaustive()
    }
}
