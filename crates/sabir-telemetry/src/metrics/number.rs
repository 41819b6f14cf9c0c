//! What is counted with: a number, a number for each of a few names, and times in buckets.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use super::text::Text;

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

/// Something that is under way. It is counted until this is dropped.
#[derive(Debug)]
pub struct Running(&'static AtomicI64);

/// A counter for each of the names of one label. The last name stands for all others.
#[derive(Debug)]
pub struct Family<const N: usize> {
    label: &'static str,
    names: &'static [&'static str; N],
    counters: [Counter; N],
}

/// The same for two labels.
#[derive(Debug)]
pub struct Grid<const R: usize, const C: usize> {
    labels: (&'static str, &'static str),
    rows: &'static [&'static str; R],
    columns: &'static [&'static str; C],
    counters: [[Counter; C]; R],
}

/// How often something took how long.
#[derive(Debug)]
pub struct Histogram {
    /// One more than there are bounds: what is beyond the last.
    buckets: [AtomicU64; SECONDS.len() + 1],
    micros: AtomicU64,
}

/// The upper bounds of the buckets: from what a disk takes to what a person waits.
pub const SECONDS: [f64; 16] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0,
    3600.0,
];

impl Counter {
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Running {
    pub fn begin(gauge: &'static AtomicI64) -> Self {
        gauge.fetch_add(1, Ordering::Relaxed);
        Self(gauge)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<const N: usize> Family<N> {
    pub const fn new(label: &'static str, names: &'static [&'static str; N]) -> Self {
        Self { label, names, counters: [const { Counter::new() }; N] }
    }

    pub fn add(&self, name: &str, count: u64) {
        self.counters[position(self.names, name)].add(count);
    }

    pub fn get(&self, name: &str) -> u64 {
        self.counters[position(self.names, name)].get()
    }

    /// Names that nothing happened to yet are there with a zero, so that the first time shows.
    pub(super) fn write(&self, text: &mut Text, name: &str) {
        for (label, counter) in self.names.iter().zip(&self.counters) {
            text.sample(name, &[(self.label, label)], counter.get() as f64);
        }
    }
}

impl<const R: usize, const C: usize> Grid<R, C> {
    pub const fn new(
        labels: (&'static str, &'static str),
        rows: &'static [&'static str; R],
        columns: &'static [&'static str; C],
    ) -> Self {
        let counters = [const { [const { Counter::new() }; C] }; R];
        Self { labels, rows, columns, counters }
    }

    pub fn add(&self, row: &str, column: &str) {
        self.counters[position(self.rows, row)][position(self.columns, column)].add(1);
    }

    pub fn get(&self, row: &str, column: &str) -> u64 {
        self.counters[position(self.rows, row)][position(self.columns, column)].get()
    }

    /// Only what happened: most pairs never do.
    pub(super) fn write(&self, text: &mut Text, name: &str) {
        for (row, counters) in self.rows.iter().zip(&self.counters) {
            for (column, counter) in self.columns.iter().zip(counters) {
                if counter.get() > 0 {
                    let labels = [(self.labels.0, *row), (self.labels.1, *column)];
                    text.sample(name, &labels, counter.get() as f64);
                }
            }
        }
    }
}

/// The place of a name; the last one for those that are not there.
fn position(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(names.len() - 1)
}

impl Histogram {
    pub const fn new() -> Self {
        Self {
            buckets: [const { AtomicU64::new(0) }; SECONDS.len() + 1],
            micros: AtomicU64::new(0),
        }
    }

    pub fn observe(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let bucket = SECONDS.iter().position(|bound| seconds <= *bound).unwrap_or(SECONDS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn write(&self, text: &mut Text, name: &str) {
        let buckets: Vec<u64> = self.buckets.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        text.buckets(
            name,
            &[],
            &SECONDS,
            &buckets,
            self.micros.load(Ordering::Relaxed) as f64 / 1e6,
        );
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}
