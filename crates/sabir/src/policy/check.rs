//! `sabir policy check`: what the gate would decide about a call, and why. Nothing is stored and
//! nothing is done.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use clap::Args;
use sabir_engine::ToolCall;
use sabir_host::{load_policy, possible_names, search_host};
use sabir_policy::{
    Action, ApprovalMark, ApprovalPolicy, AuditRow, Audited, Call, Evidence, Facts, Offer, Outcome,
    Place, PolicyDoc, Reading, SandboxPolicy, Scope, Surroundings, Taint, ToolEffects, assess,
    decide, explain, hosts_named, judge_call, reach, tool_names, writable_roots,
};
use serde_json::{Map, Value, json};

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
  sabir policy check source.capture --arguments '{\"collectionId\":\"col_1\",\"url\":\"https://docs.rs\"}' --typed 'see https://docs.rs'
  sabir policy check browser.navigate --arguments '{\"url\":\"https://a.example\"}' --untrusted page --private note
  sabir policy check apply_patch --arguments '{\"paths\":[\"src/main.rs\"]}'

Exit codes:
  0  it would be allowed
  1  a person would be asked, or it would be refused
  2  wrong usage, or the policy file cannot be used")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    home: HomeArgs,
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
        let policy = load_policy(&self.home.resolve()?)?;
        let arguments = match &self.arguments {
            Some(text) => serde_json::from_str(text).context("--arguments: is no JSON object")?,
            None => Map::new(),
        };
        let row = if tool_names().any(|name| name == self.tool) {
            if let Some(why) = self.arguments.as_ref().and_then(|_| misfit(&self.tool, &arguments))
            {
                notes.line(format_args!("warning: such a call would not come so far: {why}"));
            }
            self.judge_call(&arguments, &policy)
        } else {
            self.judge_action(&arguments, &policy)?
        };
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

    /// A tool of those that models are offered over a collection.
    fn judge_call(&self, arguments: &Map<String, Value>, policy: &PolicyDoc) -> AuditRow {
        let mut evidence = Evidence::new();
        self.typed.iter().for_each(|text| evidence.add_message(text));
        let around = Surroundings {
            evidence: &evidence,
            taint: &self.taint(),
            page: None,
            field: None,
            reading: Reading::Strict,
            offer: Offer::Made,
            scope: Scope::Own,
            also_called: &also_called(&self.tool, arguments),
            hosts: &hosts_behind(&self.tool, arguments),
            calls_made: 0,
            asks_made: 0,
            approval: self.approval(),
            policy,
        };
        let call = Call::of_tool(DRY_RUN, &self.tool, arguments);
        judge_call(&call, &around).audit(DRY_RUN, 0)
    }

    /// What an agent in a session does: as its machine judges it, with nothing approved before.
    fn judge_action(
        &self,
        arguments: &Map<String, Value>,
        policy: &PolicyDoc,
    ) -> anyhow::Result<AuditRow> {
        let sandbox = self.sandbox.map(SandboxPolicy::from).unwrap_or_default();
        let cwd = std::env::current_dir().context("the working directory is gone")?;
        let cwd = cwd.to_str().context("the working directory has no name in UTF-8")?;
        let mut why = String::new();
        let mut reaches_hosts = false;
        let action = match self.tool.as_str() {
            "shell" => {
                let text = Value::Object(arguments.clone()).to_string();
                let read = ToolCall::read("shell", &text, |_| false).map_err(anyhow::Error::msg)?;
                let ToolCall::Shell(shell) = read else { bail!("this is no command") };
                let assessment = assess(&shell.command, Place::of(cwd, cwd));
                why = format!(" ({})", assessment.why());
                reaches_hosts = true;
                Action::Command { assessment: assessment.verdict(), escalated: shell.escalated }
            }
            "apply_patch" => {
                let home = self.home.resolve()?;
                let home = home.to_str().context("the home has no name in UTF-8")?.to_owned();
                let tmpdir = std::env::var("TMPDIR").ok();
                let roots = writable_roots(&sandbox, cwd, tmpdir.as_deref(), &[home]);
                Action::Patch { reach: reach(&paths(arguments, cwd)?, &roots) }
            }
            "read" => Action::Read,
            "spawn" => Action::Spawn,
            name if name.starts_with("mcp__") => {
                reaches_hosts = true;
                Action::Tool { effects: ToolEffects::Unknown }
            }
            name => bail!("there is no tool {:?}; there are {}", printable(name), all_names()),
        };
        let hosts = if reaches_hosts { hosts_named(arguments) } else { Default::default() };
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let mut decision = decide(&Facts {
            approval: self.approval(),
            sandbox: &sandbox,
            action,
            granted: false,
            ruling: policy.ruling(&self.tool, &hosts),
        });
        policy.give_reason(&mut decision, &self.tool, &hosts);
        decision.reason.push_str(&why);
        let audited = Audited {
            call_id: DRY_RUN,
            actor: DRY_RUN,
            subject: &self.tool,
            arguments,
            taint: &self.taint(),
            sources: &[],
            field: None,
        };
        Ok(AuditRow::new(&audited, &decision, 0))
    }

    fn taint(&self) -> Taint {
        Taint {
            untrusted: self.untrusted.iter().cloned().collect(),
            private: self.private.iter().cloned().collect(),
        }
    }

    fn approval(&self) -> ApprovalPolicy {
        self.approval.map(ApprovalPolicy::from).unwrap_or_default()
    }
}

