//! What tasks use up, and whether that is more than was allowed.

use serde::{Deserialize, Serialize};

use crate::contract::{Budget, Violation};

/// What was used up, as far as it was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// The larger of each: totals do not shrink, whoever reports them.
    #[must_use]
    pub(super) fn at_least(self, other: Self) -> Self {
        let cost = |cost: Option<f64>| cost.filter(|cost| cost.is_finite() && *cost >= 0.0);
        Self {
            tokens: self.tokens.max(other.tokens),
            cost_usd: match (cost(self.cost_usd), cost(other.cost_usd)) {
                (Some(one), Some(other)) => Some(one.max(other)),
                (one, other) => one.or(other),
            },
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: match (self.tokens, other.tokens) {
                (Some(one), Some(other)) => Some(one.saturating_add(other)),
                (one, other) => one.or(other),
            },
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            },
        }
    }

    /// What of the budget is used up, so that nothing more can be done with it.
    pub(super) fn exhausts(self, budget: Budget) -> Option<Violation> {
        let tokens =
            matches!((self.tokens, budget.max_tokens), (Some(used), Some(most)) if used >= most);
        let cost = matches!((self.cost_usd, budget.max_cost_usd), (Some(used), Some(most)) if used >= most);
        match (tokens, cost) {
            (true, _) => Some(Violation::BudgetTokensExceeded),
            (false, true) => Some(Violation::BudgetCostExceeded),
            (false, false) => None,
        }
    }

    /// Whether everything was measured that the budget limits.
    pub(super) fn covers(self, budget: Budget) -> bool {
        (budget.max_tokens.is_none() || self.tokens.is_some())
            && (budget.max_cost_usd.is_none() || self.cost_usd.is_some())
    }

    /// What of the budget is exceeded. What was not measured is not.
    pub(super) fn beyond(self, budget: Budget) -> impl Iterator<Item = Violation> {
        let tokens =
            matches!((self.tokens, budget.max_tokens), (Some(used), Some(most)) if used > most);
        let cost =
            matches!((self.cost_usd, budget.max_cost_usd), (Some(used), Some(most)) if used > most);
        [
            tokens.then_some(Violation::BudgetTokensExceeded),
            cost.then_some(Violation::BudgetCostExceeded),
        ]
        .into_iter()
        .flatten()
    }
}
