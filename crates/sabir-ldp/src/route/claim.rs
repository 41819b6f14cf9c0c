//! What a card claims for one skill, and how far that is believed before anything was seen.
//!
//! It knows the fields of a card and the weight of each kind of claim. It has no record of anybody.

use serde::{Deserialize, Serialize};

use super::estimate::{Held, Prior};
use super::evidence::{bounded_cost, bounded_latency};
use crate::card::{Capability, ClaimType, CostTier, IdentityCard, Quality};
use crate::value::Score;

/// The claims that count, from wherever the card has them. `None`: it claims nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What they are based on, as far as we believe it.
    pub basis: ClaimType,
}

impl Claims {
    /// `credence` is the strongest kind of claim that is believed of this delegate.
    pub(super) fn of(card: &IdentityCard, capability: &Capability, credence: ClaimType) -> Self {
        let Quality {
            score, latency_p50_ms, latency_p99_ms, cost_per_call_usd, claim_type, ..
        } = capability.quality;
        // Of a delegate that only says how slow it is at its slowest, that is what is known.
        let latency = latency_p50_ms.or(latency_p99_ms).map(|ms| ms as f64);
        let tier = capability.cost_hint.or(card.cost_profile);
        Self {
            quality: score.map(Score::value),
            latency_ms: latency.or_else(|| median_ms(card.latency_profile.as_deref()?)),
            cost_usd: cost_per_call_usd
                .filter(|it| it.is_finite())
                .or_else(|| tier.map(tier_cost_usd)),
            basis: claim_type.min(credence),
        }
    }

    pub(super) fn prior(&self) -> Prior {
        let Belief { strength, doubt } = belief(self.basis);
        let quality = match self.quality {
            None => UNKNOWN_QUALITY,
            Some(claim) => UNKNOWN_QUALITY.with(claim.clamp(0.0, 1.0) * strength, strength),
        };
        let ln_latency = match self.latency_ms {
            None => Held { value: UNKNOWN_LATENCY_MS.ln(), strength: 1.0 },
            Some(claim) => {
                let believed = bounded_latency(claim.max(LEAST_CLAIMED_LATENCY_MS) * doubt);
                Held { value: believed.ln(), strength }
            }
        };
        let cost_usd = match self.cost_usd {
            None => Held { value: UNKNOWN_COST_USD, strength: 1.0 },
            Some(claim) => {
                let believed = bounded_cost(claim.max(LEAST_CLAIMED_COST_USD) * doubt);
                Held { value: believed, strength }
            }
        };
        Prior { quality, ln_latency, cost_usd }
    }
}

/// The median of a profile such as `p50:2000ms`. Other profiles are words for people.
fn median_ms(profile: &str) -> Option<f64> {
    let digits = profile.trim().strip_prefix("p50:")?.strip_suffix("ms")?;
    digits.trim().parse::<u64>().ok().map(|ms| ms as f64)
}

/// What a kind of claim is worth.
struct Belief {
    /// As many outcomes as this weigh as much.
    strength: f64,
    /// Prices and times are taken as this many times what is claimed.
    doubt: f64,
}

fn belief(basis: ClaimType) -> Belief {
    match basis {
        ClaimType::SelfClaimed => Belief { strength: 1.0, doubt: 1.5 },
        ClaimType::IssuerAttested => Belief { strength: 4.0, doubt: 1.2 },
        ClaimType::RuntimeObserved => Belief { strength: 10.0, doubt: 1.0 },
        ClaimType::ExternallyBenchmarked => Belief { strength: 20.0, doubt: 1.0 },
    }
}

/// What a price tier stands for, in dollars for a call.
#[must_use]
pub fn tier_cost_usd(tier: CostTier) -> f64 {
    match tier {
        CostTier::Low => 0.002,
        CostTier::Medium => 0.02,
        CostTier::High => 0.2,
    }
}

/// Somebody who claims nothing is held to be rather bad than good.
const UNKNOWN_QUALITY: Held = Held { value: 0.4, strength: 2.0 };
/// Slower than most who say how slow they are.
const UNKNOWN_LATENCY_MS: f64 = 30_000.0;
/// As dear as somebody who says to be in the high tier: silence is not to pay.
const UNKNOWN_COST_USD: f64 = 0.3;
/// No claim goes below these; only a record does. A card that says zero has more often been left
/// unfilled than priced.
const LEAST_CLAIMED_LATENCY_MS: f64 = 50.0;
const LEAST_CLAIMED_COST_USD: f64 = 0.000_5;
