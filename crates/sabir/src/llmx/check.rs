//! `sabir llmx check`.

use std::path::PathBuf;

use clap::Args;

use crate::check::CheckOptions;
use crate::exit::Exit;
use crate::notation::Notation;
use crate::output::{Notes, Output};

use super::root::Root;

/// Check that files are valid LLMX
///
/// What can only mean one thing is read, with a warning where it is not in the strict form. Paths
/// that leave the project by their text are always refused; with --root, also those that leave it
/// through a link.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir llmx check conversation.llmx
  sabir llmx check --root . *.llmx
  echo 'HEADER:{f:a,t:b,s:1} RES:{o:\"ACK\"}' | sabir llmx check --json

Exit codes:
  0  every file is valid (warnings are allowed)
  1  errors were found
  2  wrong usage, or a file or the root cannot be read")]
pub(crate) struct CheckArgs {
    /// Follow the links of this folder: no path may lead out of it
    #[arg(long, value_name = "DIR", conflicts_with = "syntax")]
    root: Option<PathBuf>,
    #[command(flatten)]
    options: CheckOptions,
}

impl CheckArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let Self { root, options } = self;
        if options.syntax {
            return options.run(|text| sabir_llmx::parse(text).into(), output, notes);
        }
        match root.as_deref().map(Root::open).transpose()? {
            Some(root) => options.run(|text| root.check(text), output, notes),
            None => options.run(|text| Notation::Llmx.check(text), output, notes),
        }
    }
}
