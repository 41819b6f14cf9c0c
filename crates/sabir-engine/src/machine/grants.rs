//! What was approved for the session: named, listed, and taken back by name.

use sabir_policy::{Confinement, Grant, Request};
use serde::{Deserialize, Serialize};

use super::task::{Call, CallState};
use crate::protocol::ApprovalGrant;
use crate::tools::{Shell, ToolCall};

/// Something that was approved, with the name to take it back by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrantRecord {
    pub approval_id: String,
    pub grant: Grant,
}

#[derive(Debug, Default)]
pub(super) struct Grants {
    granted: Vec<GrantRecord>,
    /// How many there ever were.
    count: u64,
}

impl Grants {
    /// Gives a new grant its name.
    pub(super) fn name(&self, grant: Grant) -> GrantRecord {
        GrantRecord { approval_id: format!("a{}", self.count + 1), grant }
    }

    pub(super) fn add(&mut self, record: GrantRecord) {
        self.count += 1;
        self.granted.push(record);
    }

    pub(super) fn has(&self, approval_id: &str) -> bool {
        self.granted.iter().any(|record| record.approval_id == approval_id)
    }

    pub(super) fn remove(&mut self, approval_id: &str) {
        self.granted.retain(|record| record.approval_id != approval_id);
    }

    pub(super) fn list(&self) -> Vec<ApprovalGrant> {
        let describe = |record: &GrantRecord| ApprovalGrant {
            approval_id: record.approval_id.clone(),
            covers: record.grant.describe(),
        };
        self.granted.iter().map(describe).collect()
    }

    pub(super) fn cover(&self, request: &Request<'_>) -> bool {
        self.granted.iter().any(|record| record.grant.covers(request))
    }
}

/// What `approved_for_session` would cover.
pub(super) fn scope_of(call: &Call) -> String {
    grant_for(call, None).map_or_else(|words| words, |grant| grant.describe())
}

/// What `approved_for_session` covers.
pub(super) fn grant_for(call: &Call, prefix: Option<Vec<String>>) -> Result<Grant, String> {
    match (&call.call, prefix) {
        (ToolCall::Shell(shell), None) => Ok(Grant::Command {
            argv: shell.command.clone(),
            cwd: call.cwd.clone(),
            confinement: asked_confinement(call, shell),
        }),
        (ToolCall::Shell(shell), Some(argv_prefix)) => {
            if argv_prefix.is_empty() || !shell.command.starts_with(&argv_prefix) {
                return Err("the command does not begin with that prefix".to_owned());
            }
            let confinement = asked_confinement(call, shell);
            Ok(Grant::Prefix { argv_prefix, cwd: Some(call.cwd.clone()), confinement })
        }
        (_, Some(_)) => Err("only commands have a prefix".to_owned()),
        (ToolCall::ApplyPatch { .. }, None) => Ok(Grant::Files { paths: call.paths.clone() }),
        (_, None) => {
            let (server, tool) = server_and_tool(&call.tool);
            Ok(Grant::Tool { server: server.to_owned(), tool: tool.to_owned() })
        }
    }
}

/// What is asked for may be to run it again without the sandbox.
fn asked_confinement(call: &Call, shell: &Shell) -> Confinement {
    match call.state {
        CallState::Asking { confinement: Confinement::Unconfined, .. } => Confinement::Unconfined,
        _ => confinement_of(shell),
    }
}

/// Where a command would run if it were approved.
pub(super) fn confinement_of(shell: &Shell) -> Confinement {
    match shell.escalated {
        true => Confinement::Unconfined,
        false => Confinement::Confined,
    }
}

/// The two halves of a name like `mcp__server__tool`.
pub(super) fn server_and_tool(name: &str) -> (&str, &str) {
    name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).unwrap_or(("sabir", name))
}
