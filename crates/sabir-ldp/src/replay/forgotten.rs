//! Until when messages could pass that were forgotten, in seconds. A clock that runs ahead and is set
//! right leaves a stretch that lies in the future: what is dated between is new, and passes. It knows
//! numbers and no messages.

use std::ops::RangeInclusive;

/// In order; neighbours are further apart than [`Forgotten::new`] was told.
#[derive(Clone, Debug)]
pub(super) struct Forgotten {
    stretches: Vec<RangeInclusive<u64>>,
    /// Seconds without a message that belong to the stretch around them.
    gap: u64,
}

impl Forgotten {
    pub(super) fn new(gap: u64) -> Self {
        Self { stretches: Vec::new(), gap }
    }

    pub(super) fn contains(&self, second: u64) -> bool {
        self.stretches.iter().any(|stretch| stretch.contains(&second))
    }

    pub(super) fn add(&mut self, added: RangeInclusive<u64>) {
        let (mut first, mut last) = added.into_inner();
        // What the new one touches becomes part of it.
        let start = self.stretches.partition_point(|it| it.end().saturating_add(self.gap) < first);
        let end = self.stretches.partition_point(|it| *it.start() <= last.saturating_add(self.gap));
        for stretch in self.stretches.drain(start..end.max(start)) {
            first = first.min(*stretch.start());
            last = last.max(*stretch.end());
        }
        self.stretches.insert(start, first..=last);
        while self.stretches.len() > MOST {
            self.join_nearest();
        }
    }

    pub(super) fn stretches(&self) -> impl Iterator<Item = &RangeInclusive<u64>> {
        self.stretches.iter()
    }

    /// Makes one of the two with the least between them. What is new there is refused for that long.
    fn join_nearest(&mut self) {
        let between = |pair: &[RangeInclusive<u64>]| pair[1].start() - pair[0].end();
        let nearest = self.stretches.windows(2).map(between).enumerate().min_by_key(|it| it.1);
        if let Some((at, _)) = nearest {
            let last = *self.stretches.remove(at + 1).end();
            self.stretches[at] = *self.stretches[at].start()..=last;
        }
    }
}

/// Stretches that are kept apart: more than clocks are set wrong in a life.
const MOST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(added: &[RangeInclusive<u64>]) -> Vec<RangeInclusive<u64>> {
        let mut forgotten = Forgotten::new(5);
        added.iter().for_each(|it| forgotten.add(it.clone()));
        forgotten.stretches
    }

    #[test]
    fn neighbours_become_one() {
        assert_eq!(of(&[10..=10, 15..=15, 30..=40]), [10..=15, 30..=40]);
        assert_eq!(of(&[30..=40, 10..=10, 16..=25]), [10..=10, 16..=40]);
        assert_eq!(of(&[10..=12, 20..=22, 0..=99]), [0..=99]);
        assert_eq!(of(&[0..=99, 40..=41]), [0..=99]);
        assert_eq!(of(&[50..=60, 10..=20, 30..=31]), [10..=20, 30..=31, 50..=60]);
    }

    #[test]
    fn there_are_not_many_and_the_widest_gaps_stay() {
        let far: Vec<_> = (0..40).map(|number| number * 100..=number * 100).collect();
        let mut forgotten = Forgotten::new(5);
        forgotten.add(100_000..=100_000);
        far.into_iter().for_each(|it| forgotten.add(it));
        assert_eq!(forgotten.stretches.len(), MOST);
        assert!(forgotten.contains(100) && forgotten.contains(100_000));
        assert!(!forgotten.contains(50_000));
    }
}
