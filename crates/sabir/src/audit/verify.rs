//! `sabir audit verify`: every journal and the library against their hashes, and what is signed against
//! its signatures.

use std::io::Write as _;
use std::path::Path;

use clap::Args;
use sabir_base::text::one_line;
use sabir_host::open_existing_library;
use sabir_host::record::{AUDIT, Journal, NODE, RecordError, journal_names};
use sabir_store::library::{LibraryError, Unsound};
use sabir_store::{Reader, StoreError, Tampered, Verified};
use serde::Serialize;

use super::signatures::{Keys, Signatures};
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};
use crate::sessions::not_begun;

/// Check that the journals and the library fit their hashes, and what is signed its signatures
///
/// Follows the hash chains of the node's journal, of those of its delegates and of the audit from the
/// first entry to the last, and compares the tables with them. Records that carry a signature are held
/// against it, and against the key that is pinned of who signed. It can run beside an engine, and after a
/// crash.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir audit verify
  sabir audit verify --json | jq -r .head
  sabir audit verify --json | jq -r '.journals[].head'

Keep the ids and the heads somewhere else: who can write the files can also compute all hashes anew,
and the end of the chain that is kept beside them, and only a head from before shows it.

Exit codes:
  0  the chains are whole, and every signature fits
  1  an entry was changed, added or removed, or a signature does not fit
  2  there is no journal and no library, or one of them cannot be read")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Default, Serialize)]
struct Report {
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// Where the journal was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    /// Those of the delegates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    journals: Vec<OfDelegate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<Library>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signatures: Option<Signatures>,
}

/// The journal of a delegate.
#[derive(Debug, Serialize)]
struct OfDelegate {
    name: String,
    #[serde(flatten)]
    chain: Chain,
}

#[derive(Debug, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum Chain {
    Whole { store: String, entries: u64, head: String },
    Tampered { seq: u64, why: &'static str },
}

#[derive(Debug, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum Library {
    Whole { id: String, decisions: u64, head: String },
    Tampered { place: String, why: &'static str },
}

impl VerifyArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let home = self.home.resolve()?;
        let library = library(&home)?;
        let mut report = Report { library, ..Report::default() };
        match Reader::open(&home).and_then(|reader| reader.verify()) {
            Ok(Verified { store_id, entries, head_hash }) => {
                report.store = Some(store_id);
                report.entries = Some(entries);
                report.head = Some(head_hash.to_string());
            }
            Err(StoreError::Tampered(Tampered { seq, why })) => {
                report.seq = Some(seq);
                report.why = Some(why);
            }
            // Where nobody ran an agent there may still be a library.
            Err(StoreError::Missing { .. }) if !journal_names(&home)?.is_empty() => {}
            Err(error @ StoreError::Missing { .. }) => return Err(not_begun(error)),
            Err(error) => return Err(error.into()),
        }
        for name in journal_names(&home)?.into_iter().filter(|name| name != NODE) {
            let journal = Journal::open(&home, &name)?;
            let Some(verified) = journal.verify() else { continue };
            report.journals.push(OfDelegate { name, chain: Chain::of(verified)? });
        }
        let signatures = signatures(&home)?;
        report.signatures = Some(signatures).filter(|found| found.count() > 0);
        let is_whole = report.is_whole();
        report.result = if is_whole { "whole" } else { "tampered" };
        if self.json {
            serde_json::to_writer(&mut *output, &report)?;
            writeln!(output)?;
        } else {
            report.tell(output, notes)?;
        }
        Ok(if is_whole { Exit::Done } else { Exit::Found })
    }
}

impl Chain {
    fn of(verified: Result<Verified, StoreError>) -> Result<Self, StoreError> {
        match verified {
            Ok(Verified { store_id, entries, head_hash }) => {
                Ok(Self::Whole { store: store_id, entries, head: head_hash.to_string() })
            }
            Err(StoreError::Tampered(Tampered { seq, why })) => Ok(Self::Tampered { seq, why }),
            Err(error) => Err(error),
        }
    }
}

/// A journal that was changed is told by its chain; its signatures are looked at all the same.
fn signatures(home: &Path) -> anyhow::Result<Signatures> {
    let keys = Keys::pinned(home)?;
    let mut found = Signatures::default();
    for name in journal_names(home)?.iter().filter(|name| *name != AUDIT) {
        let journal = Journal::open(home, name)?;
        match found.check(&journal, &keys) {
            Ok(()) => {}
            Err(error) if is_tampered(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn is_tampered(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<RecordError>(), Some(RecordError::Store(StoreError::Tampered(_))))
}

impl Report {
    fn is_whole(&self) -> bool {
        self.seq.is_none()
            && !matches!(self.library, Some(Library::Tampered { .. }))
            && self.journals.iter().all(|it| matches!(it.chain, Chain::Whole { .. }))
            && self.signatures.as_ref().is_none_or(Signatures::is_whole)
    }

    fn tell(&self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<()> {
        if let (Some(store), Some(entries), Some(head)) = (&self.store, self.entries, &self.head) {
            writeln!(
                output,
                "the journal is whole: {entries} entries\nstore {store}\nhead {head}"
            )?;
        }
        if let (Some(seq), Some(why)) = (self.seq, self.why) {
            notes.line(format_args!("error: the journal was changed at entry {seq}: {why}"));
        }
        match &self.library {
            Some(Library::Whole { id, decisions, head }) => writeln!(
                output,
                "the library is whole: {decisions} decisions\nlibrary {id}\nhead {head}"
            )?,
            Some(Library::Tampered { place, why }) => {
                notes.line(format_args!("error: the library was changed: {place}: {why}"));
            }
            None => {}
        }
        for OfDelegate { name, chain } in &self.journals {
            match chain {
                Chain::Whole { store, entries, head } => writeln!(
                    output,
                    "the journal of {name} is whole: {entries} entries\nstore {store}\nhead {head}"
                )?,
                Chain::Tampered { seq, why } => notes.line(format_args!(
                    "error: the journal of {name} was changed at entry {seq}: {why}"
                )),
            }
        }
        if let Some(Signatures { known, unknown, faults }) = &self.signatures {
            if faults.is_empty() {
                let all = known + unknown;
                writeln!(
                    output,
                    "every signature fits: {all}, {unknown} of them by keys that nobody here knows"
                )?;
            }
            for fault in faults {
                let signer = one_line(&fault.signer, 80);
                let (row, why) = (&fault.row, &fault.why);
                notes.line(format_args!("error: {row}: the signature of {signer}: {why}"));
            }
        }
        Ok(())
    }
}

fn library(home: &Path) -> anyhow::Result<Option<Library>> {
    let Some(library) = open_existing_library(home)? else { return Ok(None) };
    match library.verify() {
        Ok(found) => Ok(Some(Library::Whole {
            id: found.library_id,
            decisions: found.audit.seq,
            head: found.audit.hash.to_string(),
        })),
        Err(LibraryError::Unsound(Unsound { place, why })) => {
            Ok(Some(Library::Tampered { place, why }))
        }
        Err(error) => Err(error.into()),
    }
}
