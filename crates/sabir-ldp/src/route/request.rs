//! What the router is asked for.
//!
//! It knows the needs of one task, and nobody who could do it.

use serde::{Deserialize, Serialize};

use crate::id::{DelegateId, SkillName};
use crate::mode::PayloadMode;

/// A task in search of a delegate. What is left out does not restrict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub skill: SkillName,
    pub strategy: Strategy,
    /// Trust domains whose delegates may do it, by the name that our configuration binds them to.
    /// Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    /// `eu` admits `eu` and `eu-west`; a delegate that names no jurisdiction is not admitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jurisdiction: Option<String>,
    /// Tokens that have to fit into the context window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PayloadMode>,
    /// Who is not to do it: the task's own path, those who failed it already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<DelegateId>,
    #[serde(default)]
    pub budget: CallBudget,
    /// How many to name, the best first.
    pub limit: usize,
}

/// What one call may be expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallBudget {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

/// What matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    Quality,
    Cost,
    Latency,
    #[default]
    Balanced,
}

impl Strategy {
    pub const ALL: [Self; 4] = [Self::Quality, Self::Cost, Self::Latency, Self::Balanced];

    /// As it is written on a command line and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Quality => "quality",
            Self::Cost => "cost",
            Self::Latency => "latency",
            Self::Balanced => "balanced",
        }
    }

    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

impl Request {
    /// Anybody who has the skill.
    #[must_use]
    pub fn new(skill: SkillName) -> Self {
        Self {
            skill,
            strategy: Strategy::default(),
            domains: Vec::new(),
            jurisdiction: None,
            context_tokens: None,
            mode: None,
            exclude: Vec::new(),
            budget: CallBudget::default(),
            limit: DEFAULT_LIMIT,
        }
    }
}

/// The chosen one and enough others to fail over to.
const DEFAULT_LIMIT: usize = 5;
