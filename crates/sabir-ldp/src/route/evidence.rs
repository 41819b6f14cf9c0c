//! What became of the tasks that delegates were given: single outcomes, and tallies in which the old
//! counts less and less.
//!
//! It knows no card and no claim. Times and outcomes are this node's own; nothing that a peer says
//! about itself is counted here.

use serde::{Deserialize, Serialize};

use crate::error::{ErrorCategory, LdpError};
use crate::id::{DelegateId, SkillName};
use crate::time::Timestamp;

/// One task that a delegate was given, and how it went. A record: the log of outcomes, read again,
/// gives the same router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskOutcome {
    pub delegate: DelegateId,
    pub skill: SkillName,
    pub at: Timestamp,
    pub verdict: Verdict,
    /// From submission to result, as this node measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// How a task went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// There is a result, and nobody checked it. That it is any good is not known.
    Finished,
    /// An independent check gave the result a score from 0 to 1. Zero is no success.
    Checked { quality: f64 },
    /// It broke down, was not reached or was too slow.
    Failed,
    /// It is well, and said no.
    Refused,
}

impl Verdict {
    /// How a failed task counts. What we cancelled ourselves says nothing about the delegate and is
    /// not to be recorded at all.
    #[must_use]
    pub fn of_failure(error: &LdpError) -> Self {
        match error.category {
            ErrorCategory::Runtime
            | ErrorCategory::Quality
            | ErrorCategory::Session
            | ErrorCategory::Transport => Self::Failed,
            ErrorCategory::Identity
            | ErrorCategory::Capability
            | ErrorCategory::Policy
            | ErrorCategory::Security => Self::Refused,
        }
    }
}

/// Outcomes of one delegate with one skill, added up. Each counts half as much for every half-life
/// that it is older than `as_of`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub as_of: Timestamp,
    /// Tasks, and those of them that succeeded.
    pub tries: f64,
    pub successes: f64,
    /// Successes that were checked, and the sum of their scores.
    pub checked: f64,
    pub quality: f64,
    /// Successes whose time is known, and the sum of the logarithms of their milliseconds.
    pub timed: f64,
    pub ln_latency: f64,
    /// Tasks whose price is known, and the sum of their prices.
    pub priced: f64,
    pub cost_usd: f64,
}

/// A tally as it is stored: whose, and for what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TallyRecord {
    pub delegate: DelegateId,
    pub skill: SkillName,
    pub tally: Tally,
}

/// Why evidence was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceError {
    /// No outcomes could have added up to this.
    Unsound,
}

impl std::fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsound => f.write_str("the tally is not the sum of any outcomes"),
        }
    }
}

impl std::error::Error for EvidenceError {}

impl Tally {
    /// Nothing yet.
    #[must_use]
    pub fn new(as_of: Timestamp) -> Self {
        Self {
            as_of,
            tries: 0.0,
            successes: 0.0,
            checked: 0.0,
            quality: 0.0,
            timed: 0.0,
            ln_latency: 0.0,
            priced: 0.0,
            cost_usd: 0.0,
        }
    }

    /// Counts an outcome. Figures that are no figures (not a number, a negative price) are left out;
    /// those beyond what can be are cut to it.
    pub fn add(&mut self, outcome: &TaskOutcome, half_life_ms: u64) {
        if outcome.at > self.as_of {
            self.age_to(outcome.at, half_life_ms);
        }
        let weight = decay(outcome.at, self.as_of, half_life_ms);
        let success = match outcome.verdict {
            Verdict::Finished => true,
            Verdict::Checked { quality } if quality > 0.0 => {
                self.checked += weight;
                self.quality += weight * quality.min(1.0);
                true
            }
            // What is not a number fails its check, as zero does.
            Verdict::Checked { .. } | Verdict::Failed | Verdict::Refused => false,
        };
        self.tries += weight;
        if success {
            self.successes += weight;
            // A failure may be quick; that is no merit.
            if let Some(latency) = outcome.latency_ms {
                self.timed += weight;
                self.ln_latency += weight * bounded_latency(latency as f64).ln();
            }
        }
        if let Some(cost) = outcome.cost_usd.filter(|cost| *cost >= 0.0) {
            self.priced += weight;
            self.cost_usd += weight * bounded_cost(cost);
        }
    }

