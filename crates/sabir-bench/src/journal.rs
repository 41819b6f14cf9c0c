//! The journal beside its floor: the same bytes in the same groups, appended to a plain file and
//! synced. What is above 1 is the price of the tables, the hashes and the hand-over between threads.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use sabir_store::{Batch, Entry, SessionFacts, SessionId, Store};

use crate::Effort;
use crate::corpus::Corpus;

/// One row: groups of so many entries.
pub(crate) struct Journal {
    pub(crate) group: usize,
    pub(crate) bytes: usize,
    /// Seconds a group: the mean of a round, and of the rounds the one in the middle. The mean,
    /// because now and then the log is copied into the database, and that belongs to the price; the
    /// middle, because other programs use the disk too.
    pub(crate) raw: f64,
    pub(crate) store: f64,
}

impl Journal {
    pub(crate) fn ratio(&self) -> f64 {
        self.store / self.raw
    }
}

/// Beside the report, because the folder for temporary files is often in memory, where syncing
/// costs nothing.
pub(crate) fn measure(
    corpus: &Corpus,
    beside: &Path,
    effort: Effort,
) -> anyhow::Result<Vec<Journal>> {
    let folder = beside.parent().filter(|it| it.is_dir()).unwrap_or(Path::new("."));
    let home = tempfile::tempdir_in(folder).context("cannot make a folder for the journal")?;
    let rows = GROUPS.into_iter().map(|group| {
        let home = home.path().join(group.to_string());
        measure_group(corpus, &home, group, effort)
    });
    rows.collect()
}

fn measure_group(
    corpus: &Corpus,
    home: &Path,
    group: usize,
    effort: Effort,
) -> anyhow::Result<Journal> {
    let (rounds, groups) = match effort {
        Effort::Quick => (1, 2),
        Effort::Full => (11, 60),
    };
    let store = Store::open(home)?;
    let mut file = File::create(home.join("raw")).context("cannot make the plain file")?;
    let session_id = SessionId::new("0190a5c4-6f2e-7c3b-9d5e-2f8b7a1c4e60");
    let facts = SessionFacts {
        cwd: "/project".to_owned(),
        model: "model".to_owned(),
        title: None,
        parent: None,
    };
    let start = vec![Entry::Session(facts)];
    store.append_and_wait(Batch { session_id: session_id.clone(), at_ms: 0, entries: start })?;
    let bodies: Vec<&str> = corpus.messages.iter().map(|message| message.plain.as_str()).collect();
    let mut bodies = bodies.into_iter().cycle();
    let (mut raw, mut stored, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let (mut raw_round, mut stored_round) = (Duration::ZERO, Duration::ZERO);
        for at_ms in 0..groups {
            let entries: Vec<Entry> = bodies.by_ref().take(group).map(event).collect();
            let batch = Batch { session_id: session_id.clone(), at_ms, entries };
            // They take turns, so that neither has the quiet minute.
            let start = Instant::now();
            bytes += append_raw(&mut file, &batch)?;
            raw_round += start.elapsed();
            let start = Instant::now();
            store.append_and_wait(batch)?;
            stored_round += start.elapsed();
        }
        raw.push(raw_round.as_secs_f64() / groups as f64);
        stored.push(stored_round.as_secs_f64() / groups as f64);
    }
    let bytes = bytes / (rounds * groups as usize);
    Ok(Journal { group, bytes, raw: middle(raw), store: middle(stored) })
}

fn middle(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied().unwrap_or(f64::NAN)
}

fn event(body: &str) -> Entry {
    let (sub_id, kind) = ("1".to_owned(), "agent_message_delta".to_owned());
    Entry::Event { sub_id, kind, body: body.to_owned() }
}

fn append_raw(file: &mut File, batch: &Batch) -> std::io::Result<usize> {
    let mut bytes = Vec::new();
    for entry in &batch.entries {
        let Entry::Event { sub_id, kind, body } = entry else { continue };
        for text in [batch.session_id.as_str(), sub_id, kind, body] {
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.extend_from_slice(&batch.at_ms.to_be_bytes());
    }
    file.write_all(&bytes)?;
    file.sync_data()?;
    Ok(bytes.len())
}

/// From a single event to what a fast stream gathers while the disk is busy.
const GROUPS: [usize; 3] = [1, 16, 256];
