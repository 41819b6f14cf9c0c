//! `sabir axon fmt`.

use clap::{Args, ValueEnum};

use crate::exit::Exit;
use crate::fmt::FmtOptions;
use crate::notation;
use crate::output::{Notes, Output};

/// Format files in place, or standard input to standard output
///
/// A file with syntax errors is left as it is. Comments survive.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir axon fmt conversation.axon
  sabir axon fmt --check *.axon
  sabir axon fmt --style wire - < conversation.axon

Exit codes:
  0  done; with --check, everything is formatted
  1  a file has syntax errors; with --check, a file is not formatted
  2  wrong usage, or a file cannot be read or written")]
pub(crate) struct FmtArgs {
    /// pretty for people, wire for the fewest tokens
    #[arg(long, value_enum, default_value_t = Style::Pretty)]
    style: Style,
    #[command(flatten)]
    options: FmtOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    Wire,
    Pretty,
}

impl From<Style> for sabir_axon::Style {
    fn from(style: Style) -> Self {
        match style {
            Style::Wire => Self::Wire,
            Style::Pretty => Self::Pretty,
        }
    }
}

impl FmtArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let style = self.style.into();
        self.options.run(|text| notation::format_axon(text, style), output, notes)
    }
}
