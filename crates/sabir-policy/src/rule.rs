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
    #[serde(rename = "policy.denied")]
    PolicyDenied,
    #[serde(rename = "policy.asks")]
    PolicyAsks,
    #[serde(rename = "call.not-strict")]
    CallNotStrict,
    #[serde(rename = "call.not-offered")]
    CallNotOffered,
    #[serde(rename = "call.credential-field")]
    CallCredentialField,
    #[serde(rename = "call.payment-field")]
    CallPaymentField,
    #[serde(rename = "call.personal-id-field")]
    CallPersonalIdField,
    #[serde(rename = "call.unusable-url")]
    CallUnusableUrl,
    #[serde(rename = "call.too-many")]
    CallTooMany,
    #[serde(rename = "call.too-many-asks")]
    CallTooManyAsks,
    #[serde(rename = "call.exfiltration")]
    CallExfiltration,
    #[serde(rename = "call.invented-url")]
    CallInventedUrl,
    #[serde(rename = "call.unlinked-url")]
    CallUnlinkedUrl,
    #[serde(rename = "call.sensitive-text")]
    CallSensitiveText,
    #[serde(rename = "call.other-origin")]
    CallOtherOrigin,
    #[serde(rename = "call.other-collection")]
    CallOtherCollection,
    #[serde(rename = "call.unknown-field")]
    CallUnknownField,
    #[serde(rename = "call.destructive")]
    CallDestructive,
    #[serde(rename = "call.tainted-egress")]
    CallTaintedEgress,
    #[serde(rename = "call.tainted-effect")]
    CallTaintedEffect,
    #[serde(rename = "call.untrusted")]
    CallUntrusted,
    #[serde(rename = "call.waived")]
    CallWaived,
    #[serde(rename = "call.requested")]
    CallRequested,
    #[serde(rename = "call.reads")]
    CallReads,
    #[serde(rename = "call.led-elsewhere")]
    CallLedElsewhere,
}

