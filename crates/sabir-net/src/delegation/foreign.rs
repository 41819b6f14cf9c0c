//! What is made for those who have no cards and no provenance of this protocol: a card of what they
//! offer, and a record of what we measured.

use std::collections::BTreeMap;

use sabir_base::text::one_line;
use sabir_ldp::{
    Capability, DelegateId, ErrorCategory, IdentityCard, LdpError, PayloadMode, Provenance,
    Refusal, Severity, SkillName, TrustDomain,
};
use serde_json::Value;

use super::remote::Product;
use crate::ldp::client::now;

/// Something that can be asked for.
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) input_schema: Option<Value>,
}

/// A card for who is known by an address. It claims nothing; the address is its id.
pub(super) fn foreign_card(
    address: &str,
    name: &str,
    version: &str,
    offers: Vec<Offer>,
) -> Result<IdentityCard, String> {
    let delegate_id =
        DelegateId::new(address).map_err(|error| format!("its address names nobody: {error}"))?;
    let capabilities = offers.into_iter().filter_map(|offer| {
        let mut capability = Capability::named(SkillName::new(offer.name).ok()?);
        capability.description = offer.description;
        capability.input_schema = offer.input_schema;
        Some(capability)
    });
    Ok(IdentityCard {
        delegate_id,
        name: one_line(name, 200),
        description: None,
        model_family: "unknown".to_owned(),
        model_version: one_line(version, 200),
        weights_fingerprint: None,
        // Nobody vouches for it.
        trust_domain: TrustDomain::closed("unknown"),
        context_window: 0,
        reasoning_profile: None,
        cost_profile: None,
        latency_profile: None,
        jurisdiction: None,
        capabilities: capabilities.collect(),
        supported_payload_modes: vec![PayloadMode::Text],
        endpoint: None,
        metadata: BTreeMap::new(),
        public_key: None,
    })
}

/// A result with what we know of its making.
pub(super) fn measured(
    delegate: &DelegateId,
    version: &str,
    output: Value,
    mode: PayloadMode,
) -> Product {
    let mut provenance = Provenance::new(delegate.clone(), one_line(version, 200), mode);
    provenance.timestamp = Some(now().into());
    Product { output, provenance, mode, signed_record: None }
}

/// Nobody is there, or nobody who can be spoken to. Somebody else may be.
pub(super) fn unreachable(address: &str, why: &str) -> LdpError {
    LdpError {
        code: "UNREACHABLE".to_owned(),
        category: ErrorCategory::Transport,
        message: format!("{}: {}", one_line(address, 200), one_line(why, 500)),
        severity: Severity::Error,
        retryable: true,
        partial_output: None,
    }
}

/// It said no, in its own words.
pub(super) fn said_no(refusal: Refusal, words: &str) -> LdpError {
    refusal.error(sabir_base::text::clip(words, 4000).into_owned())
}
