//! Medians: of many rounds the one in the middle, because other programs use the machine too.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Seconds that one call of each takes, measured in turns so that neither has the quiet minute.
pub(crate) fn pair<A, B>(
    rounds: usize,
    slice: Duration,
    mut first: impl FnMut() -> A,
    mut second: impl FnMut() -> B,
) -> [f64; 2] {
    let calls = [calibrate(slice, &mut first), calibrate(slice, &mut second)];
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        seconds[0].push(time(calls[0], &mut first));
        seconds[1].push(time(calls[1], &mut second));
    }
    seconds.map(median)
}

/// Seconds that one call takes.
pub(crate) fn one<A>(rounds: usize, mut call: impl FnMut() -> A) -> f64 {
    median((0..rounds).map(|_| time(1, &mut call)).collect())
}

pub(crate) fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Seconds a call.
fn time<A>(calls: u32, call: &mut impl FnMut() -> A) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

/// How many calls fill the slice.
fn calibrate<A>(slice: Duration, call: &mut impl FnMut() -> A) -> u32 {
    let mut calls = 1;
    while time(calls, call) * f64::from(calls) < slice.as_secs_f64() && calls < 1 << 16 {
        calls *= 2;
    }
    calls
}
