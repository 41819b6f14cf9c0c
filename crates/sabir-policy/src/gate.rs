//! The gate: one function that says whether an action runs, is asked for or is refused, and by
//! which rule. It asks nobody and remembers nothing; whoever calls it brings the facts.

use serde::{Deserialize, Serialize};

use crate::call::CallFacts;
use crate::command::Verdict;
use crate::labels::Labels;
use crate::roots::PatchReach;
use crate::rule::RuleId;
use crate::ruling::{Ruling, Stance};
use crate::settings::{ApprovalPolicy, SandboxMode, SandboxPolicy};

/// What is known about an action before it happens.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub approval: ApprovalPolicy,
    pub sandbox: &'a SandboxPolicy,
    pub action: Action,
    /// A person approved this: for the session, see [`crate::Grant`]; a tool call of LLMCP by itself
    /// only, see [`crate::Approval`].
    pub granted: bool,
    /// What the policy file says to it.
    pub ruling: Ruling,
}

/// What is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The first run of a command.
    Command {
        assessment: Verdict,
        /// The model asked to run it outside of the sandbox.
        escalated: bool,
    },
    /// The sandbox refused something; the same command would run without it.
    RetryOutsideSandbox,
    Patch {
        reach: PatchReach,
    },
    /// Reading files, searching, listing, planning.
    Read,
    /// A tool of another program.
    Tool {
        effects: ToolEffects,
    },
    /// Another agent starts, under the same policies.
    Spawn,
    /// A tool call that a model proposed in an LLMCP response.
    Call(CallFacts),
}

/// What a tool of another program does, as far as that can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolEffects {
    ReadOnly,
    Unknown,
    Destructive,
}

/// What a server says about its tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolHints {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
}

/// Whether the configuration says that a server's word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTrust {
    Trusted,
    Untrusted,
}

impl ToolEffects {
    /// A server may always call its own tool destructive; that it only reads is believed of a
    /// trusted server alone.
    pub fn from_hints(hints: ToolHints, trust: ServerTrust) -> Self {
        match (hints.destructive, hints.read_only, trust) {
            (Some(true), _, _) => Self::Destructive,
            (_, Some(true), ServerTrust::Trusted) => Self::ReadOnly,
            _ => Self::Unknown,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Allow,
    Ask,
    Deny,
}

/// Where the action happens if it happens.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// Inside of the sandbox, or under its rules.
    Confined,
    Unconfined,
}

/// What the gate said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub outcome: Outcome,
    /// Where it happens if it is allowed, now or by a person.
    pub confinement: Confinement,
    pub rule: RuleId,
    /// For a person and for the model.
    pub reason: String,
    /// Without a person's approval the outcome would be another.
    pub is_approved: bool,
    /// What the action can do at worst.
    pub labels: Labels,
}

impl Decision {
    /// Whether a person's yes would make it happen.
    pub fn yields_to_approval(&self) -> bool {
        match self.outcome {
            Outcome::Allow => false,
            Outcome::Ask => true,
            Outcome::Deny => self.rule.yields_to_approval(),
        }
    }
}

/// Decides about one action.
pub fn decide(facts: &Facts<'_>) -> Decision {
    let (outcome, confinement, rule) = judge(facts);
    let (outcome, rule) = tighten(facts, outcome, rule);
    let is_never = facts.approval == ApprovalPolicy::Never;
    let may_yield = outcome == Outcome::Ask || rule.yields_to_approval() && !is_never;
    let by_grant = facts.granted && outcome != Outcome::Allow && may_yield;
    let reason = match outcome {
        _ if by_grant => match facts.action {
            Action::Call(_) => format!("{}; a person approved it", rule.reason()),
            _ => format!("{}; approved for this session", rule.reason()),
        },
        // A question that nobody may be asked is a refusal, and the model should know why.
        Outcome::Deny if is_never => {
            format!("{}; the approval policy is never, so nobody is asked", rule.reason())
        }
        Outcome::Allow | Outcome::Ask | Outcome::Deny => rule.reason().to_owned(),
    };
    let outcome = if by_grant { Outcome::Allow } else { outcome };
    let labels = Labels::of_action(&facts.action);
    Decision { outcome, confinement, rule, reason, is_approved: by_grant, labels }
}

/// A policy file makes a decision stricter here; where it makes one milder, its rules say so.
fn tighten(facts: &Facts<'_>, outcome: Outcome, rule: RuleId) -> (Outcome, RuleId) {
    match (facts.ruling.stance, outcome) {
        (Stance::Deny, _) => (Outcome::Deny, RuleId::PolicyDenied),
        (Stance::Ask, Outcome::Allow) => match facts.action {
            Action::Call(call) => call.ask(facts.approval, RuleId::PolicyAsks),
            _ => (ask_unless_never(facts.approval), RuleId::PolicyAsks),
        },
        (Stance::Silent | Stance::Ask, _) => (outcome, rule),
    }
}