    /// Adds what another tally of the same delegate and skill has counted. Outcomes that are in both
    /// count twice: merge what different nodes saw, or different times.
    pub fn merge(&mut self, other: &Self, half_life_ms: u64) {
        let mut other = other.clone();
        let later = self.as_of.max(other.as_of);
        self.age_to(later, half_life_ms);
        other.age_to(later, half_life_ms);
        for (mine, theirs) in self.sums().into_iter().zip(other.sums()) {
            *mine += *theirs;
        }
    }

    /// The same outcomes, seen from `now`. Never younger than they were.
    #[must_use]
    pub fn aged(&self, now: Timestamp, half_life_ms: u64) -> Self {
        let mut aged = self.clone();
        aged.age_to(now.max(self.as_of), half_life_ms);
        aged
    }

    /// # Errors
    ///
    /// When no outcomes could have added up to these sums.
    pub fn check(&self) -> Result<(), EvidenceError> {
        // Sums lose digits as they age, so that a part may be a little more than its whole.
        let within = |part: f64, whole: f64| part <= whole * (1.0 + SLACK) + SLACK;
        let mut copy = self.clone();
        let sound = copy.sums().into_iter().all(|sum| (0.0..=MOST_SUM).contains(&*sum))
            && within(self.successes, self.tries)
            && within(self.checked, self.successes)
            && within(self.quality, self.checked)
            && within(self.timed, self.successes)
            && within(self.ln_latency, self.timed * MOST_LATENCY_MS.ln())
            && within(self.priced, self.tries)
            && within(self.cost_usd, self.priced * MOST_COST_USD);
        if sound { Ok(()) } else { Err(EvidenceError::Unsound) }
    }

    fn age_to(&mut self, then: Timestamp, half_life_ms: u64) {
        let factor = decay(self.as_of, then, half_life_ms);
        for sum in self.sums() {
            *sum *= factor;
        }
        self.as_of = then;
    }

    fn sums(&mut self) -> [&mut f64; 8] {
        [
            &mut self.tries,
            &mut self.successes,
            &mut self.checked,
            &mut self.quality,
            &mut self.timed,
            &mut self.ln_latency,
            &mut self.priced,
            &mut self.cost_usd,
        ]
    }
}

/// What an outcome of `then` still counts at `now`: from 1 down towards 0.
pub(super) fn decay(then: Timestamp, now: Timestamp, half_life_ms: u64) -> f64 {
    let age = now.millis().saturating_sub(then.millis());
    (-(age as f64) / half_life_ms.max(1) as f64).exp2()
}

/// A latency that a logarithm can take.
pub(super) fn bounded_latency(ms: f64) -> f64 {
    ms.clamp(LEAST_LATENCY_MS, MOST_LATENCY_MS)
}

/// A price that a quotient can take: nothing is free.
pub(super) fn bounded_cost(usd: f64) -> f64 {
    usd.clamp(LEAST_COST_USD, MOST_COST_USD)
}

/// Clocks here count whole milliseconds.
const LEAST_LATENCY_MS: f64 = 1.0;
/// A week: longer than any deadline that a person would wait for.
const MOST_LATENCY_MS: f64 = 7.0 * 24.0 * 3_600.0 * 1_000.0;
/// Electricity for a short answer of a small model at home costs about as much.
pub(super) const LEAST_COST_USD: f64 = 0.000_1;
/// Keeps sums finite; nobody pays it.
const MOST_COST_USD: f64 = 1_000_000.0;
/// A billion tasks at the greatest price.
const MOST_SUM: f64 = 1e15;
const SLACK: f64 = 1e-6;
