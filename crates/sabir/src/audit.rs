//! `sabir audit`: is what was written still what is there?

use std::io::Write as _;

use clap::{Args, Subcommand};
use sabir_store::{Reader, StoreError, Tampered, Verified};
use serde::Serialize;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    Verify(VerifyArgs),
}

/// Check that nobody has changed the journal
///
/// Follows the hash chain from the first entry to the last, and compares the tables with it. It can
/// run beside an engine, and after a crash.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir audit verify
  sabir audit verify --json | jq -r .head

Keep the store's id and the head somewhere else: who can write the file can also compute all hashes anew, and only a
head from before shows it.

Exit codes:
  0  the chain is whole
  1  an entry was changed, added or removed
  2  there is no journal, or it cannot be read")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum Finding {
    Whole { store: String, entries: u64, head: String },
    Tampered { seq: u64, why: String },
}

impl AuditCommand {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            Self::Verify(args) => args.run(output, notes),
        }
    }
}

impl VerifyArgs {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let found = match Reader::open(&self.home.resolve()?)?.verify() {
            Ok(Verified { store_id, entries, head_hash }) => {
                Finding::Whole { store: store_id, entries, head: head_hash.to_string() }
            }
            Err(StoreError::Tampered(Tampered { seq, why })) => {
                Finding::Tampered { seq, why: why.to_owned() }
            }
            Err(error) => return Err(error.into()),
        };
        if self.json {
            serde_json::to_writer(&mut *output, &found)?;
            writeln!(output)?;
        }
        match found {
            Finding::Whole { .. } if self.json => Ok(Exit::Done),
            Finding::Whole { store, entries, head } => {
                writeln!(
                    output,
                    "the journal is whole: {entries} entries\nstore {store}\nhead {head}"
                )?;
                Ok(Exit::Done)
            }
            Finding::Tampered { .. } if self.json => Ok(Exit::Found),
            Finding::Tampered { seq, why } => {
                notes.line(format_args!("error: the journal was changed at entry {seq}: {why}"));
                Ok(Exit::Found)
            }
        }
    }
}
