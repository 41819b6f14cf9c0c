//! `sabir axon check`: is it valid, and if not, where and why.

use std::io::Write;

use clap::Args;
use sabir_axon::{Parsed, Rules, Tier};
use sabir_base::{Diagnostic, Severity};

use crate::axon::parse_tier;
use crate::cli::ManyFiles;
use crate::exit::Exit;
use crate::input::{Origin, Source};
use crate::output::{Notes, Output};
use crate::place::Places;
use crate::{render, report};

/// Check that files are valid AXON
///
/// Without --tier no metadata is demanded, but what is there must be well-formed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir axon check conversation.axon
  sabir axon check --tier 2 *.axon
  echo 'INF(@a>@b): ok' | sabir axon check --json

Exit codes:
  0  every file is valid (warnings are allowed)
  1  errors were found
  2  wrong usage, or a file cannot be read")]
pub(crate) struct CheckArgs {
    /// Demand the metadata of this tier
    #[arg(long, value_name = "1|2|3", value_parser = parse_tier)]
    tier: Option<Tier>,
    /// Stop after parsing: look at nothing but syntax
    #[arg(long)]
    syntax: bool,
    /// Print one JSON object per file on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: ManyFiles,
}

impl CheckArgs {
    pub(crate) fn run(mut self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let origins = Origin::parse_all(std::mem::take(&mut self.input.files))?;
        let mut worst = Exit::Done;
        let mut total = Total::default();
        for origin in origins {
            let exit = match origin.read() {
                Ok(source) => self.check(&source, &mut total, output, notes)?,
                Err(error) => {
                    notes.error(error);
                    Exit::Unusable
                }
            };
            worst = worst.max(exit);
        }
        if !self.json && total.files > 0 {
            notes.line(total);
        }
        Ok(worst)
    }

    fn check(
        &self,
        source: &Source,
        total: &mut Total,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<Exit> {
        let Parsed { tree, diagnostics } = self.findings(&source.text);
        let messages = tree.messages().count();
        let places = Places::new(&source.text);
        total.add(messages, &diagnostics);
        if self.json {
            let report = report::FileReport {
                file: source.origin.as_given(),
                messages,
                diagnostics: report::diagnostics(&diagnostics, &places),
            };
            serde_json::to_writer(&mut *output, &report)?;
            writeln!(output)?;
        } else {
            render::print(notes, &source.origin.to_string(), &places, &diagnostics);
        }
        let invalid = diagnostics.iter().any(Diagnostic::is_error);
        Ok(if invalid { Exit::Found } else { Exit::Done })
    }

    fn findings<'t>(&self, text: &'t str) -> Parsed<'t> {
        if self.syntax {
            sabir_axon::parse(text)
        } else {
            sabir_axon::check(text, Rules { tier: self.tier })
        }
    }
}

/// What was found in all files together.
#[derive(Debug, Default)]
struct Total {
    files: usize,
    messages: usize,
    errors: usize,
    warnings: usize,
}

impl Total {
    fn add(&mut self, messages: usize, diagnostics: &[Diagnostic]) {
        let count =
            |severity| diagnostics.iter().filter(|found| found.severity == severity).count();
        self.files += 1;
        self.messages += messages;
        self.errors += count(Severity::Error);
        self.warnings += count(Severity::Warning);
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { files, messages, errors, warnings } = *self;
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        write!(f, "{}, {}: ", counted(files, "file"), counted(messages, "message"))?;
        match (errors, warnings) {
            (0, 0) => f.write_str("valid"),
            (0, _) => write!(f, "valid, {}", counted(warnings, "warning")),
            (_, 0) => f.write_str(&counted(errors, "error")),
            _ => write!(f, "{}, {}", counted(errors, "error"), counted(warnings, "warning")),
        }
    }
}
