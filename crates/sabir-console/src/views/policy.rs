//! The policy: what the file adds, what the gate says to everything there is, and what it would say to
//! one call.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sabir_host::{DryRun, load_policy_with, policy_file};
use sabir_policy::{
    Action, AddressKind, ApprovalPolicy, CallFacts, Facts, FieldKind, Labels, PatchReach,
    PolicyDoc, SandboxMode, SandboxPolicy, Taint, ToolEffects, Verdict, decide, explain,
    tool_names,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::input::{Given, Query};
use crate::refused::{Answer, Refused};
use crate::state::Console;

pub(crate) async fn show(State(console): State<Arc<Console>>, query: Query) -> Answer {
    let approval = read_word("approval", query.text("approval"))?;
    let setup = &console.setup;
    let (home, config) = (setup.home.clone(), setup.config_file.clone());
    let held = setup.policy.clone();
    // The file is read when a program starts: who changes it wants to know that it does not hold yet.
    let looked = tokio::task::spawn_blocking(move || {
        let there = policy_file(&home).symlink_metadata().is_ok();
        let changed = match load_policy_with(&home, &config) {
            Ok(now) => (now != held).then(|| RESTART.to_owned()),
            Err(error) => Some(format!("{error}; {RESTART}")),
        };
        (policy_file(&home), there, changed)
    });
    let (file, is_there, changed) = looked.await?;
    let rules: Vec<String> = setup.policy.describe().lines().map(str::to_owned).collect();
    Ok(Json(json!({
        "file": file.display().to_string(), "is_there": is_there, "changed": changed,
        "approval": approval, "rules": rules, "table": table(&setup.policy, approval),
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Documents of strangers that the model has read.
    #[serde(default)]
    untrusted: Vec<String>,
    /// Documents of the user's own that it has read.
    #[serde(default)]
    private: Vec<String>,
    /// What the user has typed.
    #[serde(default)]
    typed: Vec<String>,
    #[serde(default)]
    approval: ApprovalPolicy,
    #[serde(default)]
    sandbox: SandboxMode,
}

pub(crate) async fn check(
    State(console): State<Arc<Console>>,
    Given(check): Given<Check>,
) -> Answer {
    let setup = &console.setup;
    let cwd = std::env::current_dir().unwrap_or_else(|_| setup.home.clone());
    let dry_run = DryRun {
        tool: &check.tool,
        arguments: &check.arguments,
        taint: Taint {
            untrusted: check.untrusted.into_iter().collect(),
            private: check.private.into_iter().collect(),
        },
        typed: &check.typed,
        approval: check.approval,
        sandbox: SandboxPolicy::of(check.sandbox),
        cwd: &cwd,
        home: Path::new(&setup.home),
    };
    let row = dry_run.row(&setup.policy).map_err(Refused::bad)?;
    Ok(Json(json!({
        "tool": row.subject, "outcome": row.outcome, "rule": row.rule,
        "reason_code": row.reason_code, "why": row.reason, "remedy": row.rule.remedy(),
        "labels": row.labels.names(), "misfit": dry_run.misfit(), "explanation": explain(&row),
    })))
}

/// Every action there is, with what may be special about it, by what the model has read.
fn table(policy: &PolicyDoc, approval: ApprovalPolicy) -> Vec<Value> {
    let sandbox = SandboxPolicy::default();
    let mut rows = Vec::new();
    let mut add = |tool: &str, situation: &str, has_read: &str, action: Action| {
        let ruling = policy.ruling(tool, &[]);
        let mut decision =
            decide(&Facts { approval, sandbox: &sandbox, action, granted: false, ruling });
        policy.give_reason(&mut decision, tool, &[]);
        let case = match has_read {
            "" => situation.to_owned(),
            has_read => format!("{situation}; the model has read {has_read}"),
        };
        rows.push(json!({
            "tool": tool, "case": case, "situation": situation, "has_read": has_read,
            "outcome": decision.outcome, "rule": decision.rule,
            "reason_code": decision.rule.reason_code(), "why": decision.reason,
            "remedy": decision.rule.remedy(), "labels": decision.labels.names(),
            "yields_to_approval": decision.yields_to_approval(),
        }));
    };
    for tool in tool_names() {
        let Some(labels) = Labels::of_name(tool) else { continue };
        for (situation, facts) in situations(tool, CallFacts::plain(labels)) {
            for (has_read, private, untrusted) in READINGS {
                let facts = CallFacts { private, untrusted, ..facts };
                add(tool, situation, has_read, Action::Call(facts));
            }
        }
    }
    for (tool, situation, action) in actions() {
        add(tool, situation, "", action);
    }
    rows
}

/// What may be special about a call of this tool; the usual comes first.
fn situations(tool: &str, plain: CallFacts) -> Vec<(&'static str, CallFacts)> {
    let address = |kind| CallFacts { address: Some(kind), ..plain };
    let field = |kind| CallFacts { field: Some(kind), ..plain };
    match tool {
        "browser.navigate" | "browser.open_tab" | "source.capture" => vec![
            ("an address that you typed", address(AddressKind::Typed)),
            ("a link of a source", address(AddressKind::Linked)),
            ("an address that nobody typed or linked", address(AddressKind::Invented)),
        ],
        "browser.type" | "browser.select" => vec![
            ("an ordinary field", field(FieldKind::Ordinary)),
            ("a field of which nothing is known", field(FieldKind::Unknown)),
            ("a field for a password", field(FieldKind::Credential)),
        ],
        _ => vec![("as it is", plain)],
    }
}

/// What agents in sessions do.
fn actions() -> Vec<(&'static str, &'static str, Action)> {
    let command = |assessment| Action::Command { assessment, escalated: false };
    let patch = |reach| Action::Patch { reach };
    let tool = |effects| Action::Tool { effects };
    let escalated = Action::Command { assessment: Verdict::Ordinary, escalated: true };
    vec![
        ("shell", "a command that is known to only read", command(Verdict::Safe)),
        ("shell", "any other command", command(Verdict::Ordinary)),
        ("shell", "a command that destroys", command(Verdict::Dangerous)),
        ("shell", "a command that asks to leave the sandbox", escalated),
        ("shell", "once more, without the sandbox", Action::RetryOutsideSandbox),
        ("apply_patch", "inside of the workspace", patch(PatchReach::Inside)),
        ("apply_patch", "outside of it", patch(PatchReach::Outside)),
        ("apply_patch", "in .git or the agent's own state", patch(PatchReach::Protected)),
        ("read", "as it is", Action::Read),
        ("spawn", "another agent", Action::Spawn),
        (
            "mcp__SERVER__TOOL",
            "a trusted server says that it only reads",
            tool(ToolEffects::ReadOnly),
        ),
        ("mcp__SERVER__TOOL", "nobody knows what it does", tool(ToolEffects::Unknown)),
        ("mcp__SERVER__TOOL", "its server says that it destroys", tool(ToolEffects::Destructive)),
    ]
}

fn read_word<T: serde::de::DeserializeOwned + Default>(
    name: &str,
    word: Option<&str>,
) -> Result<T, Refused> {
    match word {
        None => Ok(T::default()),
        Some(word) => serde_json::from_value(json!(word))
            .map_err(|error| Refused::bad(format!("{name}: {error}"))),
    }
}

/// In words; private; untrusted.
const READINGS: [(&str, bool, bool); 4] = [
    ("nothing else", false, false),
    ("what is yours", true, false),
    ("what strangers wrote", false, true),
    ("what is yours and what strangers wrote", true, true),
];

const RESTART: &str = "the file was changed since the node started: restart it, and it holds";
