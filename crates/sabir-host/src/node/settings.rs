//! What a node is: its card, whom it trusts, what it can do and how much it takes on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sabir_ldp::{DelegateLimits, IdentityCard, ReplayLimits, SkillName, Trust};

use super::skill::Skill;

#[derive(Debug, Clone)]
pub struct NodeSettings {
    /// What is published; its public key is put in from the node's own.
    pub card: IdentityCard,
    pub trust: Trust,
    pub replay: ReplayLimits,
    pub limits: DelegateLimits,
    /// Who does what the card offers.
    pub skills: BTreeMap<SkillName, Arc<dyn Skill>>,
    /// How long a request waits for its task before it is told the state.
    pub patience: Duration,
}

impl NodeSettings {
    pub fn new(card: IdentityCard, trust: Trust) -> Self {
        Self {
            card,
            trust,
            replay: ReplayLimits::default(),
            limits: DelegateLimits::default(),
            skills: BTreeMap::new(),
            patience: PATIENCE,
        }
    }
}

/// Below the half minute after which clients and whatever is between give up.
const PATIENCE: Duration = Duration::from_secs(25);
