//! `sabir llmx fmt`.

use clap::Args;

use crate::exit::Exit;
use crate::fmt::FmtOptions;
use crate::notation::Notation;
use crate::output::{Notes, Output};

/// Format files in place, or standard input to standard output
///
/// There is one strict form: a block a line, no white space, quotes only where they are needed. A
/// file with syntax errors is left as it is. Extensions (X_ blocks, x_ fields) are kept as written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir llmx fmt conversation.llmx
  sabir llmx fmt --check *.llmx
  echo 'HEADER: { f: a, t: \"b\", s: 1 } RES: { o: ACK }' | sabir llmx fmt

Exit codes:
  0  done; with --check, everything is formatted
  1  a file has syntax errors; with --check, a file is not formatted
  2  wrong usage, or a file cannot be read or written")]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    options: FmtOptions,
}

impl FmtArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        self.options.run(|text| Notation::Llmx.format(text), output, notes)
    }
}
