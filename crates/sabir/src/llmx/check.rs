//! `sabir llmx check`.

use clap::Args;

use crate::check::CheckOptions;
use crate::exit::Exit;
use crate::notation::Notation;
use crate::output::{Notes, Output};

/// Check that files are valid LLMX
///
/// What can only mean one thing is read, with a warning where it is not in the strict form.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir llmx check conversation.llmx
  sabir llmx check --syntax *.llmx
  echo 'HEADER:{f:a,t:b,s:1} RES:{o:\"ACK\"}' | sabir llmx check --json

Exit codes:
  0  every file is valid (warnings are allowed)
  1  errors were found
  2  wrong usage, or a file cannot be read")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    options: CheckOptions,
}

impl CheckArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        if self.options.syntax {
            return self.options.run(|text| sabir_llmx::parse(text).into(), output, notes);
        }
        self.options.run(|text| Notation::Llmx.check(text), output, notes)
    }
}
