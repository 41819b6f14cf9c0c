//! `sabir policy show`: what holds beside the rules of the gate, and where that is written.

use std::io::Write as _;

use clap::Args;
use sabir_host::{load_policy, policy_file};
use serde::Serialize;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::Output;

/// Show what the policy file says, in words
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir policy show
  sabir policy show --json | jq -r .file

Exit codes:
  0  done
  2  the policy file cannot be read or understood")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Shown {
    file: String,
    is_there: bool,
    says: Vec<String>,
}

impl ShowArgs {
    pub(crate) fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let home = self.home.resolve()?;
        let policy = load_policy(&home)?;
        let file = policy_file(&home);
        let shown = Shown {
            is_there: file.symlink_metadata().is_ok(),
            file: file.display().to_string(),
            says: policy.describe().lines().map(str::to_owned).collect(),
        };
        if self.json {
            serde_json::to_writer_pretty(&mut *output, &shown)?;
            writeln!(output)?;
            return Ok(Exit::Done);
        }
        let Shown { file, is_there, says } = shown;
        writeln!(output, "{file}{}", if is_there { "" } else { " (not there)" })?;
        for line in says {
            writeln!(output, "  {line}")?;
        }
        Ok(Exit::Done)
    }
}
