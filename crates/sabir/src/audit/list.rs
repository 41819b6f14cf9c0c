//! `sabir audit list`: the last decisions of the gate, a line each.

use std::io::Write as _;

use clap::Args;
use sabir_base::text::{one_line, with_hidden_shown};
use sabir_host::{open_existing_library, written};
use sabir_store::library::AuditRow;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

/// List the last decisions of the gate, the newest last
///
/// Each line is one decision: when, what came of it, what it was about, by which reason, and the call
/// that `sabir explain` says more of.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir audit list
  sabir audit list -n 100 --json | jq '.[] | select(.outcome == \"deny\")'
  sabir explain CALL

Exit codes:
  0  done
  2  the library cannot be read")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// How many; there are never more than 1000
    #[arg(
        short = 'n',
        long = "limit",
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    limit: u64,
}

impl ListArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let library = open_existing_library(&self.home.resolve()?)?;
        let rows = match &library {
            Some(library) => {
                library.last_audit(usize::try_from(self.limit).unwrap_or(usize::MAX))?
            }
            None => Vec::new(),
        };
        if self.json {
            super::print_json(&rows, output)?;
            return Ok(Exit::Done);
        }
        if rows.is_empty() {
            notes.line("nothing was decided here yet");
        }
        for row in &rows {
            writeln!(output, "{}", in_one_line(row))?;
        }
        Ok(Exit::Done)
    }
}

fn in_one_line(row: &AuditRow) -> String {
    let AuditRow { seq, at_ms, outcome, subject, reason, call_id, actor, .. } = row;
    let (at, outcome) = (written(*at_ms), outcome.as_str());
    let line =
        format!("{seq:>5}  {at}  {outcome:5}  {subject:20} {reason:24} {call_id}  ({actor})");
    one_line(&with_hidden_shown(&line), MAX_CHARS)
}

/// Names that others gave can be long.
const MAX_CHARS: usize = 400;
