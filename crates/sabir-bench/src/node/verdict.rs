//! What the viewers saw, held against the journal: nothing may be missing, twice, or out of order.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{bail, ensure};
use sabir_store::{Line, Reader, Scope, SessionId};

use super::viewer::{Digest, Manner, Seen};

/// The rows of the conversation that viewers are shown.
pub(super) struct Told {
    ids: Vec<u64>,
    digest: u64,
    /// When each was written, in milliseconds since 1970.
    written: HashMap<u64, u64>,
}

impl Told {
    pub(super) fn read(home: &Path, session: &str, up_to: u64) -> anyhow::Result<Self> {
        let reader = Reader::open(home)?;
        let id = SessionId::new(session);
        let lines = reader.journal(Scope::Session(&id), 0, usize::MAX)?;
        let is_shown = |line: &&Line| {
            matches!(line.kind.as_str(), "event" | "submission") && line.seq <= up_to
        };
        let mut told = Self { ids: Vec::new(), digest: 0, written: HashMap::new() };
        let mut digest = Digest::default();
        for line in lines.iter().filter(is_shown) {
            let event = if line.tag.is_empty() { &line.kind } else { &line.tag };
            digest.add(line.seq, event, &line.body);
            told.ids.push(line.seq);
            told.written.insert(line.seq, line.at_ms);
        }
        told.digest = digest.finish();
        Ok(told)
    }

    pub(super) fn rows(&self) -> usize {
        self.ids.len()
    }

    /// Fails with the first row that a viewer did not see as it is.
    pub(super) fn check(&self, seen: &Seen) -> anyhow::Result<()> {
        let who = format!("viewer {} ({:?}, {} cuts)", seen.number, seen.manner, seen.cuts);
        let differs = self.ids.iter().zip(&seen.ids).position(|(told, seen)| told != seen);
        if let Some(at) = differs {
            bail!("{who} saw row {} where the journal has row {}", seen.ids[at], self.ids[at]);
        }
        let (seen_rows, rows) = (seen.ids.len(), self.ids.len());
        ensure!(seen_rows == rows, "{who} saw {seen_rows} rows of {rows}");
        ensure!(seen.digest.finish() == self.digest, "{who} saw rows with other words in them");
        Ok(())
    }

    /// Milliseconds from when a row was written to when a viewer had it, of those who watched all the
    /// time and of rows that were written while they did; in order of length.
    pub(super) fn lags(&self, all: &[Seen]) -> Vec<u64> {
        let steady = all.iter().filter(|seen| seen.manner == Manner::Steady);
        let mut lags: Vec<u64> = steady
            .flat_map(|seen| {
                seen.arrivals.iter().filter_map(|(id, came)| {
                    let written = *self.written.get(id)?;
                    (written > seen.since_ms + SETTLED_MS).then(|| came.saturating_sub(written))
                })
            })
            .collect();
        lags.sort_unstable();
        lags
    }
}

/// What was there before a viewer came is read first.
const SETTLED_MS: u64 = 1_000;
