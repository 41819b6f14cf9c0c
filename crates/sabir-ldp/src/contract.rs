//! The terms under which a task is handed on. It knows their form; holding somebody to them is for
//! the machine that runs the task.

use sabir_base::json::{JsonError, JsonKind, JsonValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ContractId;
use crate::read::{Fields, quoted, wire_serde};
use crate::time::Stamp;
use crate::wire::{Object, Wire};

#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    pub contract_id: ContractId,
    pub objective: String,
    pub success_criteria: Vec<String>,
    pub policy: ContractPolicy,
    /// After this the result is worth nothing.
    pub deadline: Option<Stamp>,
    pub created_at: Option<Stamp>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContractPolicy {
    pub failure_policy: FailurePolicy,
    pub budget: Budget,
    pub safety_constraints: Vec<String>,
    /// How many times the task may be handed on; 0 forbids it.
    pub max_delegation_depth: Option<u64>,
}

/// What a task may use up. What is absent has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    pub max_tokens: Option<u64>,
    pub max_cost_usd: Option<f64>,
}

/// What a result is worth that broke the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// Nothing: the task fails.
    FailClosed,
    /// It is delivered, and its provenance says what was broken.
    #[default]
    FailOpen,
}

/// How a contract can be broken, as provenance names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Violation {
    DeadlineExceeded,
    BudgetTokensExceeded,
    BudgetCostExceeded,
    DelegationDepthExceeded,
}

impl Violation {
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::BudgetTokensExceeded => "budget_tokens_exceeded",
            Self::BudgetCostExceeded => "budget_cost_exceeded",
            Self::DelegationDepthExceeded => "delegation_depth_exceeded",
        }
    }
}

impl FailurePolicy {
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::FailClosed => "fail_closed",
            Self::FailOpen => "fail_open",
        }
    }
}

impl Contract {
    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = terms(value, CONTRACT_KEYS)?;
        Ok(Self {
            contract_id: fields.required_id("contract_id")?,
            objective: fields.text("objective")?.unwrap_or_default(),
            success_criteria: fields.texts("success_criteria")?,
            policy: fields.read("policy", ContractPolicy::read)?.unwrap_or_default(),
            deadline: fields.stamp("deadline")?,
            created_at: fields.stamp("created_at")?,
        })
    }

    pub fn to_value(&self) -> Value {
        self.to_wire().to_value()
    }

    pub(crate) fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(6);
        out.put("contract_id", self.contract_id.as_str());
        out.put("objective", self.objective.as_str());
        out.put("success_criteria", self.success_criteria.as_slice());
        out.put("policy", self.policy.to_wire());
        for (key, stamp) in [("deadline", &self.deadline), ("created_at", &self.created_at)] {
            out.put_some(key, stamp.as_ref().map(|stamp| stamp.text.as_str()));
        }
        out.into()
    }
}

impl ContractPolicy {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = terms(value, POLICY_KEYS)?;
        let failure_policy = match fields.optional("failure_policy") {
            None => FailurePolicy::default(),
            // Terms that we do not understand cannot be kept.
            Some(policy) => match policy.string()?.as_ref() {
                "fail_closed" => FailurePolicy::FailClosed,
                "fail_open" => FailurePolicy::FailOpen,
                other => {
                    return Err(policy.error(format!("unknown failure policy {}", quoted(other))));
                }
            },
        };
        Ok(Self {
            failure_policy,
            budget: fields.read("budget", Budget::read)?.unwrap_or_default(),
            safety_constraints: fields.texts("safety_constraints")?,
            max_delegation_depth: fields.whole("max_delegation_depth")?,
        })
    }

    fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(4);
        out.put("failure_policy", self.failure_policy.wire_name());
        if self.budget != Budget::default() {
            let mut budget = Object::with_room(2);
            budget.put("max_tokens", self.budget.max_tokens);
            budget.put("max_cost_usd", self.budget.max_cost_usd);
            out.put("budget", budget);
        }
        out.put("safety_constraints", self.safety_constraints.as_slice());
        out.put_some("max_delegation_depth", self.max_delegation_depth);
        out.into()
    }
}

impl Budget {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = terms(value, BUDGET_KEYS)?;
        let max_tokens = fields.whole("max_tokens")?;
        Ok(Self { max_tokens, max_cost_usd: fields.amount("max_cost_usd")? })
    }
}

/// A part of a contract. Elsewhere a key that we never heard of is passed over; here it is a term, and
/// whoever wrote it would believe that it is kept.
fn terms<'a>(value: JsonValue<'a>, keys: &[&str]) -> Result<Fields<'a>, JsonError> {
    let fields = Fields::of(value)?;
    let mut unknown = value.fields().filter(|(key, _)| !keys.contains(key));
    match unknown.find(|(_, term)| term.kind() != JsonKind::Null) {
        Some((key, term)) => Err(term.error(format!("unknown term {}", quoted(key)))),
        None => Ok(fields),
    }
}

const CONTRACT_KEYS: &[&str] =
    &["contract_id", "objective", "success_criteria", "policy", "deadline", "created_at"];
const POLICY_KEYS: &[&str] =
    &["failure_policy", "budget", "safety_constraints", "max_delegation_depth"];
const BUDGET_KEYS: &[&str] = &["max_tokens", "max_cost_usd"];

wire_serde!(Contract);
