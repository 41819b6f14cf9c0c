//! Whether twice the input takes twice the time.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
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

/// A kind of input: its name, the parser that reads it, and a text of so many bytes.
struct Shape {
    name: &'static str,
    parse: fn(&str),
    text: fn(&Corpus, usize) -> String,
}

/// Ordinary documents, and shapes that have made other parsers quadratic.
const SHAPES: &[Shape] = &[
    axon("messages", |corpus, size| corpus.document(size)),
    axon("one long chain", |_, size| format!("INF(@a>@b): x{}", "->x".repeat(size / 3))),
    axon("one long record", |_, size| wide("INF(@a>@b): {", size, "end:T}")),
    axon("open parentheses", |_, size| "(".repeat(size)),
    axon("escaped quotes, none closed", |_, size| {
        format!("INF(@a>@b): \"{}", "\\\"".repeat(size / 2))
    }),
    axon("open comments", |_, size| "(*".repeat(size / 2)),
    llmx("LLMX messages", |corpus, size| corpus.llmx_document(size)),
    llmx("LLMX one long object", |_, size| wide("CTX:{p:a,st:{", size, "end:true}}")),
    llmx("LLMX open brackets", |_, size| format!("REQ:{{a:{}", "[{a:".repeat(size / 4))),
    llmx("LLMX escaped quotes, none closed", |_, size| {
        format!("REQ:{{o:\"{}", "\\\"".repeat(size / 2))
    }),
    llmx("LLMX quotes and line feeds", |_, size| "REQ:{o:\"\n".repeat(size / 9)),
    llmx("LLMX types without a body", |_, size| "REQ:\n".repeat(size / 5)),
];

const fn axon(name: &'static str, text: fn(&Corpus, usize) -> String) -> Shape {
    let parse = |text: &str| {
        black_box(sabir_axon::parse(black_box(text)));
    };
    Shape { name, parse, text }
}

const fn llmx(name: &'static str, text: fn(&Corpus, usize) -> String) -> Shape {
    let parse = |text: &str| {
        black_box(sabir_llmx::parse(black_box(text)));
    };
    Shape { name, parse, text }
}

/// Measures in a process of its own, where memory costs the same at every size. An allocator keeps what
/// was freed for the next one, and small texts stay in the processor's caches where large ones do not:
/// either would make some doubling look worse than it is. So in that process every large block is fresh,
/// and the caches are filled with something else before each measurement.
pub(crate) fn measure(effort: Effort) -> anyhow::Result<Vec<Scaling>> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--scaling", if effort == Effort::Quick { "quick" } else { "full" }])
        .envs([("MIMALLOC_PURGE_DELAY", "0"), ("MIMALLOC_DISALLOW_ARENA_ALLOC", "1")])
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
    let mut points = |shape: &Shape| {
        let mut points = Vec::new();
        let mut size = smallest;
        while size <= largest {
            let text = (shape.text)(&corpus, size);
            // A short measurement is easily disturbed, and cheap to repeat.
            let rounds = least_rounds.max((largest / size).min(24));
            let times = (0..rounds).map(|_| seconds(shape, &text, &mut crowd));
            let best = times.fold(f64::INFINITY, f64::min);
            points.push((text.len(), best));
            size *= 2;
        }
        points
    };
    let shapes = SHAPES.iter();
    Ok(shapes.map(|shape| Scaling { name: shape.name.to_owned(), points: points(shape) }).collect())
}

fn seconds(shape: &Shape, text: &str, crowd: &mut [u8]) -> f64 {
    // One byte in every line of the cache.
    crowd.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
    black_box(&mut *crowd);
    let start = Instant::now();
    (shape.parse)(text);
    start.elapsed().as_secs_f64()
}

/// Fields with keys of their own, until the text is long enough.
fn wide(open: &str, size: usize, close: &str) -> String {
    let mut text = String::with_capacity(size + 64);
    text.push_str(open);
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&format!("k{number}:{number},"));
    }
    text.push_str(close);
    text
}
