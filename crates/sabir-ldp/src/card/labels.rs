//! A card as labels, for runtimes whose agent cards carry only those. Labels say less than a card:
//! from them comes what the card of such a runtime did not have.

use std::collections::BTreeMap;

use super::{CostTier, IdentityCard};
use crate::id::DelegateId;
use crate::mode::PayloadMode;

impl IdentityCard {
    /// The `ldp.*` labels; what is absent has none.
    pub fn to_labels(&self) -> BTreeMap<String, String> {
        let modes: Vec<&str> =
            self.supported_payload_modes.iter().map(|mode| mode.wire_name()).collect();
        let labels = [
            ("ldp.delegate_id", Some(self.delegate_id.to_string())),
            ("ldp.model_family", Some(self.model_family.clone())),
            ("ldp.model_version", Some(self.model_version.clone())),
            ("ldp.trust_domain", Some(self.trust_domain.name.clone())),
            ("ldp.context_window", Some(self.context_window.to_string())),
            ("ldp.weights_fingerprint", self.weights_fingerprint.clone()),
            ("ldp.reasoning_profile", self.reasoning_profile.clone()),
            ("ldp.cost_profile", self.cost_profile.map(|tier| tier.wire_name().to_owned())),
            ("ldp.latency_profile", self.latency_profile.clone()),
            ("ldp.jurisdiction", self.jurisdiction.clone()),
            ("ldp.payload_modes", Some(modes.join(","))),
        ];
        let present = labels.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?)));
        present.collect()
    }

    /// Takes over what `ldp.*` labels say, for a card that was made from an agent card. Labels of
    /// others are passed over; the first label that cannot be is named, and nothing is taken over.
    pub fn with_labels(
        mut self,
        labels: &BTreeMap<String, String>,
    ) -> Result<IdentityCard, LabelError> {
        for (key, text) in labels {
            let Some(field) = key.strip_prefix("ldp.") else { continue };
            self.set(field, text).ok_or_else(|| LabelError { label: key.clone() })?;
        }
        Ok(self)
    }

    fn set(&mut self, field: &str, text: &str) -> Option<()> {
        let text = text.trim();
        match field {
            "delegate_id" => {
                let id = DelegateId::new(text).ok()?;
                self.delegate_id = id.is_well_formed().then_some(id)?;
            }
            "model_family" => self.model_family = text.to_owned(),
            "model_version" => self.model_version = text.to_owned(),
            "trust_domain" if text.is_empty() => return None,
            "trust_domain" => self.trust_domain.name = text.to_owned(),
            "context_window" => self.context_window = text.parse().ok()?,
            "weights_fingerprint" => self.weights_fingerprint = Some(text.to_owned()),
            "reasoning_profile" => self.reasoning_profile = Some(text.to_owned()),
            "cost_profile" => self.cost_profile = Some(CostTier::from_wire(text)?),
            "latency_profile" => self.latency_profile = Some(text.to_owned()),
            "jurisdiction" => self.jurisdiction = Some(text.to_owned()),
            "payload_modes" => {
                let names = text.split(',').map(str::trim);
                let mut modes = Vec::new();
                for mode in names.filter_map(PayloadMode::from_wire) {
                    if !modes.contains(&mode) {
                        modes.push(mode);
                    }
                }
                self.supported_payload_modes =
                    modes.contains(&PayloadMode::Text).then_some(modes)?;
            }
            // A label of a newer runtime.
            _ => {}
        }
        Some(())
    }
}

/// A label whose text cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelError {
    pub label: String,
}

impl std::fmt::Display for LabelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the label {} does not say what it should", self.label)
    }
}

impl std::error::Error for LabelError {}
