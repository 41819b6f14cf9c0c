//! `sabir axon repair`: what a model wrote, made valid, and what was changed.

use std::io::Write;

use clap::Args;
use sabir_axon::{Change, Repaired};
use serde::Serialize;

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::place::Places;
use crate::report::{self, DiagnosticReport};
use crate::{input, render};

/// Turn what a model wrote into valid AXON, and say what was changed
///
/// Nothing is invented and nothing is dropped: what cannot be read as AXON is kept as text.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir axon repair reply.txt > reply.axon
  echo 'INF(@a->@b): alert{level:3}' | sabir axon repair
  sabir axon repair --json reply.txt

The text is on standard output, the changes are on standard error, one a line:
  line:column code message: before -> after
With --json all is on standard output: {text, valid, changes, diagnostics}.

Exit codes:
  0  the result is valid
  1  the result is still invalid
  2  wrong usage, or the file cannot be read")]
pub(crate) struct RepairArgs {
    /// Print one JSON object with the text, the changes and what is left to say
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: OneFile,
}

#[derive(Serialize)]
struct RepairReport<'a> {
    text: &'a str,
    valid: bool,
    changes: Vec<ChangeReport<'a>>,
    /// About the result, whose offsets they use.
    diagnostics: Vec<DiagnosticReport<'a>>,
}

#[derive(Serialize)]
struct ChangeReport<'a> {
    code: &'static str,
    message: &'a str,
    /// In the input.
    start: u32,
    end: u32,
    line: u32,
    column: u32,
    before: &'a str,
    after: &'a str,
}

impl RepairArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let source = self.input.read()?;
        let repaired = sabir_axon::repair(&source.text);
        let before = Places::new(&source.text);
        let after = Places::new(&repaired.text);
        if self.json {
            write_json(output, &repaired, &before, &after)?;
        } else {
            output.write_all(repaired.text.as_bytes())?;
            for change in &repaired.changes {
                notes.line(describe(change, &before));
            }
            let name = after_repair(&source.origin);
            render::print(notes, &name, &after, &repaired.diagnostics);
        }
        Ok(if repaired.is_valid() { Exit::Done } else { Exit::Found })
    }
}

fn write_json(
    output: &mut Output,
    repaired: &Repaired,
    before: &Places<'_>,
    after: &Places<'_>,
) -> anyhow::Result<()> {
    let report = RepairReport {
        text: &repaired.text,
        valid: repaired.is_valid(),
        changes: repaired.changes.iter().map(|change| ChangeReport::new(change, before)).collect(),
        diagnostics: report::diagnostics(&repaired.diagnostics, after),
    };
    serde_json::to_writer(&mut *output, &report)?;
    writeln!(output)?;
    Ok(())
}

impl<'a> ChangeReport<'a> {
    fn new(change: &'a Change, places: &Places<'_>) -> Self {
        let at = places.of(change.span.start);
        Self {
            code: change.code.as_str(),
            message: &change.message,
            start: change.span.start,
            end: change.span.end,
            line: at.line,
            column: at.column,
            before: &change.before,
            after: &change.after,
        }
    }
}

fn describe(change: &Change, places: &Places<'_>) -> String {
    /// One line on a wide terminal.
    const MAX: usize = 60;
    let at = places.of(change.span.start);
    let shown = |text: &str| match text {
        "" => "nothing".to_owned(),
        text => format!("`{}`", render::clip(text, MAX)),
    };
    format!(
        "{}:{} {} {}: {} -> {}",
        at.line,
        at.column,
        change.code,
        render::clip(&change.message, 4 * MAX),
        shown(&change.before),
        shown(&change.after)
    )
}

/// What is left to say is about a text that no file holds yet.
fn after_repair(origin: &input::Origin) -> String {
    format!("{origin} (repaired)")
}
