//! Whether twice the input takes twice the time.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use sabir_axon::parse;
use serde::{Deserialize, Serialize};

use crate::Effort;
use crate::corpus::Corpus;

/// One kind of input over growing sizes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Scaling {
    pub(crate) name: String,
    /// Bytes, and the best time in seconds.
    pub(crate) points: Vec<(usize, f64)>,
}

impl Scaling {
    /// The worst factor between one size and its double.
    pub(crate) fn worst(&self) -> f64 {
        self.points.windows(2).map(|pair| pair[1].1 / pair[0].1).fold(0.0, f64::max)
    }
}

/// A name, and a text of that many bytes.
type Shape = (&'static str, fn(&Corpus, usize) -> String);

/// Ordinary documents, and shapes that have made other parsers quadratic.
const SHAPES: &[Shape] = &[
    ("messages", |corpus, size| corpus.document(size)),
    ("one long chain", |_, size| format!("INF(@a>@b): x{}", "->x".repeat(size / 3))),
    ("one long record", |_, size| wide_record(size)),
    ("open parentheses", |_, size| "(".repeat(size)),
    ("escaped quotes, none closed", |_, size| format!("INF(@a>@b): \"{}", "\\\"".repeat(size / 2))),
    ("open comments", |_, size| "(*".repeat(size / 2)),
];

/// Measures in a process of its own, where memory costs the same at every size. glibc keeps small
/// blocks and gives large ones back, and small texts stay in the processor's caches where large ones
/// do not: either would make some doubling look worse than it is. So in that process every block is
/// fresh, and the caches are filled with something else before each measurement.
pub(crate) fn measure(effort: Effort) -> anyhow::Result<Vec<Scaling>> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--scaling", if effort == Effort::Quick { "quick" } else { "full" }])
        .env("MALLOC_MMAP_THRESHOLD_", "65536")
        .output()
        .context("cannot start the measuring process")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The measuring process: writes JSON.
pub(crate) fn work(effort: Effort) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(&run(effort)?)?);
    Ok(())
}

fn run(effort: Effort) -> anyhow::Result<Vec<Scaling>> {
    let corpus = Corpus::new()?;
    let (smallest, largest, least_rounds) = match effort {
        Effort::Quick => (1 << 14, 1 << 16, 1),
        Effort::Full => (1 << 18, 1 << 26, 7),
    };
    // More than the caches of most machines hold.
    let mut crowd = vec![0u8; if effort == Effort::Quick { 1 << 20 } else { 1 << 28 }];
    let mut points = |text_of: fn(&Corpus, usize) -> String| {
        let mut points = Vec::new();
        let mut size = smallest;
        while size <= largest {
            let text = text_of(&corpus, size);
            // A short measurement is easily disturbed, and cheap to repeat.
            let rounds = least_rounds.max((largest / size).min(24));
            let best =
                (0..rounds).map(|_| seconds(&text, &mut crowd)).fold(f64::INFINITY, f64::min);
            points.push((text.len(), best));
            size *= 2;
        }
        points
    };
    let shapes = SHAPES.iter();
    Ok(shapes
        .map(|&(name, text_of)| Scaling { name: name.to_owned(), points: points(text_of) })
        .collect())
}

fn seconds(text: &str, crowd: &mut [u8]) -> f64 {
    // One byte in every line of the cache.
    crowd.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
    black_box(&mut *crowd);
    let start = Instant::now();
    black_box(parse(black_box(text)));
    start.elapsed().as_secs_f64()
}

fn wide_record(size: usize) -> String {
    let mut text = String::with_capacity(size + 64);
    text.push_str("INF(@a>@b): {");
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&format!("k{number}:{number},"));
    }
    text.push_str("end:T}");
    text
}
