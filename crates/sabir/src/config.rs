//! `sabir config`: what is wrong with a configuration file, before anything is started with it, and one
//! to begin with.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use sabir_base::text::with_hidden_shown;
use sabir_host::{
    Around, NodeConfigError, check_around, check_config, config_file, load_policy, policy_file,
};
use serde_json::json;

use crate::agents::folder_of;
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    Check(CheckArgs),
    Example(ExampleArgs),
}

/// Check a configuration file, and without one also the policy file of the home
///
/// All sections are read: the node, how it is served, its skills, peers and callers, model providers,
/// servers of tools and the policy. A key that nobody knows is an error that names the nearest one. What
/// is named and not there, such as a variable that is not set, is a warning. Nothing is started or sent
/// anywhere, and no value that may be secret is shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir config check
  sabir config check sabir.toml
  sabir config check sabir.toml --json | jq -r '.[].line'

Exit codes:
  0  nothing is wrong; there may be warnings
  1  something is wrong
  2  there is no such file, or it cannot be read")]
pub(crate) struct CheckArgs {
    /// The file [default: sabir.toml in the home]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same, as other commands are told
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    config: Option<PathBuf>,
    /// Print a JSON array of what is wrong
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

/// Print a configuration file with every key and a comment
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir config example > sabir.toml
  sabir config check sabir.toml")]
pub(crate) struct ExampleArgs {}

impl ConfigCommand {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            Self::Check(args) => args.run(output, notes),
            Self::Example(ExampleArgs {}) => {
                output.write_all(EXAMPLE.as_bytes())?;
                Ok(Exit::Done)
            }
        }
    }
}

impl CheckArgs {
    fn run(mut self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        self.file = self.file.or(self.config.take());
        let home = self.home.resolve()?;
        let path = self.file.clone().unwrap_or_else(|| config_file(&home));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if self.file.is_some() {
                    bail!("{}: there is no such file", path.display());
                }
                None
            }
            Err(error) => {
                return Err(error).with_context(|| format!("{}: cannot be read", path.display()));
            }
        };
        let faults = text.as_deref().map(check_config).unwrap_or_default();
        let warnings = match &text {
            Some(text) if faults.is_empty() => check_around(
                text,
                &Around {
                    folder: &folder_of(&path)?,
                    environment: &|name| sabir_host::secrets::var(name),
                    may_use_low_ports: rustix::process::geteuid().is_root(),
                },
            ),
            _ => Vec::new(),
        };
        // A file of its own may be meant for another home. What is wrong in the section was told.
        let policy = match &self.file {
            None => load_policy(&home).err().filter(|error| error.path == policy_file(&home)),
            Some(_) => None,
        };
        if self.json {
            let said = |severity: &'static str| {
                let path = path.clone();
                move |fault: &NodeConfigError| {
                    let NodeConfigError { line, column, why, .. } = fault;
                    json!({
                        "file": path, "line": line, "column": column, "severity": severity,
                        "message": why,
                    })
                }
            };
            let of_policy = policy.iter().map(|error| {
                json!({ "file": error.path, "severity": "error", "message": error.to_string() })
            });
            let of_file = faults.iter().map(said("error"));
            let all: Vec<_> =
                of_file.chain(of_policy).chain(warnings.iter().map(said("warning"))).collect();
            serde_json::to_writer_pretty(&mut *output, &all)?;
            writeln!(output)?;
        } else {
            for (word, found) in [("error", &faults), ("warning", &warnings)] {
                for fault in found {
                    let fault = format!("{}: {fault}", path.display());
                    notes.line(format_args!("{word}: {}", with_hidden_shown(&fault)));
                }
            }
            if let Some(error) = &policy {
                notes.line(format_args!("error: {}", with_hidden_shown(&error.to_string())));
            }
            match &text {
                None => notes.line(format_args!(
                    "there is no {}: everything has a default; `sabir config example` prints one",
                    path.display()
                )),
                Some(_) if faults.is_empty() => {
                    writeln!(output, "{}: nothing is wrong", path.display())?;
                }
                Some(_) => {}
            }
        }
        Ok(if faults.is_empty() && policy.is_none() { Exit::Done } else { Exit::Found })
    }
}

/// The file that the documentation leads to, so that both are one.
const EXAMPLE: &str = include_str!("../../../examples/sabir.toml");
