//! The few best of many, without sorting the many.
//!
//! It knows scores, ties and numbers of candidates, and nothing of what they stand for.

use std::cmp::Ordering;

/// Keeps the best that it was offered, the best first: greater scores, then smaller ties.
#[derive(Debug)]
pub(super) struct Top {
    limit: usize,
    kept: Vec<Kept>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) score: f64,
    tie: u64,
    pub(super) at: u32,
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::with_capacity(limit.min(MOST_RESERVED)) }
    }

    pub(super) fn offer(&mut self, score: f64, tie: u64, at: u32) {
        let new = Kept { score, tie, at };
        if self.kept.len() == self.limit {
            match self.kept.last() {
                // Nearly all of many end here.
                Some(worst) if new.compare(worst) == Ordering::Less => {
                    self.kept.pop();
                }
                _ => return,
            }
        }
        let place = self.kept.partition_point(|it| it.compare(&new) == Ordering::Less);
        self.kept.insert(place, new);
    }

    /// Below this score nothing is kept any more.
    pub(super) fn bar(&self) -> f64 {
        match self.kept.last() {
            Some(worst) if self.kept.len() == self.limit => worst.score,
            _ => f64::NEG_INFINITY,
        }
    }

    pub(super) fn kept(&self) -> &[Kept] {
        &self.kept
    }
}

impl Kept {
    /// `Less` is better, so that the best comes first.
    fn compare(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.tie.cmp(&other.tie))
    }
}

/// Limits are small; a wrong one should not take memory before there is anything to keep.
const MOST_RESERVED: usize = 128;
