//! Payload modes, and which one two peers use. It knows names and numbers; what a payload must look
//! like is known by `payload`.

use serde::{Deserialize, Serialize};

/// How inputs and outputs of tasks are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayloadMode {
    Text,
    SemanticFrame,
    EmbeddingHints,
    SemanticGraph,
    LatentCapsules,
    CacheSlices,
}

impl PayloadMode {
    pub const ALL: [PayloadMode; 6] = [
        PayloadMode::Text,
        PayloadMode::SemanticFrame,
        PayloadMode::EmbeddingHints,
        PayloadMode::SemanticGraph,
        PayloadMode::LatentCapsules,
        PayloadMode::CacheSlices,
    ];

    /// What this crate can check and convert, the richest first. The references know these four
    /// names and fail on others, so that a node never lists more.
    pub const IMPLEMENTED: [PayloadMode; 4] = [
        PayloadMode::SemanticGraph,
        PayloadMode::EmbeddingHints,
        PayloadMode::SemanticFrame,
        PayloadMode::Text,
    ];

    pub fn number(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::SemanticFrame => 1,
            Self::EmbeddingHints => 2,
            Self::SemanticGraph => 3,
            Self::LatentCapsules => 4,
            Self::CacheSlices => 5,
        }
    }

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::SemanticFrame => "semantic_frame",
            Self::EmbeddingHints => "embedding_hints",
            Self::SemanticGraph => "semantic_graph",
            Self::LatentCapsules => "latent_capsules",
            Self::CacheSlices => "cache_slices",
        }
    }

    pub fn from_wire(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.wire_name() == name)
    }

    /// The others are recognised, so that a peer may list them, and never negotiated.
    pub fn is_implemented(self) -> bool {
        match self {
            Self::Text | Self::SemanticFrame | Self::EmbeddingHints | Self::SemanticGraph => true,
            Self::LatentCapsules | Self::CacheSlices => false,
        }
    }
}

impl std::fmt::Display for PayloadMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.wire_name())
    }
}

/// What two peers agreed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Negotiated {
    pub mode: PayloadMode,
    /// What to step down to when a payload fails, in this order.
    pub fallback_chain: Vec<PayloadMode>,
}

/// Chooses the first mode of the initiator's offer that is implemented and ours, and text if there
/// is none. The chain holds the other common modes with lower numbers, in the order of the offer.
pub fn negotiate(offer: &[PayloadMode], ours: &[PayloadMode]) -> Negotiated {
    let mut common: Vec<PayloadMode> = Vec::new();
    for mode in offer {
        if mode.is_implemented() && ours.contains(mode) && !common.contains(mode) {
            common.push(*mode);
        }
    }
    // Every delegate speaks text, whether it lists it or not.
    let mode = common.first().copied().unwrap_or(PayloadMode::Text);
    common.retain(|other| other.number() < mode.number());
    Negotiated { mode, fallback_chain: common }
}
