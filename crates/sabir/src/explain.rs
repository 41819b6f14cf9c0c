//! `sabir explain`: what a diagnostic code means, at length, and why a call was allowed or not.

mod call;

use std::io::Write;

use clap::Args;
use sabir_base::CodeInfo;
use serde::Serialize;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::notation::Notation;
use crate::output::{Notes, Output};
use crate::render::printable;

/// Explain a diagnostic code, or why a call was allowed, asked for or refused
///
/// A call is named by its id, or by the beginning of it; `sabir audit list` shows the last ones. Without
/// anything, all codes are listed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir explain AX112
  sabir explain glued-record
  sabir explain call_7f3a
  sabir explain call_7f3a --json
  sabir explain

Exit codes:
  0  done
  2  there is no such code and no such call")]
pub(crate) struct ExplainArgs {
    /// A code such as AX112 or LX105, its name, or a call
    #[arg(value_name = "CODE|CALL")]
    what: Option<String>,
    /// Print JSON: the code, or the rows of the call
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
        match call::find(&self.home.resolve()?, wanted)? {
            call::Found::Rows(rows) if self.json => call::print_as_json(&rows, output)?,
            call::Found::Rows(rows) => call::print(&rows, output)?,
            call::Found::Several(calls) => {
                let (wanted, calls) = (printable(wanted), call::choices(&calls));
                notes.line(format_args!("error: several calls begin with `{wanted}`: {calls}"));
                return Ok(Exit::Unusable);
            }
            call::Found::Nothing => {
                notes.line(format_args!(
                    "error: there is no code and no call `{}`; `sabir explain` lists the codes, \
                     `sabir audit list` the last calls",
                    printable(wanted)
                ));
                return Ok(Exit::Unusable);
            }
        }
        Ok(Exit::Done)
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
