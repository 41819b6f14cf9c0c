//! `sabir explain`: what a diagnostic code means, at length; why a call was allowed or not; and what
//! anything else is that has a name in the home.

mod call;
mod kept;
mod stored;
mod thing;

use std::io::Write;
use std::path::Path;

use clap::Args;
use sabir_base::CodeInfo;
use sabir_host::record::{Journal, journal_names};
use sabir_lingua::tokens::Tokenizer;
use sabir_store::Line;
use serde::Serialize;

use thing::Thing;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::log;
use crate::notation::Notation;
use crate::output::{Notes, Output};
use crate::render::printable;

/// Explain a diagnostic code, or anything that has a name here
///
/// A call (why was it allowed, asked for or refused?), a session, an order, a task of another agent or
/// for one, an approval, a response, a delegate, a row of a journal, a collection and what is in it: what
/// it is, who did it, what came of it and why, and where to look next. The beginning of a name is enough
/// if only one begins so. Without anything, all codes are listed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir explain AX112
  sabir explain glued-record
  sabir explain call_7f3a
  sabir explain order-019a8c5e-2f7b-7c41-9d52-6a1f0e3b9c77 --json
  sabir explain ldp:delegate:harbor
  sabir explain node/12
  sabir explain

`sabir audit list` shows calls, `sabir sessions` sessions and orders, `sabir log` everything.

Exit codes:
  0  done
  2  nothing has this name, or several things begin so")]
pub(crate) struct ExplainArgs {
    /// A code such as AX112 or LX105, its name, or the id of anything here
    #[arg(value_name = "CODE|ID")]
    what: Option<String>,
    /// Print JSON: the code, or an array of what has this name
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

/// What `--json` prints of a code.
#[derive(Debug, Serialize)]
struct Explained<'a> {
    code: &'a str,
    name: &'a str,
    summary: &'a str,
}

/// The pages of `docs/diagnostics`, by code.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

impl ExplainArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let Some(wanted) = &self.what else {
            self.list(output)?;
            return Ok(Exit::Done);
        };
        if let Some(info) = find(wanted) {
            self.explain_code(info, output)?;
            return Ok(Exit::Done);
        }
        if wanted.is_empty() {
            return Ok(unknown(wanted, notes));
        }
        let home = self.home.resolve()?;
        if self.explain_exactly(&home, wanted, output)? {
            return Ok(Exit::Done);
        }
        let mut begun = call::begin_with(&home, wanted)?;
        begun.extend(stored::begin_with(&home, wanted)?);
        match begun.as_slice() {
            [only] => {
                self.explain_exactly(&home, only, output)?;
                return Ok(Exit::Done);
            }
            [] => {}
            several => {
                let (wanted, names) = (printable(wanted), call::choices(several));
                notes.line(format_args!("error: several names begin with `{wanted}`: {names}"));
                return Ok(Exit::Unusable);
            }
        }
        match stored::mentions(&home, wanted)? {
            Some(thing) => self.print(&[thing], output)?,
            None => return Ok(unknown(wanted, notes)),
        }
        Ok(Exit::Done)
    }

    /// Whether something has exactly this name.
    fn explain_exactly(
        &self,
        home: &Path,
        wanted: &str,
        output: &mut Output,
    ) -> anyhow::Result<bool> {
        if let Some((journal, line)) = row(home, wanted)? {
            log::print_row(&journal, &line, Tokenizer::O200k, self.json, output)?;
            return Ok(true);
        }
        let mut things = stored::find(home, wanted)?;
        things.extend(kept::find(home, wanted)?);
        let rows = call::find(home, wanted)?;
        if !rows.is_empty() {
            // What became of a question is in the decisions.
            things.retain(|thing| !thing.is("approval"));
            let places = stored::rows_of_call(home, wanted)?;
            if self.json {
                call::print_as_json(&rows, &places, &things, output)?;
                return Ok(true);
            }
            call::print(&rows, &places, output)?;
            if !things.is_empty() {
                writeln!(output)?;
            }
        }
        self.print(&things, output)?;
        Ok(!(rows.is_empty() && things.is_empty()))
    }

    fn print(&self, things: &[Thing], output: &mut Output) -> anyhow::Result<()> {
        if things.is_empty() {
            return Ok(());
        }
        if self.json {
            let all: Vec<_> = things.iter().map(Thing::to_value).collect();
            serde_json::to_writer_pretty(&mut *output, &all)?;
            writeln!(output)?;
            return Ok(());
        }
        for (number, thing) in things.iter().enumerate() {
            if number > 0 {
                writeln!(output)?;
            }
            thing.print(output)?;
        }
        Ok(())
    }

    fn list(&self, output: &mut Output) -> anyhow::Result<()> {
        if self.json {
            serde_json::to_writer_pretty(&mut *output, &codes().map(in_short).collect::<Vec<_>>())?;
            writeln!(output)?;
            return Ok(());
        }
        for info in codes() {
            writeln!(output, "{}  {:28} {}", info.code, info.name, info.summary)?;
        }
        Ok(())
    }

    fn explain_code(&self, info: &CodeInfo, output: &mut Output) -> anyhow::Result<()> {
        match page(info) {
            _ if self.json => {
                serde_json::to_writer_pretty(&mut *output, &in_short(info))?;
                writeln!(output)?;
            }
            Some(page) => output.write_all(page.as_bytes())?,
            None => writeln!(output, "# {}: {}\n\n{}", info.code, info.name, info.summary)?,
        }
        Ok(())
    }
}

