//! Who is told that more is on disk, and who that nothing more will be.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;

pub(crate) type Told = Box<dyn Fn(u64) + Send + Sync>;
pub(crate) type Begun = Box<dyn Fn() + Send + Sync>;
pub(crate) type Lost = Box<dyn Fn(&StoreError) + Send + Sync>;

pub(crate) struct Commits(Mutex<State>);

struct State {
    /// The last entry on disk.
    last: u64,
    /// Why nothing more is taken.
    failure: Option<StoreError>,
    /// None when the store is closed.
    listeners: Option<Listeners>,
}

#[derive(Default)]
struct Listeners {
    /// Told before the disk is.
    begun: Vec<Begun>,
    /// Told after it, and before those who appended.
    reached: Vec<Told>,
    /// Told when a write fails.
    lost: Vec<Lost>,
}

impl Commits {
    pub(crate) fn new(last: u64) -> Self {
        Self(Mutex::new(State { last, failure: None, listeners: Some(Listeners::default()) }))
    }

    /// Under the lock, so that no number is passed over and none comes after a greater one.
    pub(crate) fn listen(&self, told: Told) {
        let mut state = self.lock();
        tell(|| told(state.last));
        if let Some(listeners) = &mut state.listeners {
            listeners.reached.push(told);
        }
    }

    pub(crate) fn listen_before(&self, begun: Begun) {
        if let Some(listeners) = &mut self.lock().listeners {
            listeners.begun.push(begun);
        }
    }

    /// What was appended until now is about to be written.
    pub(crate) fn begun(&self) {
        let state = self.lock();
        state.listeners.iter().flat_map(|listeners| &listeners.begun).for_each(tell);
    }

    pub(crate) fn reached(&self, last: u64) {
        let mut state = self.lock();
        state.last = last;
        let told = state.listeners.iter().flat_map(|listeners| &listeners.reached);
        told.for_each(|told| tell(|| told(last)));
    }

    pub(crate) fn listen_for_failure(&self, lost: Lost) {
        let mut state = self.lock();
        if let Some(failure) = &state.failure {
            tell(|| lost(failure));
        } else if let Some(listeners) = &mut state.listeners {
            listeners.lost.push(lost);
        }
    }

    /// Nothing more is taken. Each hears of it once.
    pub(crate) fn failed(&self, failure: &StoreError) {
        let mut state = self.lock();
        let listeners = state.listeners.as_mut().map(|listeners| &mut listeners.lost);
        let lost = listeners.map(std::mem::take).unwrap_or_default();
        lost.iter().for_each(|lost| tell(|| lost(failure)));
        state.failure = Some(failure.clone());
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
fn tell(told: impl Fn()) {
    let _ = catch_unwind(AssertUnwindSafe(told));
}

impl fmt::Debug for Commits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commits").field("last", &self.lock().last).finish_non_exhaustive()
    }
}
