//! How much was written since a store was opened, and how long the disk took. Handed out by value:
//! whom it is shown to is for others.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a store wrote since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JournalCounts {
    /// Transactions, each with what waited at the time.
    pub commits: u64,
    pub rows: u64,
    /// How long all of them took.
    pub time: Duration,
    /// How many took no longer than each of [`COMMIT_SECONDS`] and longer than the one before; the last
    /// took longer than all.
    pub buckets: [u64; COMMIT_SECONDS.len() + 1],
}

/// From a disk that only pretends to write to one that is about to fail.
pub const COMMIT_SECONDS: [f64; 10] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5];

#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<JournalCounts>);

impl Counts {
    pub(crate) fn committed(&self, rows: u64, time: Duration) {
        let seconds = time.as_secs_f64();
        let bucket = COMMIT_SECONDS.iter().position(|bound| seconds <= *bound);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.commits += 1;
        counts.rows += rows;
        counts.time += time;
        counts.buckets[bucket.unwrap_or(COMMIT_SECONDS.len())] += 1;
    }

    pub(crate) fn get(&self) -> JournalCounts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_buckets() {
        let counts = Counts::default();
        for (rows, millis) in [(1, 0), (2, 1), (3, 60_000)] {
            counts.committed(rows, Duration::from_millis(millis));
        }
        let found = counts.get();
        assert_eq!((found.commits, found.rows, found.time.as_millis()), (3, 6, 60_001));
        assert_eq!((found.buckets[0], found.buckets[1], found.buckets[10]), (1, 1, 1));
        assert_eq!(found.buckets.iter().sum::<u64>(), found.commits);
    }
}