impl RuleId {
    /// The name of the rule.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Why it decided as it did, in one word for programs. It is as stable as the rule's name.
    pub fn reason_code(self) -> &'static str {
        self.row().reason_code
    }

    /// What would have led to another decision, in words.
    pub fn remedy(self) -> &'static str {
        self.row().remedy
    }

    pub(crate) fn reason(self) -> &'static str {
        self.row().reason
    }

    /// Whether a person's approval of this very action turns its refusal into a yes. Other refusals
    /// stand whatever anybody says.
    pub fn yields_to_approval(self) -> bool {
        self == Self::CallExfiltration
    }

    fn row(self) -> Row {
        let (code, reason_code, reason, remedy) = match self {
            Self::ExecKnownSafe => (
                "exec.known-safe",
                "known_safe_command",
                "this command is known to only read",
                "nothing: what only reads always runs",
            ),
            Self::ExecDangerous => (
                "exec.dangerous",
                "dangerous_command",
                "this command destroys what cannot be brought back",
                "a person's yes, or a command that does not destroy",
            ),
            Self::ExecEscalated => (
                "exec.escalated",
                "escalated_command",
                "the model asks to run this outside of the sandbox",
                "a person's yes, or running it inside of the sandbox",
            ),
            Self::ExecEscalationRefused => (
                "exec.escalation-refused",
                "escalation_refused",
                "only the approval policy on-request lets a command ask to leave the sandbox; run it without with_escalated_permissions",
                "running it without with_escalated_permissions, or the approval policy on-request",
            ),
            Self::ExecUntrusted => (
                "exec.untrusted",
                "command_not_known_safe",
                "the approval policy is untrusted, and this command is not known to only read",
                "a person's yes, or the approval policy on-request",
            ),
            Self::ExecConfined => (
                "exec.confined",
                "command_confined",
                "the sandbox bounds what this command can do",
                "the approval policy untrusted would have asked",
            ),
            Self::ExecFullAccess => (
                "exec.full-access",
                "command_full_access",
                "the settings give commands full access without asking",
                "a sandbox would have held it, and the approval policy untrusted would have asked",
            ),
            Self::RetryAsked => (
                "retry.asked",
                "retry_outside_sandbox",
                "the sandbox refused something; it can be run again without",
                "a person's yes",
            ),
            Self::RetryRefused => (
                "retry.refused",
                "retry_refused",
                "the sandbox refused something, and the approval policy does not offer to leave it",
                "the approval policy on-failure or untrusted would have asked",
            ),
            Self::RetryNoSandbox => (
                "retry.no-sandbox",
                "retry_without_sandbox",
                "there is no sandbox that could have refused something",
                "nothing: it ran without a sandbox already",
            ),
            Self::PatchProtected => (
                "patch.protected",
                "protected_files",
                "this patch changes the repository's own files or the agent's own state",
                "a person's yes, or a patch that leaves these files alone",
            ),
            Self::PatchUntrusted => (
                "patch.untrusted",
                "patch_asked",
                "the approval policy is untrusted, and a patch writes files",
                "a person's yes, or the approval policy on-request",
            ),
            Self::PatchInside => (
                "patch.inside",
                "patch_inside",
                "this patch stays inside of the writable folders",
                "the approval policy untrusted would have asked",
            ),
            Self::PatchFullAccess => (
                "patch.full-access",
                "patch_full_access",
                "the settings give full access to all files",
                "a sandbox would have held it to its folders",
            ),
            Self::PatchOutside => (
                "patch.outside",
                "patch_outside",
                "this patch writes outside of the writable folders",
                "a person's yes, or the folder among the writable ones",
            ),
            Self::Read => (
                "read",
                "reads_only",
                "reading changes nothing",
                "nothing: reading is always allowed",
            ),
            Self::ToolReadOnly => (
                "tool.read-only",
                "tool_reads_only",
                "a trusted server says that this tool only reads",
                "a server that is not trusted would not have been believed",
            ),
            Self::ToolUnknown => (
                "tool.unknown",
                "tool_unknown",
                "nobody knows what this tool does, and it runs outside of the sandbox",
                "a person's yes, or a trusted server that says it only reads",
            ),
            Self::ToolDestructive => (
                "tool.destructive",
                "tool_destructive",
                "this tool's own server calls it destructive, and it runs outside of the sandbox",
                "a person's yes",
            ),
            Self::SpawnUntrusted => (
                "spawn.untrusted",
                "spawn_asked",
                "the approval policy is untrusted, and another agent acts and spends",
                "a person's yes, or the approval policy on-request",
            ),
            Self::Spawn => (
                "spawn",
                "spawn_allowed",
                "the other agent is held by the same rules",
                "the approval policy untrusted would have asked",
            ),
            Self::PolicyDenied => (
                "policy.denied",
                "policy_denied",
                "the policy file forbids this",
                "another policy file",
            ),
            Self::PolicyAsks => (
                "policy.asks",
                "policy_asks",
                "the policy file wants a person to be asked",
                "a person's yes, or another policy file",
            ),
            Self::CallNotStrict => (
                "call.not-strict",
                "not_strict",
                "the answer had to be repaired or was not what it should be, and such an answer runs nothing",
                "an answer that is valid as it stands",
            ),
            Self::CallNotOffered => (
                "call.not-offered",
                "not_offered",
                "the model was not told of this tool for this question",
                "a question that is asked with this tool",
            ),
            Self::CallCredentialField => (
                "call.credential-field",
                "credential_field",
                "the field takes a password, a code or another secret, and no model fills it",
                "nothing: a person fills such a field by hand",
            ),
            Self::CallPaymentField => (
                "call.payment-field",
                "payment_field",
                "the field takes a means of payment, and no model fills it",
                "nothing: a person fills such a field by hand",
            ),
            Self::CallPersonalIdField => (
                "call.personal-id-field",
                "personal_id_field",
                "the field takes a number that identifies a person, and no model fills it",
                "nothing: a person fills such a field by hand",
            ),
            Self::CallUnusableUrl => (
                "call.unusable-url",
                "unusable_url",
                "the address is not a plain http or https address",
                "an address with http or https, a host, no name and password and no hidden characters",
            ),
            Self::CallTooMany => (
                "call.too-many",
                "too_many_calls",
                "this turn has made as many calls as a turn may",
                "the next turn",
            ),
            Self::CallTooManyAsks => (
                "call.too-many-asks",
                "too_many_asks",
                "this would have to be asked for, and this turn has asked as often as a turn may",
                "the next turn",
            ),
            Self::CallExfiltration => (
                "call.exfiltration",
                "private_data_exposed",
                "private content and content of strangers are in the context, and this call sends something out",
                "a person's yes to this very call, or a context without the private or without the untrusted content",
            ),
            Self::CallInventedUrl => (
                "call.invented-url",
                "invented_url",
                "nobody typed this address and no source links it: the model made it up",
                "a person's yes, or an address that the user typed or a source links",
            ),
            Self::CallUnlinkedUrl => (
                "call.unlinked-url",
                "unlinked_url",
                "this address stands in the text of a source, but the user did not type it and no source links it",
                "a person's yes, or the user's typing it",
            ),
            Self::CallSensitiveText => (
                "call.sensitive-text",
                "sensitive_text",
                "what would be sent looks like a person's number, address or key",
                "a person's yes, or a text without it",
            ),
            Self::CallOtherOrigin => (
                "call.other-origin",
                "other_origin",
                "this leads away from the site that the user opened",
                "a person's yes, or the user's typing the address",
            ),
            Self::CallOtherCollection => (
                "call.other-collection",
                "other_collection",
                "this reaches beyond the collection that the question is about",
                "a person's yes, or the user's naming it by its id",
            ),
            Self::CallUnknownField => (
                "call.unknown-field",
                "unknown_field",
                "nothing is known of the field that this fills",
                "a person's yes, or a field with a name or label",
            ),
            Self::CallDestructive => (
                "call.destructive",
                "cannot_be_undone",
                "what this does may not be possible to take back",
                "a person's yes",
            ),
            Self::CallTaintedEgress => (
                "call.tainted-egress",
                "tainted_egress",
                "content of strangers is in the context, and this call sends something out",
                "a person's yes, or a context without untrusted content",
            ),
            Self::CallTaintedEffect => (
                "call.tainted-effect",
                "tainted_effect",
                "content of strangers is in the context, and this call changes something",
                "a person's yes, or a context without untrusted content",
            ),
            Self::CallUntrusted => (
                "call.untrusted",
                "call_asked",
                "the approval policy is untrusted, and this call does more than read",
                "a person's yes, or the approval policy on-request",
            ),
            Self::CallWaived => (
                "call.waived",
                "waived_by_policy",
                "the policy file says not to ask for this",
                "without the policy file it would have been asked for",
            ),
            Self::CallRequested => (
                "call.requested",
                "on_request",
                "it serves the user's own request, and no stranger's content is in the context",
                "untrusted content in the context, or an address that the user did not type, would have been asked about",
            ),
            Self::CallLedElsewhere => (
                "call.led-elsewhere",
                "led_elsewhere",
                "the page leads to a host that this call was not allowed for",
                "a call of its own for that address, or a loosening that names that host, too",
            ),
            Self::CallReads => (
                "call.reads",
                "call_reads_only",
                "it changes nothing and sends nothing out",
                "nothing: it changes nothing and sends nothing out",
            ),
        };
        Row { code, reason_code, reason, remedy }
    }
}

/// What is known of a rule.
struct Row {
    code: &'static str,
    reason_code: &'static str,
    reason: &'static str,
    remedy: &'static str,
}
