//! The table for people and the JSON for programs.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::capture::Capture;
use crate::cases::{Case, Group};
use crate::citations::Citations;
use crate::corpus::Corpus;
use crate::delegates::Delegates;
use crate::journal::Journal;
use crate::library::LibraryTimes;
use crate::routing::Routing;
use crate::scaling::Scaling;
use crate::streams::{self, StreamRow};

pub(crate) struct Report<'r> {
    rows: Vec<Row>,
    scaling: &'r [Scaling],
    journal: &'r [Journal],
}

/// What is measured besides the notations.
pub(crate) struct More {
    pub(crate) streams: Vec<StreamRow>,
    pub(crate) capture: Capture,
    pub(crate) library: LibraryTimes,
    pub(crate) citations: Citations,
    pub(crate) routing: Routing,
    pub(crate) delegates: Delegates,
}

impl More {
    pub(crate) fn table(&self) -> String {
        let Self { streams, capture, library, citations, routing, delegates } = self;
        streams::table(streams)
            + &capture.table()
            + &library.table()
            + &citations.table()
            + &routing.table()
            + &delegates.table()
    }
}

struct Row {
    name: &'static str,
    group: Group,
    bytes: f64,
    nanoseconds: f64,
    instructions: Option<f64>,
}

impl<'r> Report<'r> {
    pub(crate) fn new(
        cases: &[Case],
        corpus: &Corpus,
        times: &[f64],
        counts: &[Option<f64>],
        scaling: &'r [Scaling],
        journal: &'r [Journal],
    ) -> Self {
        let mean = |case: &Case| (case.bytes)(corpus) as f64 / case.group.messages(corpus) as f64;
        let rows =
            cases.iter().zip(times).zip(counts).map(|((case, &nanoseconds), &instructions)| Row {
                name: case.name,
                group: case.group,
                bytes: mean(case),
                nanoseconds,
                instructions,
            });
        Self { rows: rows.collect(), scaling, journal }
    }

    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        for group in Group::ALL {
            let (title, base) = (group.title(), group.base());
            let _ = writeln!(
                out,
                "\n{title:<34}{:>8}{:>10}{:>9}{:>14}{:>12}",
                "bytes", "ns", "MB/s", "instructions", "x slower"
            );
            for row in self.rows.iter().filter(|row| row.group == group) {
                let instructions =
                    row.instructions.map_or_else(|| "-".to_owned(), |count| format!("{count:.0}"));
                let _ = writeln!(
                    out,
                    "{:<34}{:>8.0}{:>10.0}{:>9.0}{:>14}{:>12.2}",
                    row.name,
                    row.bytes,
                    row.nanoseconds,
                    row.bytes * 1e3 / row.nanoseconds,
                    instructions,
                    row.nanoseconds / self.base(base),
                );
            }
            let _ = writeln!(out, "(x slower: time as a multiple of {base}; below 1 is faster)");
        }
        let _ = writeln!(
            out,
            "\n{:<34}{:>12}{:>12}{:>16}",
            "parse, growing input", "from", "to", "worst doubling"
        );
        for scaling in self.scaling {
            let sizes = scaling.points.first().zip(scaling.points.last());
            let (from, to) = sizes.map_or((0, 0), |(first, last)| (first.0, last.0));
            let _ = writeln!(
                out,
                "{:<34}{:>12}{:>12}{:>15.2}x",
                scaling.name,
                human(from),
                human(to),
                scaling.worst()
            );
        }
        out + &journal_table(self.journal)
    }

    pub(crate) fn write(&self, path: &Path, more: &More) -> anyhow::Result<()> {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.name,
                    "bytes_per_message": row.bytes,
                    "ns_per_message": row.nanoseconds,
                    "mb_per_s": row.bytes * 1e3 / row.nanoseconds,
                    "instructions_per_message": row.instructions,
                    "ratio": row.nanoseconds / self.base(row.group.base()),
                })
            })
            .collect();
        let scaling: Vec<_> = self
            .scaling
            .iter()
            .map(|scaling| {
                json!({
                    "name": scaling.name,
                    "worst_doubling": scaling.worst(),
                    "points": scaling.points.iter().map(|&(bytes, seconds)| {
                        json!({ "bytes": bytes, "seconds": seconds })
                    }).collect::<Vec<_>>(),
                })
            })
            .collect();
        let More { streams, capture, library, citations, routing, delegates } = more;
        let numbers = json!({
            "rows": rows, "scaling": scaling, "journal": journal_numbers(self.journal),
            "streams": streams, "capture": capture, "library": library, "citations": citations,
            "routing": routing,
            "delegates": delegates,
        });
        write_numbers(path, &numbers)
    }

    fn base(&self, name: &str) -> f64 {
        self.rows.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.nanoseconds)
    }
}

pub(crate) fn journal_table(rows: &[Journal]) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "\n{:<34}{:>12}{:>12}{:>12}{:>12}",
        "journal, entries a group", "bytes", "raw us", "journal us", "x slower"
    );
    for row in rows {
        let _ = writeln!(
            out,
            "{:<34}{:>12}{:>12.0}{:>12.0}{:>12.2}",
            row.group,
            row.bytes,
            row.raw * 1e6,
            row.store * 1e6,
            row.ratio(),
        );
    }
    let _ = writeln!(out, "(x slower: than a plain file synced after the same bytes)");
    out
}

pub(crate) fn journal_numbers(rows: &[Journal]) -> Value {
    let row = |row: &Journal| {
        json!({
            "entries_per_group": row.group,
            "bytes_per_group": row.bytes,
            "raw_seconds_per_group": row.raw,
            "journal_seconds_per_group": row.store,
            "ratio": row.ratio(),
        })
    };
    rows.iter().map(row).collect()
}

pub(crate) fn write_numbers(path: &Path, numbers: &Value) -> anyhow::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let text = serde_json::to_string_pretty(numbers)?;
    std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
}

fn human(bytes: usize) -> String {
    if bytes >= 1 << 20 {
        format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
    } else {
        format!("{:.0} KiB", bytes as f64 / 1024.0)
    }
}
