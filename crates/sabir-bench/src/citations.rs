//! The citation verifier beside `str::find`, which knows exact quotes and nothing else.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::ensure;
use sabir_llmcp::{CitationStatus, SourceText, verify_quote};
use serde::Serialize;

use crate::Effort;
use crate::middle;
use crate::prose::Prose;

#[derive(Serialize)]
pub(crate) struct Citations {
    source_bytes: usize,
    /// Seconds to make a source ready, which is done once for all of its quotes.
    prepare: f64,
    rows: Vec<QuoteRow>,
}

/// Quotes of one kind.
#[derive(Serialize)]
struct QuoteRow {
    name: &'static str,
    quotes: usize,
    /// Seconds a quote.
    find: f64,
    verify: f64,
    ratio: f64,
}

pub(crate) fn measure(effort: Effort) -> anyhow::Result<Citations> {
    let (rounds, most) = match effort {
        Effort::Quick => (1, 20),
        Effort::Full => (11, 1_000),
    };
    let markdown = Prose::new(0).page("Tipaza", SOURCE_BYTES);
    let source = SourceText::new(&markdown);
    let plain = source.plain().text();
    let sentences: Vec<&str> = plain.split_inclusive(". ").map(str::trim).collect();
    let exact: Vec<String> = (0..most)
        // Two sentences for every other quote, as people cite.
        .map(|at| {
            let first = sentences[at % sentences.len()];
            let next = sentences.get(at % sentences.len() + 1).filter(|_| at % 2 == 1);
            let both = next.map(|next| format!("{first} {next}"));
            both.filter(|both| plain.contains(both)).unwrap_or_else(|| first.to_owned())
        })
        .collect();
    let mut rows = Vec::new();
    for kind in KINDS {
        let quotes: Vec<String> = exact.iter().map(|quote| (kind.change)(quote)).collect();
        let found = quotes.iter().filter(|it| verify_quote(it, &source).status == kind.status);
        let found = found.count();
        // Not all: what occurs twice is ambiguous, and a slip may not be one that can be mended.
        ensure!(found * 2 > most, "{found} of {most} quotes are {}", kind.status.word());
        let find = || quotes.iter().filter_map(|quote| plain.find(quote.as_str())).count();
        let verify = || quotes.iter().map(|quote| verify_quote(quote, &source).start).max();
        let [find, verify] = middle::pair(rounds, Duration::ZERO, find, verify);
        let [find, verify] = [find, verify].map(|seconds| seconds / most as f64);
        rows.push(QuoteRow { name: kind.name, quotes: most, find, verify, ratio: verify / find });
    }
    let prepare = middle::one(rounds, || SourceText::new(&markdown));
    Ok(Citations { source_bytes: markdown.len(), prepare, rows })
}

impl Citations {
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "\n{:<34}{:>10}{:>12}{:>12}{:>12}",
            "verify one quote", "quotes", "find us", "verify us", "x slower"
        );
        for row in &self.rows {
            let _ = writeln!(
                out,
                "{:<34}{:>10}{:>12.2}{:>12.2}{:>12.2}",
                row.name,
                row.quotes,
                row.find * 1e6,
                row.verify * 1e6,
                row.ratio,
            );
        }
        let _ = writeln!(
            out,
            "{} bytes of source are made ready in {:.0} us, once for all quotes",
            self.source_bytes,
            self.prepare * 1e6
        );
        let _ = writeln!(out, "(x slower: than str::find, which finds the first kind only)");
        out
    }
}

struct Kind {
    name: &'static str,
    change: fn(&str) -> String,
    /// Of most of them.
    status: CitationStatus,
}

const KINDS: &[Kind] = &[
    Kind { name: "as it stands", change: str::to_owned, status: CitationStatus::Verified },
    Kind {
        name: "other case and white space",
        change: |quote| quote.to_uppercase().replace(' ', "  "),
        status: CitationStatus::Verified,
    },
    Kind {
        name: "a letter missing",
        change: |quote| {
            // In a long word: a slip in a short one makes another word.
            let long = quote.split(' ').find(|word| word.len() > 6).unwrap_or_default();
            let slip = long.chars().enumerate().filter(|(at, _)| *at != 3).map(|(_, c)| c);
            quote.replacen(long, &slip.collect::<String>(), 1)
        },
        status: CitationStatus::Repaired,
    },
    Kind {
        name: "not in the source",
        change: |quote| quote.split(' ').rev().collect::<Vec<_>>().join(" "),
        status: CitationStatus::Unverified,
    },
];

const SOURCE_BYTES: usize = 20_000;
