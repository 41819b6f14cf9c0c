//! `sabir axon check`.

use clap::Args;
use sabir_axon::{Rules, Tier};

use crate::axon::parse_tier;
use crate::check::CheckOptions;
use crate::exit::Exit;
use crate::output::{Notes, Output};

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
    #[command(flatten)]
    options: CheckOptions,
}

impl CheckArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let Self { tier, options } = self;
        if options.syntax {
            return options.run(|text| sabir_axon::parse(text).into(), output, notes);
        }
        options.run(|text| sabir_axon::check(text, Rules { tier }).into(), output, notes)
    }
}
