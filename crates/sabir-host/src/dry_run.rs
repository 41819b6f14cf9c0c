//! What the gate would decide about a call, and why. Nothing is stored and nothing is done.

use std::path::Path;

use sabir_engine::ToolCall;
use sabir_policy::{
    Action, ApprovalPolicy, AuditRow, Audited, Call, Evidence, Facts, Offer, Place, PolicyDoc,
    Reading, SERVED_TOOLS, SandboxPolicy, Scope, Surroundings, Taint, ToolEffects, assess, decide,
    hosts_named, judge_call, reach, tool_names, writable_roots,
};
use serde_json::{Map, Value, json};

use crate::desk::search_host;
use crate::mcp::possible_names;

/// A call that nobody makes.
#[derive(Debug)]
pub struct DryRun<'a> {
    /// One of those that models are offered, or `shell`, `apply_patch`, `read`, `spawn`, or a tool of
    /// another program as `mcp__SERVER__TOOL`.
    pub tool: &'a str,
    pub arguments: &'a Map<String, Value>,
    /// What the model has read.
    pub taint: Taint,
    /// What the person has typed.
    pub typed: &'a [String],
    pub approval: ApprovalPolicy,
    pub sandbox: SandboxPolicy,
    /// Where commands would run.
    pub cwd: &'a Path,
    pub home: &'a Path,
}

impl DryRun<'_> {
    /// The row that the audit would hold.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or its arguments make no call of it: then in words what is wrong.
    pub fn row(&self, policy: &PolicyDoc) -> Result<AuditRow, String> {
        match tool_names().any(|name| name == self.tool) {
            true => Ok(self.judge_call(policy)),
            false => self.judge_action(policy),
        }
    }

    /// Why a packet with such a call would be refused before any gate.
    pub fn misfit(&self) -> Option<String> {
        if !tool_names().any(|name| name == self.tool) {
            return None;
        }
        let packet = json!({
            "protocol": { "name": "laika.llmcp", "version": 1 },
            "id": DRY_RUN,
            "type": "response",
            "created_at": "2026-01-01T00:00:00.000Z",
            "conversation": { "id": DRY_RUN, "turn": 1 },
            "sender": { "role": "assistant" },
            "in_reply_to": { "request_id": DRY_RUN },
            "assistant": { "render": { "type": "doc", "children": [] } },
            "tool_calls": [{ "name": self.tool, "arguments": self.arguments }],
        });
        let parsed = sabir_llmcp::Response::parse(&packet.to_string(), None);
        let wrong = parsed.diagnostics.into_iter().find(sabir_llmcp::Problem::is_error)?;
        let place = wrong.pointer.strip_prefix("/tool_calls/0").unwrap_or(&wrong.pointer);
        Some(format!("{place}: {}", wrong.diagnostic.message))
    }

    /// A tool of those that models are offered over a collection.
    fn judge_call(&self, policy: &PolicyDoc) -> AuditRow {
        let mut evidence = Evidence::new();
        self.typed.iter().for_each(|text| evidence.add_message(text));
        let around = Surroundings {
            evidence: &evidence,
            taint: &self.taint,
            page: None,
            field: None,
            reading: Reading::Strict,
            offer: Offer::Made,
            scope: Scope::Own,
            also_called: &self.also_called(),
            hosts: &self.hosts_behind(),
            calls_made: 0,
            asks_made: 0,
            approval: self.approval,
            policy,
        };
        let call = Call::of_tool(DRY_RUN, self.tool, self.arguments);
        judge_call(&call, &around).audit(DRY_RUN, 0)
    }

    /// What an agent in a session does: as its machine judges it, with nothing approved before.
    fn judge_action(&self, policy: &PolicyDoc) -> Result<AuditRow, String> {
        let cwd = self.cwd.to_str().ok_or("the working directory has no name in UTF-8")?;
        let mut why = String::new();
        let mut reaches_hosts = false;
        let action = match self.tool {
            "shell" => {
                let text = Value::Object(self.arguments.clone()).to_string();
                let read = ToolCall::read("shell", &text, |_| false)?;
                let ToolCall::Shell(shell) = read else { return Err("this is no command".into()) };
                let assessment = assess(&shell.command, Place::of(cwd, cwd));
                why = format!(" ({})", assessment.why());
                reaches_hosts = true;
                Action::Command { assessment: assessment.verdict(), escalated: shell.escalated }
            }
            "apply_patch" => {
                let home = self.home.to_str().ok_or("the home has no name in UTF-8")?.to_owned();
                let tmpdir = std::env::var("TMPDIR").ok();
                let roots = writable_roots(&self.sandbox, cwd, tmpdir.as_deref(), &[home]);
                Action::Patch { reach: reach(&self.paths(cwd)?, &roots) }
            }
            "read" => Action::Read,
            "spawn" | "serve.delegate" | "serve.run_task" | "serve.message" => Action::Spawn,
            name if SERVED_TOOLS.contains(&name) => Action::Read,
            name if name.starts_with("mcp__") => {
                reaches_hosts = true;
                Action::Tool { effects: ToolEffects::Unknown }
            }
            name => return Err(format!("there is no tool {name:?}; there are {}", all_names())),
        };
        let hosts = if reaches_hosts { hosts_named(self.arguments) } else { Default::default() };
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let mut decision = decide(&Facts {
            approval: self.approval,
            sandbox: &self.sandbox,
            action,
            granted: false,
            ruling: policy.ruling(self.tool, &hosts),
        });
        policy.give_reason(&mut decision, self.tool, &hosts);
        decision.reason.push_str(&why);
        let audited = Audited {
            call_id: DRY_RUN,
            actor: DRY_RUN,
            subject: self.tool,
            arguments: self.arguments,
            taint: &self.taint,
            sources: &[],
            field: None,
        };
        Ok(AuditRow::new(&audited, &decision, 0))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    /// The hosts that a call reaches without naming them.
    fn hosts_behind(&self) -> Vec<String> {
        match self.tool {
            "search" => search_host(self.text("engine")).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The names of the tool of another program that a call would use.
    fn also_called(&self) -> Vec<String> {
        match (self.tool, self.text("integration"), self.text("operation")) {
            ("integration.invoke", Some(server), Some(tool)) => possible_names(server, tool),
            _ => Vec::new(),
        }
    }

    fn paths(&self, cwd: &str) -> Result<Vec<String>, String> {
        let paths = self.arguments.get("paths").and_then(Value::as_array);
        let paths = paths.ok_or("say which files: '{\"paths\":[\"a.txt\"]}'")?;
        let absolute = |path: &Value| {
            let path = path.as_str().ok_or("a path is no text")?;
            Ok(if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") })
        };
        paths.iter().map(absolute).collect()
    }
}

fn all_names() -> String {
    let names: Vec<&str> = tool_names()
        .chain(["shell", "apply_patch", "read", "spawn", "mcp__SERVER__TOOL"])
        .chain(SERVED_TOOLS)
        .collect();
    names.join(", ")
}

/// What a call is called that is none.
const DRY_RUN: &str = "dry-run";
