//! The rules for tool calls, from the facts alone. Those that apply are tried from the strictest on,
//! so that a fact more never makes a decision milder.

use crate::gate::{Outcome, ask_unless_never};
use crate::rule::RuleId;
use crate::ruling::{Waivable, Waivers};
use crate::settings::ApprovalPolicy;

use super::facts::{AddressKind, Budget, CallFacts, FieldKind, Offer, OriginKind, Reading, Scope};

impl CallFacts {
    /// What is said to the call, and by which rule.
    pub(crate) fn judge(&self, approval: ApprovalPolicy, waived: Waivers) -> (Outcome, RuleId) {
        if let Some(rule) = hard_denial(self) {
            return (Outcome::Deny, rule);
        }
        // Private, untrusted and a way out: with all three a stranger's page can carry things away.
        if self.private && self.untrusted && self.labels.egress {
            // A person can lift this one, so that it counts as a question.
            return match self.ask(approval, RuleId::CallExfiltration) {
                (_, rule @ RuleId::CallTooManyAsks) => (Outcome::Deny, rule),
                _ => (Outcome::Deny, RuleId::CallExfiltration),
            };
        }
        let is_waived = |it: Option<Waivable>| it.is_some_and(|it| waived.contains(it));
        let mut questions = questions(self, approval).into_iter().flatten();
        match questions.find(|(_, waivable)| !is_waived(*waivable)) {
            Some((rule, _)) => self.ask(approval, rule),
            None => (Outcome::Allow, allowance(self, approval)),
        }
    }

    /// What becomes of a question, which is not always put.
    pub(crate) fn ask(&self, approval: ApprovalPolicy, rule: RuleId) -> (Outcome, RuleId) {
        match ask_unless_never(approval) {
            Outcome::Ask if self.budget == Budget::NoAsks => {
                (Outcome::Deny, RuleId::CallTooManyAsks)
            }
            outcome => (outcome, rule),
        }
    }
}

/// What neither a person nor a policy can allow.
fn hard_denial(facts: &CallFacts) -> Option<RuleId> {
    match facts.field {
        _ if facts.reading == Reading::Loose => Some(RuleId::CallNotStrict),
        _ if facts.offer == Offer::NotMade => Some(RuleId::CallNotOffered),
        Some(FieldKind::Credential) => Some(RuleId::CallCredentialField),
        Some(FieldKind::Payment) => Some(RuleId::CallPaymentField),
        Some(FieldKind::PersonalId) => Some(RuleId::CallPersonalIdField),
        Some(FieldKind::Ordinary | FieldKind::Unknown) | None => match facts.address {
            Some(AddressKind::Unusable) => Some(RuleId::CallUnusableUrl),
            _ if facts.budget == Budget::NoCalls => Some(RuleId::CallTooMany),
            _ => None,
        },
    }
}

type Question = (RuleId, Option<Waivable>);

/// Every reason to ask, the most telling first: it is what the person reads.
fn questions(facts: &CallFacts, approval: ApprovalPolicy) -> [Option<Question>; 10] {
    let labels = facts.labels;
    let when = |applies: bool, rule, waivable| applies.then_some((rule, waivable));
    let acts = labels.egress || labels.has_side_effect();
    [
        when(
            facts.address == Some(AddressKind::Invented),
            RuleId::CallInventedUrl,
            Some(Waivable::InventedUrl),
        ),
        when(
            facts.address == Some(AddressKind::Found),
            RuleId::CallUnlinkedUrl,
            Some(Waivable::UnlinkedUrl),
        ),
        when(
            facts.sensitive && labels.egress,
            RuleId::CallSensitiveText,
            Some(Waivable::SensitiveText),
        ),
        when(
            facts.origin == OriginKind::Other && acts,
            RuleId::CallOtherOrigin,
            Some(Waivable::OtherOrigin),
        ),
        when(facts.scope == Scope::Other, RuleId::CallOtherCollection, None),
        when(facts.field == Some(FieldKind::Unknown), RuleId::CallUnknownField, None),
        when(labels.destructive, RuleId::CallDestructive, Some(Waivable::Destructive)),
        when(
            facts.untrusted && labels.egress,
            RuleId::CallTaintedEgress,
            Some(Waivable::TaintedEgress),
        ),
        when(
            facts.untrusted && labels.has_side_effect(),
            RuleId::CallTaintedEffect,
            Some(Waivable::TaintedEffect),
        ),
        when(acts && approval == ApprovalPolicy::Untrusted, RuleId::CallUntrusted, None),
    ]
}

fn allowance(facts: &CallFacts, approval: ApprovalPolicy) -> RuleId {
    let labels = facts.labels;
    if questions(facts, approval).iter().any(Option::is_some) {
        RuleId::CallWaived
    } else if labels.egress || labels.has_side_effect() {
        RuleId::CallRequested
    } else {
        RuleId::CallReads
    }
}
