//! The audit rows of a session: one for each decision of the gate, and one for each answer to a
//! question. What they look like, the gate's own crate says.

use sabir_policy::{ApprovalMark, AuditRow, Audited, Decision, Outcome, Taint};
use serde_json::{Map, Value, json};

use super::task::Call;
use super::{Open, Output};
use crate::tools::ToolCall;

impl Open {
    /// Notes what the gate said to a call.
    pub(super) fn audit_decision(&mut self, key: u64, decision: &Decision, now: u64) {
        let actor = self.settings.session_id.clone();
        let Some(call) = self.task.as_mut().and_then(|task| task.turn.call(key)) else { return };
        let row = call.audit(&actor, decision, now);
        call.judged = Some(Box::new(row.clone()));
        // A question that is not put has its row when that is known.
        if decision.outcome != Outcome::Ask || !self.unattended {
            self.out.push_back(Output::Audit(Box::new(row)));
        }
    }

    /// Notes what became of the question about a call.
    pub(super) fn audit_answer(&mut self, key: u64, mark: ApprovalMark, now: u64) {
        let Some(call) = self.task.as_mut().and_then(|task| task.turn.call(key)) else { return };
        if let Some(row) = &call.judged {
            let row = row.answered(mark, now);
            self.out.push_back(Output::Audit(Box::new(row)));
        }
    }
}

impl Call {
    fn audit(&self, actor: &str, decision: &Decision, now: u64) -> AuditRow {
        let audited = Audited {
            call_id: &self.call_id,
            actor,
            subject: self.subject(),
            arguments: &self.audited_arguments(),
            // What the model has read is not followed in these sessions: the sandbox and the
            // approval policy hold whatever it was told to do.
            taint: &Taint::default(),
            sources: &[],
            field: None,
        };
        AuditRow::new(&audited, decision, now)
    }

    /// The name that policy files know it by.
    pub(super) fn subject(&self) -> &str {
        match &self.call {
            ToolCall::Shell(_) => "shell",
            ToolCall::ApplyPatch { .. } => "apply_patch",
            ToolCall::ReadFile(_) | ToolCall::Search(_) | ToolCall::ListDir(_) => "read",
            ToolCall::SpawnAgent(_) => "spawn",
            ToolCall::UpdatePlan(_) | ToolCall::External { .. } => &self.tool,
        }
    }

    fn audited_arguments(&self) -> Map<String, Value> {
        let arguments = match &self.call {
            ToolCall::Shell(shell) => json!({ "command": shell.command, "cwd": self.cwd }),
            ToolCall::ApplyPatch { input } => json!({ "paths": self.paths, "patch": input }),
            other => other.arguments(),
        };
        match arguments {
            Value::Object(arguments) => arguments,
            other => Map::from_iter([("arguments".to_owned(), other)]),
        }
    }
}
