//! How many the writer waits for. A transaction costs about the same for many as for few, and those who
//! work at the same time come back at about the same time: under load it pays to wait for them. It
//! knows numbers and times, and no queue.

use std::time::Duration;

/// What to wait for before the next transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gathering {
    /// So many.
    pub(crate) wanted: usize,
    /// For so long at most.
    pub(crate) patience: Duration,
    /// Transactions until more are waited for than came.
    rest: u32,
}

impl Gathering {
    /// After a transaction of so many, which took so long. More are waited for as long as more come; if
    /// they do not, all who are there came, and that is enough for a while.
    #[must_use]
    pub(crate) fn after(self, count: usize, took: Duration) -> Self {
        let patience = took.min(LONGEST);
        if count < CROWD {
            return Self { wanted: 0, patience, rest: 0 };
        }
        let rest = if count < self.wanted { REST } else { self.rest.saturating_sub(1) };
        let wanted = if rest == 0 { count + count / 2 } else { count.min(self.wanted.max(CROWD)) };
        Self { wanted: wanted.min(MOST), patience, rest }
    }
}

/// Fewer wait for nobody.
pub(crate) const CROWD: usize = 4;

/// With so many the cost of a transaction is spread thin enough.
const MOST: usize = 256;

/// A disk that is slower than this is what everybody waits for anyway.
const LONGEST: Duration = Duration::from_millis(1);

/// Waiting in vain costs once in so many transactions.
const REST: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Duration = Duration::from_micros(300);

    #[test]
    fn few_wait_for_nobody() {
        let mut gathering = Gathering::default();
        for count in [1, 2, 3, 1, 3] {
            gathering = gathering.after(count, TOOK);
            assert_eq!(gathering.wanted, 0);
        }
    }

    #[test]
    fn many_wait_for_more_until_no_more_come() {
        let mut gathering = Gathering::default();
        let mut wanted = Vec::new();
        // There are 64, and all of them come.
        for _ in 0..8 {
            let count = gathering.wanted.clamp(8, 64);
            gathering = gathering.after(count, TOOK);
            wanted.push(gathering.wanted);
        }
        assert_eq!(wanted, [12, 18, 27, 40, 60, 90, 64, 64]);
        // It is tried again after a while, and only once.
        let tries = (0..100).filter(|_| {
            let count = gathering.wanted.min(64);
            gathering = gathering.after(count, TOOK);
            gathering.wanted > 64
        });
        assert!((4..=7).contains(&tries.count()));
    }

    #[test]
    fn when_there_are_fewer_nobody_waits_for_those_who_left() {
        let gathering = Gathering::default().after(60, TOOK).after(5, TOOK);
        assert_eq!(gathering.wanted, 5);
        assert_eq!(gathering.after(1, TOOK).wanted, 0);
    }

    #[test]
    fn patience_has_an_end() {
        let slow = Gathering::default().after(1000, Duration::from_secs(9));
        assert_eq!((slow.wanted, slow.patience), (MOST, LONGEST));
    }
}
