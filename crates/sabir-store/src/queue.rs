//! The bounded queue between those who append and the one who writes.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::entry::Batch;
use crate::error::StoreError;
use crate::gathering::Gathering;
use crate::store::Receipt;

pub(crate) type Done<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

pub(crate) enum Work {
    Append { batch: Batch, done: Done<Receipt> },
    Rebuild { done: Done<()> },
}

/// What may wait before those who append have to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

pub(crate) struct Queue {
    bounds: Bounds,
    state: Mutex<State>,
    filled: Condvar,
    drained: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Work>,
    entries: usize,
    bytes: usize,
    closed: bool,
    writer: Option<ThreadId>,
    /// How many the writer waits for; none while it has something to do, and need not be woken.
    wanted: Option<usize>,
}

impl Queue {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, state: Mutex::default(), filled: Condvar::new(), drained: Condvar::new() }
    }

    /// Hands both back when there is no room.
    pub(crate) fn try_append<F>(&self, batch: Batch, done: F) -> Result<(), (Batch, F)>
    where
        F: FnOnce(Result<Receipt, StoreError>) + Send + 'static,
    {
        let state = self.lock();
        if !state.closed && !self.has_room(&state, &batch) {
            return Err((batch, done));
        }
        self.push(state, Work::Append { batch, done: Box::new(done) });
        Ok(())
    }

    /// Waits for room. The writer itself never waits: nobody else would make any.
    pub(crate) fn append(&self, batch: Batch, done: Done<Receipt>) {
        let mut state = self.lock();
        let may_wait = state.writer != Some(thread::current().id());
        while may_wait && !state.closed && !self.has_room(&state, &batch) {
            state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.push(state, Work::Append { batch, done });
    }

    pub(crate) fn rebuild(&self, done: Done<()>) {
        self.push(self.lock(), Work::Rebuild { done });
    }

    /// Everything that waits, once as much does as is to be gathered; `None` when nothing does and
    /// nothing will.
    pub(crate) fn take_all(&self, gathering: Gathering) -> Option<VecDeque<Work>> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            state.wanted = Some(1);
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let Gathering { wanted, patience, .. } = gathering;
        if state.waiting.len() < wanted {
            state.wanted = Some(wanted);
            let lacks_some = |state: &mut State| state.waiting.len() < wanted && !state.closed;
            let waited = self.filled.wait_timeout_while(state, patience, lacks_some);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.wanted = None;
        (state.entries, state.bytes) = (0, 0);
        let all = std::mem::take(&mut state.waiting);
        self.drained.notify_all();
        Some(all)
    }

    /// Says which thread writes.
    pub(crate) fn claim(&self) {
        self.lock().writer = Some(thread::current().id());
    }

    /// What already waits is still written.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    /// Closes, and answers whatever waits: there is nobody to write it.
    pub(crate) fn abandon(&self) {
        self.close();
        let abandoned = std::mem::take(&mut self.lock().waiting);
        for work in abandoned {
            work.refuse(StoreError::Closed);
        }
    }

    fn push(&self, mut state: MutexGuard<'_, State>, work: Work) {
        if state.closed {
            drop(state);
            return work.refuse(StoreError::Closed);
        }
        if let Work::Append { batch, .. } = &work {
            state.entries += batch.entries.len();
            state.bytes = state.bytes.saturating_add(batch.bytes());
        }
        state.waiting.push_back(work);
        if state.wanted.is_some_and(|wanted| state.waiting.len() >= wanted) {
            state.wanted = None;
            drop(state);
            self.filled.notify_one();
        }
    }

    /// An empty queue takes any batch, or one over the bound would never be taken.
    fn has_room(&self, state: &State, batch: &Batch) -> bool {
        state.waiting.is_empty()
            || state.entries + batch.entries.len() <= self.bounds.entries
                && state.bytes.saturating_add(batch.bytes()) <= self.bounds.bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two related changes, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    pub(crate) fn refuse(self, error: StoreError) {
        match self {
            Self::Append { done, .. } => answer(done, Err(error)),
            Self::Rebuild { done } => answer(done, Err(error)),
        }
    }
}

/// Somebody else's panic must not end the thread on which everyone's entries depend.
pub(crate) fn answer<T>(done: Done<T>, result: Result<T, StoreError>) {
    let _ = catch_unwind(AssertUnwindSafe(|| done(result)));
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}
