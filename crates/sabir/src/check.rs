//! `check`, for every notation: is it valid, and if not, where and why.

use std::borrow::Cow;
use std::io::Write;

use clap::Args;
use sabir_base::text::one_line;
use sabir_base::{Diagnostic, Severity};

use crate::cli::ManyFiles;
use crate::exit::Exit;
use crate::input::{Origin, Source};
use crate::notation::Checked;
use crate::output::{Notes, Output};
use crate::place::Places;
use crate::{render, report};

/// What can be said to every `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Stop after parsing: look at nothing but syntax
    #[arg(long)]
    pub(crate) syntax: bool,
    #[command(flatten)]
    report: ReportOptions,
    #[command(flatten)]
    input: ManyFiles,
}

impl CheckOptions {
    pub(crate) fn run(
        self,
        find: impl Fn(&str) -> Checked,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<Exit> {
        judge(self.input, self.report, find, output, notes)
    }
}

/// How findings are told.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Print one JSON object per file on standard output
    #[arg(long)]
    json: bool,
}

impl ReportOptions {
    /// Tells what was found in one file.
    pub(crate) fn tell(
        &self,
        source: &Source,
        found: &Checked,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<()> {
        match self.json {
            true => write_json(output, source, found)?,
            false => render::print_all(notes, source, &found.with_pointers()),
        }
        Ok(())
    }
}

/// Looks at every file with `find`; one that cannot be read does not hide the others. `before` was
/// found in a file that was read before them, and counts.
pub(crate) fn judge_beside(
    before: Option<&Checked>,
    input: ManyFiles,
    report: ReportOptions,
    find: impl Fn(&str) -> Checked,
    output: &mut Output,
    notes: &mut Notes,
) -> anyhow::Result<Exit> {
    let origins = Origin::parse_all(input.files)?;
    let mut worst = Exit::Done;
    let mut total = Total::default();
    before.into_iter().for_each(|found| total.add(found));
    for origin in origins {
        let exit = match origin.read() {
            Ok(source) => {
                let found = find(&source.text);
                total.add(&found);
                report.tell(&source, &found, output, notes)?;
                found.exit()
            }
            Err(error) => {
                notes.error(error);
                Exit::Unusable
            }
        };
        worst = worst.max(exit);
    }
    if !report.json && total.files > 0 {
        notes.line(total);
    }
    Ok(worst)
}

/// Looks at every file with `find`; one that cannot be read does not hide the others.
pub(crate) fn judge(
    input: ManyFiles,
    report: ReportOptions,
    find: impl Fn(&str) -> Checked,
    output: &mut Output,
    notes: &mut Notes,
) -> anyhow::Result<Exit> {
    judge_beside(None, input, report, find, output, notes)
}

impl Checked {
    /// What was found, as people read it: where it stands in JSON is said with it.
    fn with_pointers(&self) -> Cow<'_, [Diagnostic]> {
        if self.pointers.iter().all(String::is_empty) {
            return Cow::Borrowed(&self.diagnostics);
        }
        let told = self.diagnostics.iter().zip(&self.pointers).map(|(found, pointer)| {
            let message = match pointer.as_str() {
                "" => found.message.clone(),
                pointer => format!("{} (at {})", found.message, one_line(pointer, MAX_POINTER)),
            };
            Diagnostic { message, ..found.clone() }
        });
        Cow::Owned(told.collect())
    }

    pub(crate) fn exit(&self) -> Exit {
        let invalid = self.diagnostics.iter().any(Diagnostic::is_error);
        if invalid { Exit::Found } else { Exit::Done }
    }
}

fn write_json(output: &mut Output, source: &Source, found: &Checked) -> anyhow::Result<()> {
    let report = report::FileReport {
        file: source.origin.as_given(),
        messages: found.messages,
        diagnostics: report::with_pointers(
            report::diagnostics(&found.diagnostics, &Places::new(&source.text)),
            &found.pointers,
        ),
    };
    serde_json::to_writer(&mut *output, &report)?;
    writeln!(output)?;
    Ok(())
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
    fn add(&mut self, found: &Checked) {
        let count =
            |severity| found.diagnostics.iter().filter(|found| found.severity == severity).count();
        self.files += 1;
        self.messages += found.messages;
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

/// Keys of a stranger can be long.
const MAX_POINTER: usize = 120;
