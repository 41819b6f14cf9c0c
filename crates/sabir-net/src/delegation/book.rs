//! What is remembered about delegates between runs. It knows what is asked and told, not where it is
//! kept.

use sabir_ldp::{
    Breaker, DelegateId, IdentityCard, PayloadMode, Provenance, SkillName, TallyRecord, TaskOutcome,
};
use serde_json::Value;

use crate::ldp::client::Pins;

/// Where delegates, their records and the delegations made are kept.
pub trait PeerBook: Pins {
    /// The delegates that are known, with the card that each was last seen with.
    fn known(&self) -> Result<Vec<KnownDelegate>, String>;

    /// What is known of everybody's outcomes with a skill.
    fn tallies(&self, skill: &SkillName) -> Result<Vec<TallyRecord>, String>;

    fn breakers(&self) -> Result<Vec<(DelegateId, Breaker)>, String>;

    /// Counts an outcome: the tally and the breaker of its delegate, in one step.
    fn record(&self, outcome: &TaskOutcome) -> Result<(), String>;

    /// Notes a delegation that was made.
    fn note(&self, entry: &DelegationNote) -> Result<(), String>;
}

#[derive(Debug, Clone, PartialEq)]
pub struct KnownDelegate {
    /// As it was added; see [`Address`](super::Address).
    pub address: String,
    pub card: IdentityCard,
}

/// A delegation for the log.
#[derive(Debug, Clone, PartialEq)]
pub struct DelegationNote {
    pub id: String,
    pub at_ms: u64,
    pub delegate: Option<DelegateId>,
    pub skill: Option<SkillName>,
    pub payload_mode: Option<PayloadMode>,
    /// `done`, or the code of its error.
    pub status: String,
    pub chosen: Value,
    pub provenance: Option<Provenance>,
    pub cost_usd: Option<f64>,
}
