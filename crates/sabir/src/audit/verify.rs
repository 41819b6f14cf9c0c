//! `sabir audit verify`: the journal and the library against their hashes.

use std::io::Write as _;
use std::path::Path;

use clap::Args;
use sabir_host::open_existing_library;
use sabir_store::library::{LibraryError, Unsound};
use sabir_store::{Reader, StoreError, Tampered, Verified};
use serde::Serialize;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

/// Check that the journal and the library fit their hashes
///
/// Follows the hash chains of the journal and of the audit from the first entry to the last, and
/// compares the tables with them. It can run beside an engine, and after a crash.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir audit verify
  sabir audit verify --json | jq -r .head

Keep the ids and the heads somewhere else: who can write the files can also compute all hashes anew,
and the end of the chain that is kept beside them, and only a head from before shows it.

Exit codes:
  0  the chains are whole
  1  an entry was changed, added or removed
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
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<Library>,
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
            Err(StoreError::Missing { .. }) if report.library.is_some() => {}
            Err(error) => return Err(error.into()),
        }
        let is_whole =
            report.seq.is_none() && !matches!(report.library, Some(Library::Tampered { .. }));
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

impl Report {
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
