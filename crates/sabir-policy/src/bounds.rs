//! What an agent may do at most, and what is left of that where one works for another: work that is
//! handed on never gains rights by it.

use serde::{Deserialize, Serialize};

use crate::roots::{PatchReach, reach, writable_roots};
use crate::settings::{ApprovalPolicy, SandboxMode, SandboxPolicy};

/// What holds for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub approval: ApprovalPolicy,
    /// Whether anybody is asked. Nobody is with `never`, and for an agent whose questions nobody sees.
    pub is_attended: bool,
    pub sandbox: SandboxPolicy,
    /// The folder that it works in. Absolute.
    pub cwd: String,
}

/// A text that should say what holds, and cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadableBounds;

impl Bounds {
    pub fn new(approval: ApprovalPolicy, sandbox: SandboxPolicy, cwd: String) -> Self {
        Self { approval, is_attended: approval != ApprovalPolicy::Never, sandbox, cwd }
    }

    /// What is left of this where it works for another one: the narrower of both, in its own folder.
    pub fn within(&self, asker: &Self) -> Self {
        Self {
            approval: stricter(self.approval, asker.approval),
            is_attended: self.is_attended && asker.is_attended,
            sandbox: self.sandbox_within(asker),
            cwd: self.cwd.clone(),
        }
    }

    /// Whether it reaches no further than another one, so that nothing has to be taken from it.
    pub fn reaches_no_further_than(&self, asker: &Self) -> bool {
        self.sandbox_within(asker) == self.sandbox
    }

    fn sandbox_within(&self, asker: &Self) -> SandboxPolicy {
        let (own, outer) = (&self.sandbox, &asker.sandbox);
        match (own.mode, outer.mode) {
            (SandboxMode::ReadOnly, _) | (_, SandboxMode::DangerFullAccess) => own.clone(),
            (
                SandboxMode::WorkspaceWrite | SandboxMode::DangerFullAccess,
                SandboxMode::ReadOnly,
            ) => SandboxPolicy::of(SandboxMode::ReadOnly),
            (
                SandboxMode::WorkspaceWrite | SandboxMode::DangerFullAccess,
                SandboxMode::WorkspaceWrite,
            ) => {
                // Another folder than the asker may write in is one that it may read.
                if !asker.may_write_in(&self.cwd) {
                    return SandboxPolicy::of(SandboxMode::ReadOnly);
                }
                let is_free = own.mode == SandboxMode::DangerFullAccess;
                let roots = own.writable_roots.iter().filter(|root| asker.may_write_in(root));
                SandboxPolicy {
                    mode: SandboxMode::WorkspaceWrite,
                    writable_roots: roots.cloned().collect(),
                    network_access: outer.network_access && (own.network_access || is_free),
                    exclude_tmpdir_env_var: own.exclude_tmpdir_env_var
                        || outer.exclude_tmpdir_env_var,
                    exclude_slash_tmp: own.exclude_slash_tmp || outer.exclude_slash_tmp,
                }
            }
        }
    }

    /// Everything below a folder.
    fn may_write_in(&self, folder: &str) -> bool {
        let roots = writable_roots(&self.sandbox, &self.cwd, None, &[]);
        let below = format!("{}/x", folder.trim_end_matches('/'));
        reach(&[below], &roots) == PatchReach::Inside
    }

    /// As one of the constraints of a task.
    pub fn to_constraint(&self) -> String {
        // Enums, texts and flags always have a JSON form.
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("{CONSTRAINT}{json}")
    }

    /// What the constraints of a task say about this; all of them hold.
    pub fn of_constraints(constraints: &[String]) -> Result<Vec<Self>, UnreadableBounds> {
        let ours = constraints.iter().filter_map(|it| it.strip_prefix(CONSTRAINT));
        ours.map(|json| serde_json::from_str(json).map_err(|_| UnreadableBounds)).collect()
    }
}

/// The one that asks more.
fn stricter(one: ApprovalPolicy, other: ApprovalPolicy) -> ApprovalPolicy {
    let asks = |policy| match policy {
        ApprovalPolicy::Never => 0,
        ApprovalPolicy::OnFailure => 1,
        ApprovalPolicy::OnRequest => 2,
        ApprovalPolicy::Untrusted => 3,
    };
    if asks(one) >= asks(other) { one } else { other }
}

/// What such a constraint begins with.
const CONSTRAINT: &str = "sabir-within:";
