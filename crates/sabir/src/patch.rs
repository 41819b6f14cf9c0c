//! `sabir patch`: a patch, applied under the current directory, all of it or nothing.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use sabir_engine::FileChange;
use sabir_engine::patch::{PatchError, Plan, PlanError};
use sabir_host::{ApplyError, Recovered, Root};
use serde::Serialize;

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

/// Apply a patch under the current directory, all of it or nothing
///
/// A patch starts with `*** Begin Patch`, ends with `*** End Patch`, and says in between which files
/// to add, update, move and delete. Paths are relative to the current directory and cannot leave it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir patch change.patch
  sabir patch --check change.patch      show the difference, write nothing
  sabir patch <<'EOF'
  *** Begin Patch
  *** Update File: src/greet.py
  @@ def greet(name):
  -    print(\"Hi \" + name)
  +    print(f\"Hello, {name}\")
  *** Add File: docs/hello.txt
  +Hello, world.
  *** End Patch
  EOF

With --json one object is on standard output: {file, applied, summary, changes, error}. Changes map
each path to add, delete or update; error is null, or has line (of the patch, or null), message and
help.

Exit codes:
  0  the patch is applied (with --check: it fits)
  1  the patch is wrong or does not fit; no file is changed
  2  wrong usage, or something cannot be read or written; no file is changed")]
pub(crate) struct PatchArgs {
    /// Print the difference as a unified diff and write nothing
    #[arg(long)]
    check: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
    #[command(flatten)]
    input: OneFile,
}

#[derive(Serialize)]
struct Report {
    file: String,
    applied: bool,
    summary: Option<String>,
    changes: BTreeMap<String, FileChange>,
    error: Option<Refusal>,
}

/// Why nothing was done, in words.
#[derive(Serialize)]
struct Refusal {
    line: Option<u32>,
    message: String,
    help: String,
    #[serde(skip)]
    exit: Exit,
}

impl PatchArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let Self { check, json, home, input } = self;
        let journal = home.resolve()?.join("patches");
        let source = input.read()?;
        let root = Root::open(Path::new(".")).context("the current directory cannot be opened")?;
        if !check {
            for recovered in sabir_host::recover(&journal).map_err(with_help)? {
                tell_recovered(&recovered, notes);
            }
        }
        let planned = plan(&source.text, &root);
        let done = planned.and_then(|plan| {
            if !check {
                sabir_host::apply(&plan, &root, &journal).map_err(Refusal::from)?;
            }
            Ok(plan)
        });
        let file = source.origin.as_given();
        match done {
            Ok(plan) => {
                if json {
                    let summary = (!check).then(|| plan.summary());
                    let changes = plan.changes();
                    let report = Report { file, applied: !check, summary, changes, error: None };
                    print(&report, output)?;
                } else {
                    let text = if check { plan.unified_diff() } else { plan.summary() };
                    output.write_all(text.as_bytes())?;
                }
                Ok(Exit::Done)
            }
            Err(refusal) => {
                notes.line(format_args!("error: {}: {}", source.origin, refusal.message));
                notes.line(format_args!("help: {}", refusal.help));
                let exit = refusal.exit;
                if json {
                    let (summary, changes) = (None, BTreeMap::new());
                    let error = Some(refusal);
                    print(&Report { file, applied: false, summary, changes, error }, output)?;
                }
                Ok(exit)
            }
        }
    }
}

fn plan(text: &str, root: &Root) -> Result<Plan, Refusal> {
    let patch = sabir_engine::patch::parse(text)?;
    Ok(sabir_engine::patch::plan(&patch, root)?)
}

fn print(report: &Report, output: &mut Output) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *output, report)?;
    writeln!(output)?;
    Ok(())
}

fn tell_recovered(recovered: &Recovered, notes: &mut Notes) {
    let Recovered { root, paths, left } = recovered;
    let (root, count) = (root.display(), paths.len());
    notes.line(format_args!(
        "note: an earlier patch of {count} files in {root} was interrupted and has been put right"
    ));
    for path in left {
        notes.line(format_args!("warning: {path} was changed since and is left as it is"));
    }
}

fn with_help(error: ApplyError) -> anyhow::Error {
    let help = error.help();
    anyhow::Error::new(error).context(help)
}

impl From<PatchError> for Refusal {
    fn from(error: PatchError) -> Self {
        let (message, help) = (error.to_string(), error.help());
        Self { line: Some(error.line), message, help, exit: Exit::Found }
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        let (message, help) = (error.to_string(), error.help());
        Self { line: Some(error.line), message, help, exit: Exit::Found }
    }
}

impl From<ApplyError> for Refusal {
    fn from(error: ApplyError) -> Self {
        let exit = match error {
            ApplyError::Changed { .. }
            | ApplyError::ReadOnly { .. }
            | ApplyError::Read { .. }
            | ApplyError::Reserved { .. }
            | ApplyError::NotKept { .. }
            | ApplyError::BadRecord { .. } => Exit::Found,
            ApplyError::File { .. } | ApplyError::Journal { .. } | ApplyError::HalfDone { .. } => {
                Exit::Unusable
            }
        };
        let help = error.help();
        Self { line: None, message: format!("{:#}", anyhow::Error::new(error)), help, exit }
    }
}
