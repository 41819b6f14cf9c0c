//! `sabir doctor`: whether everything that Sabir needs is here, and what to do where it is not.

mod files;
mod models;
mod world;

pub(crate) use models::keys_that_are_set;

use std::io::Write as _;

use clap::Args;
use sabir_base::text::{one_line, with_hidden_shown};
use sabir_policy::as_typed;
use serde::Serialize;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::Output;

/// Check what Sabir needs: sandbox, browser, models, ports, disk, clock, and its own files
///
/// Nothing is changed, and nothing leaves this machine: model servers are looked for on 127.0.0.1 only,
/// and of keys only their names are shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir doctor
  sabir doctor --json | jq '.checks[] | select(.state != \"good\")'

Exit codes:
  0  nothing that is needed is missing
  1  something that is needed is missing or broken
  2  the command line is wrong")]
pub(crate) struct DoctorArgs {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

/// What was found about one thing.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    said: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    /// Some things will not work.
    Lacking,
    /// It is needed, and nothing works as it should without.
    Missing,
}

#[derive(Debug, Serialize)]
struct Report {
    result: &'static str,
    version: &'static str,
    checks: Vec<Check>,
}

impl Check {
    fn good(name: &'static str, said: impl Into<String>) -> Self {
        Self { name, state: State::Good, said: said.into(), help: None }
    }

    fn lacking(name: &'static str, said: impl Into<String>, help: impl Into<String>) -> Self {
        Self { name, state: State::Lacking, said: said.into(), help: Some(help.into()) }
    }

    fn missing(name: &'static str, said: impl Into<String>, help: impl Into<String>) -> Self {
        Self { name, state: State::Missing, said: said.into(), help: Some(help.into()) }
    }
}

impl DoctorArgs {
    pub(crate) fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let home = self.home.resolve()?;
        let mut checks = vec![files::home(&home), files::disk(&home), files::clock(&home)];
        checks.extend(files::config(&home));
        checks.extend(files::journals(&home));
        checks.push(world::sandbox());
        checks.push(world::browser());
        checks.extend(world::ports(&home));
        checks.extend(models::all(&home));
        // A command that looks into another home finds nothing wrong there.
        let said = self.home.as_said();
        for help in checks.iter_mut().filter_map(|check| check.help.as_mut()) {
            if OF_HOME.contains(&help.as_str()) && !said.is_empty() {
                *help = format!("{help} {}", as_typed(&said));
            }
        }
        let is_well = checks.iter().all(|check| check.state != State::Missing);
        let result = if is_well { "good" } else { "missing" };
        let report = Report { result, version: env!("CARGO_PKG_VERSION"), checks };
        if self.json {
            serde_json::to_writer_pretty(&mut *output, &report)?;
            writeln!(output)?;
        } else {
            report.tell(output)?;
        }
        Ok(if is_well { Exit::Done } else { Exit::Found })
    }
}

impl Report {
    fn tell(&self, output: &mut Output) -> anyhow::Result<()> {
        for Check { name, state, said, help } in &self.checks {
            let mark = match state {
                State::Good => "ok",
                State::Lacking => "note",
                State::Missing => "MISSING",
            };
            let said = one_line(&with_hidden_shown(said), MAX_CHARS);
            writeln!(output, "{mark:<8} {name:<10} {said}")?;
            if let Some(help) = help {
                writeln!(output, "{:20}{}", "", one_line(&with_hidden_shown(help), MAX_CHARS))?;
            }
        }
        Ok(())
    }
}

/// What is typed next, about the same home.
const OF_HOME: [&str; 3] = ["sabir config check", "sabir policy show", "sabir audit verify"];

const MAX_CHARS: usize = 400;