fn judge(facts: &Facts<'_>) -> (Outcome, Confinement, RuleId) {
    let mode = facts.sandbox.mode;
    let held = match mode {
        SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite => Confinement::Confined,
        SandboxMode::DangerFullAccess => Confinement::Unconfined,
    };
    match facts.action {
        Action::Command { assessment, escalated } => {
            command(facts.approval, held, assessment, escalated)
        }
        Action::RetryOutsideSandbox => retry(facts.approval, held),
        Action::Patch { reach } => patch(facts.approval, mode, reach),
        Action::Read => (Outcome::Allow, held, RuleId::Read),
        Action::Tool { effects } => tool(facts.approval, effects),
        Action::Spawn => match facts.approval {
            ApprovalPolicy::Untrusted => (Outcome::Ask, held, RuleId::SpawnUntrusted),
            ApprovalPolicy::OnRequest | ApprovalPolicy::OnFailure | ApprovalPolicy::Never => {
                (Outcome::Allow, held, RuleId::Spawn)
            }
        },
        // It runs in no sandbox, but under guards of its own: what it may fetch, write and show.
        Action::Call(call) => {
            let (outcome, rule) = call.judge(facts.approval, facts.ruling.waived);
            (outcome, Confinement::Confined, rule)
        }
    }
}

fn command(
    approval: ApprovalPolicy,
    held: Confinement,
    verdict: Verdict,
    escalated: bool,
) -> (Outcome, Confinement, RuleId) {
    if escalated && approval != ApprovalPolicy::OnRequest {
        return (Outcome::Deny, held, RuleId::ExecEscalationRefused);
    }
    let where_asked = if escalated { Confinement::Unconfined } else { held };
    let unasked = match held {
        Confinement::Confined => RuleId::ExecConfined,
        Confinement::Unconfined => RuleId::ExecFullAccess,
    };
    match (approval, verdict) {
        // What only reads loses nothing in the sandbox, so it never leaves it and never asks.
        (_, Verdict::Safe) => (Outcome::Allow, held, RuleId::ExecKnownSafe),
        (ApprovalPolicy::Untrusted | ApprovalPolicy::OnRequest, Verdict::Dangerous) => {
            (Outcome::Ask, where_asked, RuleId::ExecDangerous)
        }
        (ApprovalPolicy::Untrusted, Verdict::Ordinary) => {
            (Outcome::Ask, held, RuleId::ExecUntrusted)
        }
        // Without a sandbox there is nothing to leave.
        (ApprovalPolicy::OnRequest, Verdict::Ordinary)
            if escalated && held == Confinement::Confined =>
        {
            (Outcome::Ask, Confinement::Unconfined, RuleId::ExecEscalated)
        }
        (ApprovalPolicy::OnRequest, Verdict::Ordinary) => (Outcome::Allow, held, unasked),
        // The person said not to ask: the sandbox is what holds, or they chose to have none.
        (
            ApprovalPolicy::OnFailure | ApprovalPolicy::Never,
            Verdict::Ordinary | Verdict::Dangerous,
        ) => (Outcome::Allow, held, unasked),
    }
}

fn retry(approval: ApprovalPolicy, held: Confinement) -> (Outcome, Confinement, RuleId) {
    match (held, approval) {
        (Confinement::Unconfined, _) => (Outcome::Deny, held, RuleId::RetryNoSandbox),
        (Confinement::Confined, ApprovalPolicy::OnFailure | ApprovalPolicy::Untrusted) => {
            (Outcome::Ask, Confinement::Unconfined, RuleId::RetryAsked)
        }
        (Confinement::Confined, ApprovalPolicy::OnRequest | ApprovalPolicy::Never) => {
            (Outcome::Deny, held, RuleId::RetryRefused)
        }
    }
}

fn patch(
    approval: ApprovalPolicy,
    mode: SandboxMode,
    reach: PatchReach,
) -> (Outcome, Confinement, RuleId) {
    let full_access = mode == SandboxMode::DangerFullAccess;
    let confinement = match reach {
        PatchReach::Inside if !full_access => Confinement::Confined,
        PatchReach::Inside | PatchReach::Outside | PatchReach::Protected => Confinement::Unconfined,
    };
    match (reach, approval) {
        (PatchReach::Protected, _) => {
            (ask_unless_never(approval), confinement, RuleId::PatchProtected)
        }
        (_, ApprovalPolicy::Untrusted) => (Outcome::Ask, confinement, RuleId::PatchUntrusted),
        (_, _) if full_access => (Outcome::Allow, confinement, RuleId::PatchFullAccess),
        (PatchReach::Inside, _) => (Outcome::Allow, confinement, RuleId::PatchInside),
        // With on-failure too: nobody has to try in order to know that the sandbox would refuse
        // this, so the question that follows a refusal is put at once.
        (PatchReach::Outside, _) => (ask_unless_never(approval), confinement, RuleId::PatchOutside),
    }
}

/// A tool runs in a process of its own that no sandbox of ours holds, with credentials of its own.
/// So on-failure asks first, since no refusal will ever give it an occasion to ask later, and full
/// access to this machine says nothing about what the tool reaches.
fn tool(approval: ApprovalPolicy, effects: ToolEffects) -> (Outcome, Confinement, RuleId) {
    let rule = match effects {
        // Reading is held to what reading may do anywhere.
        ToolEffects::ReadOnly => {
            return (Outcome::Allow, Confinement::Confined, RuleId::ToolReadOnly);
        }
        ToolEffects::Unknown => RuleId::ToolUnknown,
        ToolEffects::Destructive => RuleId::ToolDestructive,
    };
    (ask_unless_never(approval), Confinement::Unconfined, rule)
}

pub(crate) fn ask_unless_never(approval: ApprovalPolicy) -> Outcome {
    match approval {
        ApprovalPolicy::Untrusted | ApprovalPolicy::OnRequest | ApprovalPolicy::OnFailure => {
            Outcome::Ask
        }
        ApprovalPolicy::Never => Outcome::Deny,
    }
}