/// `node/12`, if there is such a row.
fn row(home: &Path, wanted: &str) -> anyhow::Result<Option<(String, Line)>> {
    let Some((name, seq)) = wanted.rsplit_once('/') else { return Ok(None) };
    let Ok(seq) = seq.parse() else { return Ok(None) };
    if !journal_names(home)?.iter().any(|it| it == name) {
        return Ok(None);
    }
    let line = Journal::open(home, name)?.line(seq)?;
    Ok(line.map(|line| (name.to_owned(), line)))
}

fn unknown(wanted: &str, notes: &mut Notes) -> Exit {
    notes.line(format_args!(
        "error: there is no code and nothing here called `{}`; `sabir explain` lists the codes, \
         `sabir audit list` the last calls, `sabir sessions` sessions and orders",
        printable(wanted)
    ));
    Exit::Unusable
}

fn in_short(info: &CodeInfo) -> Explained<'_> {
    Explained { code: info.code.as_str(), name: info.name, summary: info.summary }
}

/// Those of every notation, and of packets.
fn codes() -> impl Iterator<Item = &'static CodeInfo> {
    Notation::ALL.into_iter().flat_map(Notation::codes).chain(sabir_llmcp::codes::ALL)
}

fn find(wanted: &str) -> Option<&'static CodeInfo> {
    codes().find(|info| {
        info.code.as_str().eq_ignore_ascii_case(wanted) || info.name.eq_ignore_ascii_case(wanted)
    })
}

fn page(info: &CodeInfo) -> Option<&'static str> {
    PAGES.iter().find(|(code, _)| *code == info.code.as_str()).map(|(_, page)| *page)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_found_by_code_and_by_name() {
        assert_eq!(find("ax112").map(|info| info.name), Some("glued-record"));
        let code = |wanted| find(wanted).map(|info| info.code);
        assert_eq!(code("glued-record"), Some(sabir_axon::codes::GLUED_RECORD));
        assert_eq!(code("missing-header"), Some(sabir_llmx::codes::MISSING_HEADER));
        assert_eq!(code("lc601"), Some(sabir_llmcp::codes::UNKNOWN_TOOL));
        assert!(find("AX1").is_none());
    }

    #[test]
    fn a_name_means_one_code_whatever_the_notation() {
        let names: BTreeSet<&str> = codes().map(|info| info.name).collect();
        assert_eq!(names.len(), codes().count());
    }
}
