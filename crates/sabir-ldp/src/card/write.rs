//! A card as it is published: every key that a reference asks for, null where nothing is known.

use serde_json::{Map, Value, json};

use super::{Capability, CostTier, IdentityCard, TrustDomain};
use crate::mode::PayloadMode;
use crate::read::wire_serde;

impl IdentityCard {
    pub fn to_value(&self) -> Value {
        let capabilities: Vec<Value> = self.capabilities.iter().map(Capability::to_value).collect();
        let modes = self.supported_payload_modes.iter().copied().map(PayloadMode::wire_name);
        let metadata: Map<String, Value> =
            self.metadata.iter().map(|(key, text)| (key.clone(), text.as_str().into())).collect();
        let mut card = json!({
            "delegate_id": self.delegate_id.as_str(),
            "name": self.name,
            "description": self.description,
            "model_family": self.model_family,
            "model_version": self.model_version,
            "weights_fingerprint": self.weights_fingerprint,
            "trust_domain": self.trust_domain.to_value(),
            "context_window": self.context_window,
            "reasoning_profile": self.reasoning_profile,
            "cost_profile": self.cost_profile.map(CostTier::wire_name),
            "latency_profile": self.latency_profile,
            "jurisdiction": self.jurisdiction,
            "capabilities": capabilities,
            "supported_payload_modes": modes.collect::<Vec<_>>(),
            "endpoint": self.endpoint.as_ref().map_or("", |endpoint| endpoint.as_str()),
            "metadata": metadata,
        });
        if let Some(key) = self.public_key {
            card["public_key"] = key.to_hex().into();
        }
        card
    }

    /// One line of JSON.
    pub fn to_text(&self) -> String {
        self.to_value().to_string()
    }
}

impl TrustDomain {
    fn to_value(&self) -> Value {
        json!({
            "name": self.name,
            "allow_cross_domain": self.allow_cross_domain,
            "trusted_peers": self.trusted_peers,
        })
    }
}

wire_serde!(IdentityCard, to_value);
