//! What an agent may not do alone, as it is put to a person, and the person's answer.

use sabir_engine::{Decision as Allowed, EventMsg, FileChange, Op};
use sabir_policy::as_typed;

use crate::inbox::Decision;

/// A call that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    Command(String),
    Patch(String),
}

impl Question {
    /// The question, and all that it is about.
    pub(crate) fn of(msg: &EventMsg) -> Option<(Self, String)> {
        match msg {
            EventMsg::ExecApprovalRequest { call_id, command, cwd, .. } => {
                let what = format!("run `{}` in {cwd}", as_typed(command));
                Some((Self::Command(call_id.clone()), what))
            }
            EventMsg::ApplyPatchApprovalRequest { call_id, changes, .. } => {
                let names: Vec<&str> = changes.keys().map(String::as_str).collect();
                let mut what = format!("change {}", names.join(", "));
                for (name, change) in changes {
                    what.push('\n');
                    what.push_str(&in_full(name, change));
                }
                Some((Self::Patch(call_id.clone()), what))
            }
            _ => None,
        }
    }

    pub(crate) fn call_id(&self) -> &str {
        match self {
            Self::Command(call_id) | Self::Patch(call_id) => call_id,
        }
    }

    pub(crate) fn answered(self, decision: Decision) -> Op {
        let decision = match decision {
            Decision::Approve => Allowed::Approved,
            Decision::ApproveForSession => Allowed::ApprovedForSession,
            Decision::Deny => Allowed::Denied,
        };
        match self {
            Self::Command(call_id) => Op::ExecApproval { call_id, decision, prefix: None },
            Self::Patch(call_id) => Op::PatchApproval { call_id, decision },
        }
    }
}

/// A change, as lines that come and go.
fn in_full(name: &str, change: &FileChange) -> String {
    let lines = |mark: char, text: &str| -> String {
        text.lines().map(|line| format!("\n{mark}{line}")).collect()
    };
    match change {
        FileChange::Add { content } => format!("add {name}{}", lines('+', content)),
        FileChange::Delete { content } => format!("delete {name}{}", lines('-', content)),
        FileChange::Update { unified_diff, move_path: None } => {
            format!("change {name}\n{unified_diff}")
        }
        FileChange::Update { unified_diff, move_path: Some(to) } => {
            format!("change {name} and move it to {to}\n{unified_diff}")
        }
    }
}
