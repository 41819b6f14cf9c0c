//! The rules of the gate by name, each with its reason in words. The truth table shows where each
//! applies.

use serde::{Deserialize, Serialize};

/// The rule that decided. Its code is stable: journals hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RuleId {
    #[serde(rename = "exec.known-safe")]
    ExecKnownSafe,
    #[serde(rename = "exec.dangerous")]
    ExecDangerous,
    #[serde(rename = "exec.escalated")]
    ExecEscalated,
    #[serde(rename = "exec.escalation-refused")]
    ExecEscalationRefused,
    #[serde(rename = "exec.untrusted")]
    ExecUntrusted,
    #[serde(rename = "exec.confined")]
    ExecConfined,
    #[serde(rename = "exec.full-access")]
    ExecFullAccess,
    #[serde(rename = "retry.asked")]
    RetryAsked,
    #[serde(rename = "retry.refused")]
    RetryRefused,
    #[serde(rename = "retry.no-sandbox")]
    RetryNoSandbox,
    #[serde(rename = "patch.protected")]
    PatchProtected,
    #[serde(rename = "patch.untrusted")]
    PatchUntrusted,
    #[serde(rename = "patch.inside")]
    PatchInside,
    #[serde(rename = "patch.full-access")]
    PatchFullAccess,
    #[serde(rename = "patch.outside")]
    PatchOutside,
    #[serde(rename = "read")]
    Read,
    #[serde(rename = "tool.read-only")]
    ToolReadOnly,
    #[serde(rename = "tool.unknown")]
    ToolUnknown,
    #[serde(rename = "tool.destructive")]
    ToolDestructive,
    #[serde(rename = "spawn.untrusted")]
    SpawnUntrusted,
    #[serde(rename = "spawn")]
    Spawn,
}

impl RuleId {
    pub fn code(self) -> &'static str {
        self.row().0
    }

    pub(crate) fn reason(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::ExecKnownSafe => ("exec.known-safe", "this command is known to only read"),
            Self::ExecDangerous => {
                ("exec.dangerous", "this command destroys what cannot be brought back")
            }
            Self::ExecEscalated => {
                ("exec.escalated", "the model asks to run this outside of the sandbox")
            }
            Self::ExecEscalationRefused => (
                "exec.escalation-refused",
                "only the approval policy on-request lets a command ask to leave the sandbox; \
                 run it without with_escalated_permissions",
            ),
            Self::ExecUntrusted => (
                "exec.untrusted",
                "the approval policy is untrusted, and this command is not known to only read",
            ),
            Self::ExecConfined => ("exec.confined", "the sandbox bounds what this command can do"),
            Self::ExecFullAccess => {
                ("exec.full-access", "the settings give commands full access without asking")
            }
            Self::RetryAsked => {
                ("retry.asked", "the sandbox refused something; it can be run again without")
            }
            Self::RetryRefused => (
                "retry.refused",
                "the sandbox refused something, and the approval policy does not offer to leave it",
            ),
            Self::RetryNoSandbox => {
                ("retry.no-sandbox", "there is no sandbox that could have refused something")
            }
            Self::PatchProtected => (
                "patch.protected",
                "this patch changes the repository's own files or the agent's own state",
            ),
            Self::PatchUntrusted => {
                ("patch.untrusted", "the approval policy is untrusted, and a patch writes files")
            }
            Self::PatchInside => {
                ("patch.inside", "this patch stays inside of the writable folders")
            }
            Self::PatchFullAccess => {
                ("patch.full-access", "the settings give full access to all files")
            }
            Self::PatchOutside => {
                ("patch.outside", "this patch writes outside of the writable folders")
            }
            Self::Read => ("read", "reading changes nothing"),
            Self::ToolReadOnly => {
                ("tool.read-only", "a trusted server says that this tool only reads")
            }
            Self::ToolUnknown => (
                "tool.unknown",
                "nobody knows what this tool does, and it runs outside of the sandbox",
            ),
            Self::ToolDestructive => (
                "tool.destructive",
                "this tool's own server calls it destructive, and it runs outside of the sandbox",
            ),
            Self::SpawnUntrusted => (
                "spawn.untrusted",
                "the approval policy is untrusted, and another agent acts and spends",
            ),
            Self::Spawn => ("spawn", "the other agent is held by the same rules"),
        }
    }
}