/// The hosts that a call reaches without naming them.
fn hosts_behind(tool: &str, arguments: &Map<String, Value>) -> Vec<String> {
    match tool {
        "search" => {
            search_host(arguments.get("engine").and_then(Value::as_str)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The names of the tool of another program that a call would use.
fn also_called(tool: &str, arguments: &Map<String, Value>) -> Vec<String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    match (tool, text("integration"), text("operation")) {
        ("integration.invoke", Some(server), Some(tool)) => possible_names(server, tool),
        _ => Vec::new(),
    }
}

fn paths(arguments: &Map<String, Value>, cwd: &str) -> anyhow::Result<Vec<String>> {
    let paths = arguments.get("paths").and_then(Value::as_array);
    let paths = paths.context("say which files: --arguments '{\"paths\":[\"a.txt\"]}'")?;
    let absolute = |path: &Value| {
        let path = path.as_str().context("a path is no text")?;
        Ok(if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") })
    };
    paths.iter().map(absolute).collect()
}

/// Why a packet with such a call would be refused before any gate.
fn misfit(tool: &str, arguments: &Map<String, Value>) -> Option<String> {
    let packet = json!({
        "protocol": { "name": "laika.llmcp", "version": 1 },
        "id": DRY_RUN,
        "type": "response",
        "created_at": "2026-01-01T00:00:00.000Z",
        "conversation": { "id": DRY_RUN, "turn": 1 },
        "sender": { "role": "assistant" },
        "in_reply_to": { "request_id": DRY_RUN },
        "assistant": { "render": { "type": "doc", "children": [] } },
        "tool_calls": [{ "name": tool, "arguments": arguments }],
    });
    let parsed = sabir_llmcp::Response::parse(&packet.to_string(), None);
    let wrong = parsed.diagnostics.into_iter().find(sabir_llmcp::Problem::is_error)?;
    let place = wrong.pointer.strip_prefix("/tool_calls/0").unwrap_or(&wrong.pointer);
    Some(printable(&format!("{place}: {}", wrong.diagnostic.message)).into_owned())
}

fn all_names() -> String {
    let names: Vec<&str> = tool_names()
        .chain(["shell", "apply_patch", "read", "spawn", "mcp__SERVER__TOOL"])
        .collect();
    names.join(", ")
}

/// What a call is called that is none.
const DRY_RUN: &str = "dry-run";
