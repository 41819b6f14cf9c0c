//! `sabir policy show`: what holds beside the rules of the gate, and where that is written.

use std::io::Write as _;
use std::path::Path;

use clap::Args;
use sabir_host::{config_file, load_policy, policy_file};
use sabir_policy::PolicyDoc;
use serde::Serialize;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::Output;

/// Show what the policy file and the section [policy] of sabir.toml say, in words
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
    /// The configuration file, where it has a section `[policy]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<String>,
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
            config: has_section(&config_file(&home))
                .then(|| config_file(&home).display().to_string()),
            says: policy.describe().lines().map(str::to_owned).collect(),
        };
        if self.json {
            serde_json::to_writer_pretty(&mut *output, &shown)?;
            writeln!(output)?;
            return Ok(Exit::Done);
        }
        let Shown { file, is_there, config, says } = shown;
        writeln!(output, "{file}{}", if is_there { "" } else { " (not there)" })?;
        if let Some(config) = config {
            writeln!(output, "{config}, [policy]")?;
        }
        for line in says {
            writeln!(output, "  {line}")?;
        }
        Ok(Exit::Done)
    }
}

/// What was read once is read again; that it can be read is known.
fn has_section(config: &Path) -> bool {
    let text = std::fs::read_to_string(config).unwrap_or_default();
    PolicyDoc::parse_section(&text).is_ok_and(|section| section != PolicyDoc::default())
}
