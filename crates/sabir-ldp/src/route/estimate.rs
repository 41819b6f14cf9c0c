//! What to expect of a delegate: claims are where the estimate starts, outcomes are what moves it.
//!
//! Quality and reliability are shares with a number of observations behind them, latency a mean of
//! logarithms, cost a mean. It knows neither cards nor filters, and compares nobody.

use serde::{Deserialize, Serialize};

use super::evidence::{Tally, bounded_cost, bounded_latency};
use super::request::Strategy;

/// A figure that is held before anything was observed, and how many observations it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Held {
    pub(super) value: f64,
    pub(super) strength: f64,
}

/// What is expected of a delegate that has never worked for us.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    pub(super) quality: Held,
    pub(super) ln_latency: Held,
    pub(super) cost_usd: Held,
}

/// What is expected of a delegate now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// How good its answers are, and what counts: the less is known, the farther below. With
    /// exploration it lies above instead.
    pub quality: f64,
    pub quality_bound: f64,
    /// The share of tasks that succeed.
    pub reliability: f64,
    pub latency_ms: f64,
    pub cost_usd: f64,
    /// How many outcomes speak in this, after decay.
    pub outcomes: f64,
}

/// Whether those who have shown nothing yet get a chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exploration {
    /// What is not known counts against a delegate: a boast does not beat a record.
    #[default]
    Off,
    /// What is not known counts for it, so that each is tried until its record says otherwise.
    Optimistic,
}

impl Estimate {
    pub(super) fn of_claims(prior: &Prior, exploration: Exploration) -> Self {
        Self::new(prior, [0.0; 8], exploration)
    }

    /// `weight` is what the tally still counts.
    pub(super) fn of_record(
        prior: &Prior,
        tally: &Tally,
        weight: f64,
        exploration: Exploration,
    ) -> Self {
        let Tally { as_of: _, tries, successes, checked, quality, .. } = *tally;
        let Tally { timed, ln_latency, priced, cost_usd, .. } = *tally;
        let sums = [tries, successes, checked, quality, timed, ln_latency, priced, cost_usd];
        Self::new(prior, sums.map(|sum| sum * weight), exploration)
    }

    /// The best that a record can say at any time from when it was made. As it ages, every figure goes
    /// from what the record says to what the prior says, always in one direction.
    pub(super) fn ceiling(prior: &Prior, tally: &Tally, exploration: Exploration) -> Self {
        let young = Self::of_record(prior, tally, 1.0, exploration);
        let old = Self::of_claims(prior, exploration);
        let share = young.quality.max(old.quality);
        // The lower bound rises with what is known, the upper one falls.
        let strength = match exploration {
            Exploration::Off => prior.quality.strength + tally.checked,
            Exploration::Optimistic => prior.quality.strength,
        };
        Self {
            quality: share,
            quality_bound: bound(Held { value: share, strength }, exploration),
            reliability: young.reliability.max(old.reliability),
            latency_ms: young.latency_ms.min(old.latency_ms),
            cost_usd: young.cost_usd.min(old.cost_usd),
            outcomes: young.outcomes,
        }
    }

    fn new(prior: &Prior, sums: [f64; 8], exploration: Exploration) -> Self {
        let [tries, successes, checked, quality, timed, ln_latency, priced, cost_usd] = sums;
        let good = prior.quality.with(quality, checked);
        Self {
            quality: good.value,
            quality_bound: bound(good, exploration),
            reliability: RELIABILITY.with(successes, tries).value.clamp(0.0, 1.0),
            latency_ms: bounded_latency(prior.ln_latency.with(ln_latency, timed).value.exp()),
            cost_usd: bounded_cost(prior.cost_usd.with(cost_usd, priced).value),
            outcomes: tries,
        }
    }

    /// Greater is better. Always a finite number that is not negative.
    #[must_use]
    pub fn score(&self, strategy: Strategy) -> f64 {
        // Work that fails is done again elsewhere, so that its price and its time come on top.
        let sure = self.reliability;
        match strategy {
            Strategy::Quality => sure * self.quality_bound,
            Strategy::Cost => sure / self.cost_usd,
            Strategy::Latency => sure / (self.latency_ms / 1_000.0),
            Strategy::Balanced => {
                // Quality is a factor and the rest only a discount: what is worthless does not win by
                // being free, and twice as cheap is never twice as good.
                let cheap = 1.0 / (1.0 + self.cost_usd / MIDDLE_COST_USD);
                let quick = 1.0 / (1.0 + self.latency_ms / MIDDLE_LATENCY_MS);
                sure * self.quality_bound * (0.5 + 0.25 * cheap + 0.25 * quick)
            }
        }
    }
}

impl Held {
    /// What is held after observations of this sum and number.
    pub(super) fn with(self, sum: f64, number: f64) -> Self {
        let strength = self.strength + number;
        Self { value: (self.value * self.strength + sum) / strength, strength }
    }
}

/// Wilson's bound of a share. It stays within 0 and 1, grows with the share, and comes closer to it
/// with every observation.
fn bound(held: Held, exploration: Exploration) -> f64 {
    let share = held.value.clamp(0.0, 1.0);
    let n = held.strength;
    let z = match exploration {
        // A whole one would rank those who are known to be bad above all who are not known.
        Exploration::Off => -0.5,
        // A whole one, so that somebody who claims nothing is tried before settling for the middling.
        Exploration::Optimistic => 1.0,
    };
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    ((middle + spread) / (1.0 + z * z / n)).clamp(0.0, 1.0)
}

/// Most tasks of most delegates succeed; a few outcomes suffice to learn otherwise.
const RELIABILITY: Held = Held { value: 0.8, strength: 2.0 };
/// At this price a delegate has lost half of what cheapness can give it: the medium tier.
const MIDDLE_COST_USD: f64 = 0.02;
/// The same for time: about how long a person waits without turning to something else.
const MIDDLE_LATENCY_MS: f64 = 5_000.0;
