//! How much is done for whom at the same time: each caller has so many calls, and so much is worked on
//! for all together. Whoever only waits, for a person or for a task, takes no place from others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug, Clone)]
pub(super) struct Places {
    working: Arc<Semaphore>,
    of_callers: Arc<Mutex<HashMap<String, usize>>>,
    of_one: usize,
}

/// A call of somebody, until it is answered.
#[derive(Debug)]
pub(super) struct Entered {
    caller: String,
    of_callers: Arc<Mutex<HashMap<String, usize>>>,
}

impl Places {
    pub(super) fn new(working: usize, of_one: usize) -> Self {
        Self { working: Arc::new(Semaphore::new(working)), of_callers: Arc::default(), of_one }
    }

    /// None if this caller has too many calls already.
    pub(super) fn enter(&self, caller: &str) -> Option<Entered> {
        let mut counts = lock(&self.of_callers);
        let count = counts.entry(caller.to_owned()).or_default();
        if *count >= self.of_one {
            return None;
        }
        *count += 1;
        Some(Entered { caller: caller.to_owned(), of_callers: Arc::clone(&self.of_callers) })
    }

    /// None if too much is worked on.
    pub(super) fn work(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.working).try_acquire_owned().ok()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut counts = lock(&self.of_callers);
        match counts.get_mut(&self.caller) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => _ = counts.remove(&self.caller),
        }
    }
}

fn lock(counts: &Mutex<HashMap<String, usize>>) -> MutexGuard<'_, HashMap<String, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BR-M10
    #[test]
    fn nobody_takes_the_places_of_others() {
        let places = Places::new(3, 2);
        let mine: Vec<_> = (0..2).map(|_| places.enter("me").unwrap()).collect();
        assert!(places.enter("me").is_none());
        let other = places.enter("you").unwrap();
        drop(mine);
        drop((places.enter("me").unwrap(), other));
        assert!(lock(&places.of_callers).is_empty(), "who is gone is forgotten");
        let working: Vec<_> = (0..3).map(|_| places.work().unwrap()).collect();
        assert!(places.work().is_none());
        drop(working);
        assert!(places.work().is_some());
    }
}
