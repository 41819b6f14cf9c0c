//! Identity cards: who a delegate says to be, what it can do, and how well it says it does it.
//!
//! It knows what a card may say. Whether a card is true is for those who measure, and whether its key
//! is the right one for those who trust.

mod capability;
mod endpoint;
mod finding;
mod labels;
mod read;
mod write;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use capability::capability_list;
pub use capability::{Capability, ClaimType, CostTier, Quality};
pub use endpoint::{Endpoint, EndpointError};
pub use finding::{CardFinding, CardReading, Gravity};
pub use labels::LabelError;
pub use read::MAX_CARD_BYTES;

use crate::id::DelegateId;
use crate::mode::PayloadMode;
use crate::value::KeyBytes;

/// What a delegate publishes about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityCard {
    pub delegate_id: DelegateId,
    pub name: String,
    pub description: Option<String>,
    pub model_family: String,
    pub model_version: String,
    pub weights_fingerprint: Option<String>,
    pub trust_domain: TrustDomain,
    /// In tokens.
    pub context_window: u64,
    pub reasoning_profile: Option<String>,
    pub cost_profile: Option<CostTier>,
    pub latency_profile: Option<String>,
    pub jurisdiction: Option<String>,
    pub capabilities: Vec<Capability>,
    pub supported_payload_modes: Vec<PayloadMode>,
    /// None on cards of a dialect that leaves it out: then it is where the card came from.
    pub endpoint: Option<Endpoint>,
    pub metadata: BTreeMap<String, String>,
    /// The key that signs for this delegate (Ed25519).
    pub public_key: Option<KeyBytes>,
}

/// A named boundary, as a card states it. What we believe of it is in our configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustDomain {
    pub name: String,
    #[serde(default)]
    pub allow_cross_domain: bool,
    #[serde(default)]
    pub trusted_peers: Vec<String>,
}

impl TrustDomain {
    /// A domain that trusts only itself.
    pub fn closed(name: impl Into<String>) -> Self {
        Self { name: name.into(), allow_cross_domain: false, trusted_peers: Vec::new() }
    }

    /// Whether somebody of that domain may open a session here.
    pub fn trusts(&self, domain: &str) -> bool {
        self.name == domain
            || self.allow_cross_domain && self.trusted_peers.iter().any(|peer| peer == domain)
    }
}

impl IdentityCard {
    /// In the metadata: a number.
    pub const TASKS_AT_ONCE: &str = "tasks_at_once";

    /// One that says who it is, and nothing else: it can do nothing, and no model is known.
    pub fn named(
        delegate_id: DelegateId,
        name: impl Into<String>,
        trust_domain: TrustDomain,
    ) -> Self {
        Self {
            delegate_id,
            name: name.into(),
            description: None,
            model_family: "unknown".to_owned(),
            model_version: "unknown".to_owned(),
            weights_fingerprint: None,
            trust_domain,
            context_window: 0,
            reasoning_profile: None,
            cost_profile: None,
            latency_profile: None,
            jurisdiction: None,
            capabilities: Vec::new(),
            supported_payload_modes: vec![PayloadMode::Text],
            endpoint: None,
            metadata: BTreeMap::new(),
            public_key: None,
        }
    }

    /// How many tasks it says that it works on at once; more wait, or are refused.
    pub fn tasks_at_once(&self) -> Option<u64> {
        self.metadata.get(Self::TASKS_AT_ONCE)?.parse().ok()
    }

    /// The capability of that name.
    pub fn capability(&self, skill: &str) -> Option<&Capability> {
        self.capabilities.iter().find(|capability| capability.name.as_str() == skill)
    }
}
