//! `sabir policy check`: what the gate would decide about a call, and why. Nothing is stored and
//! nothing is done.

use std::io::Write as _;

use anyhow::{Context as _, anyhow};
use clap::Args;
use sabir_host::{DryRun, load_policy};
use sabir_policy::{
    ApprovalMark, ApprovalPolicy, AuditRow, Outcome, SandboxPolicy, Taint, explain,
};
use serde_json::Map;

use crate::agent_args::{Approval, Sandbox};
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};
use crate::render::printable;

/// Show what the gate would decide about a call, and why; nothing is done or stored
///
/// A tool is one of those that models are offered, such as browser.navigate, or shell, apply_patch,
/// read, spawn, or a tool of another program as mcp__SERVER__TOOL.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir policy check shell --arguments '{\"command\":[\"rm\",\"-rf\",\"build\"]}'
  sabir policy check source.capture --typed 'see https://docs.rs' \\
      --arguments '{\"collectionId\":\"col_1\",\"url\":\"https://docs.rs\"}'
  sabir policy check browser.navigate --arguments '{\"url\":\"https://a.example\"}' \\
      --untrusted page --private note
  sabir policy check apply_patch --arguments '{\"paths\":[\"src/main.rs\"]}'

Exit codes:
  0  it would be allowed
  1  a person would be asked, or it would be refused
  2  wrong usage, or the policy file cannot be used")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// The tool that would be called
    tool: String,
    /// What it is called with
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
    /// A document of a stranger that the model has read; can be given several times
    #[arg(long, value_name = "DOC")]
    untrusted: Vec<String>,
    /// A document of your own that the model has read; can be given several times
    #[arg(long, value_name = "DOC")]
    private: Vec<String>,
    /// What you have typed; can be given several times
    #[arg(long, value_name = "TEXT")]
    typed: Vec<String>,
    /// When to ask before something runs [default: on-request]
    #[arg(long, value_enum, value_name = "POLICY")]
    approval: Option<Approval>,
    /// What commands may touch [default: workspace-write]
    #[arg(long, value_enum, value_name = "MODE")]
    sandbox: Option<Sandbox>,
    /// Print the row that the audit would hold, as a JSON object
    #[arg(long)]
    json: bool,
}

impl CheckArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let home = self.home.resolve()?;
        let policy = load_policy(&home)?;
        let arguments = match &self.arguments {
            Some(text) => serde_json::from_str(text).context("--arguments: is no JSON object")?,
            None => Map::new(),
        };
        let cwd = std::env::current_dir().context("the working directory is gone")?;
        let dry_run = DryRun {
            tool: &self.tool,
            arguments: &arguments,
            taint: Taint {
                untrusted: self.untrusted.iter().cloned().collect(),
                private: self.private.iter().cloned().collect(),
            },
            typed: &self.typed,
            approval: self.approval.map(ApprovalPolicy::from).unwrap_or_default(),
            sandbox: self.sandbox.map(SandboxPolicy::from).unwrap_or_default(),
            cwd: &cwd,
            home: &home,
        };
        if let Some(why) = self.arguments.as_ref().and_then(|_| dry_run.misfit()) {
            let why = printable(&why);
            notes.line(format_args!("warning: such a call would not come so far: {why}"));
        }
        let row = dry_run.row(&policy).map_err(|why| anyhow!(printable(&why).into_owned()))?;
        let outcome = row.outcome;
        if self.json {
            serde_json::to_writer_pretty(&mut *output, &row)?;
            writeln!(output)?;
        } else {
            let verb = match outcome {
                Outcome::Allow => "allowed",
                Outcome::Ask => "asked for",
                Outcome::Deny => "refused",
            };
            writeln!(output, "{} would be {verb}", row.subject)?;
            // What is said of a row that is stored, but for its first line, which names the row, and
            // for the person, who is not asked.
            let row = AuditRow { approval: ApprovalMark::NotNeeded, ..row };
            for line in explain(&row).lines().skip(1) {
                writeln!(output, "{line}")?;
            }
        }
        Ok(if outcome == Outcome::Allow { Exit::Done } else { Exit::Found })
    }
}
