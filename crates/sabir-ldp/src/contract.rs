//! The terms under which a task is handed on. It knows their form; holding somebody to them is for
//! the machine that runs the task.

use sabir_base::json::{JsonError, JsonValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::id::ContractId;
use crate::read::{Fields, quoted, wire_serde};
use crate::time::Stamp;

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
        let fields = Fields::of(value)?;
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
        let mut out = Map::new();
        out.insert("contract_id".to_owned(), self.contract_id.as_str().into());
        out.insert("objective".to_owned(), self.objective.as_str().into());
        out.insert("success_criteria".to_owned(), self.success_criteria.as_slice().into());
        out.insert("policy".to_owned(), self.policy.to_value());
        for (key, stamp) in [("deadline", &self.deadline), ("created_at", &self.created_at)] {
            if let Some(stamp) = stamp {
                out.insert(key.to_owned(), stamp.text.as_str().into());
            }
        }
        Value::Object(out)
    }
}

impl ContractPolicy {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
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

    fn to_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("failure_policy".to_owned(), self.failure_policy.wire_name().into());
        if self.budget != Budget::default() {
            let Budget { max_tokens, max_cost_usd } = self.budget;
            let budget = json!({ "max_tokens": max_tokens, "max_cost_usd": max_cost_usd });
            out.insert("budget".to_owned(), budget);
        }
        out.insert("safety_constraints".to_owned(), self.safety_constraints.as_slice().into());
        if let Some(depth) = self.max_delegation_depth {
            out.insert("max_delegation_depth".to_owned(), depth.into());
        }
        Value::Object(out)
    }
}

impl Budget {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        let max_tokens = fields.whole("max_tokens")?;
        Ok(Self { max_tokens, max_cost_usd: fields.amount("max_cost_usd")? })
    }
}

wire_serde!(Contract);
