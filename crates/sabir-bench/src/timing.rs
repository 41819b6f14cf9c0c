//! Time: the best of several rounds, with the cases taking turns so that none has the quiet minute.

use std::time::{Duration, Instant};

use crate::Effort;
use crate::cases::{Case, Prepared};
use crate::corpus::Corpus;

/// Nanoseconds per message, for each case in order.
pub(crate) fn measure(cases: &[Case], corpus: &Corpus, effort: Effort) -> Vec<f64> {
    let (rounds, slice) = match effort {
        Effort::Quick => (1, Duration::from_millis(1)),
        // Long enough to drown the clock, short enough that all take turns often.
        Effort::Full => (25, Duration::from_millis(20)),
    };
    let prepared = Prepared::new(corpus);
    let passes: Vec<u32> = cases.iter().map(|case| calibrate(case, &prepared, slice)).collect();
    let mut best = vec![f64::INFINITY; cases.len()];
    for _ in 0..rounds {
        for ((case, &passes), best) in cases.iter().zip(&passes).zip(&mut best) {
            let elapsed = time(case, &prepared, passes);
            let messages = f64::from(passes) * case.group.messages(corpus) as f64;
            *best = best.min(elapsed.as_nanos() as f64 / messages);
        }
    }
    best
}

fn time(case: &Case, prepared: &Prepared<'_>, passes: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..passes {
        (case.pass)(prepared);
    }
    start.elapsed()
}

/// How many passes fill the slice.
fn calibrate(case: &Case, prepared: &Prepared<'_>, slice: Duration) -> u32 {
    let mut passes = 1;
    while time(case, prepared, passes) < slice && passes < 1 << 20 {
        passes *= 2;
    }
    passes
}
