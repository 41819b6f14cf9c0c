//! The candidates for one skill, laid out so that looking at all of them is a walk through memory:
//! what filters ask about is numbers side by side, scores that no outcome has touched are ready, and
//! of the others it is known how high they can be at most, so that few are reckoned anew.
//!
//! It knows no ids and no texts; places in it are found by the router.

use super::choice::Filter;
use super::claim::Claims;
use super::estimate::{Estimate, Exploration, Prior};
use super::evidence::{Tally, decay};
use super::request::Strategy;
use super::symbols::{NO_SYMBOL, Symbol, Symbols};
use super::top::Top;
use crate::time::Timestamp;

#[derive(Debug, Default)]
pub(super) struct SkillIndex {
    gates: Vec<Gate>,
    /// For each strategy: the score by claims alone, or what a score by record never exceeds.
    scores: [Vec<f64>; Strategy::ALL.len()],
    /// What budgets ask about.
    spans: Vec<Span>,
    /// Decide between equal scores.
    ties: Vec<u64>,
    entries: Vec<Entry>,
}

/// What filters ask about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gate {
    pub(super) context_window: u64,
    pub(super) domain: Symbol,
    pub(super) place: Symbol,
    /// A bit for each mode's number.
    pub(super) modes: u8,
    pub(super) availability: Availability,
    /// Set by the index.
    pub(super) expected: Expected,
}

/// Between which a price and a time lie, whenever they are reckoned. By claims alone both ends are
/// the same.
#[derive(Debug, Clone, Copy)]
struct Span {
    least_cost_usd: f64,
    most_cost_usd: f64,
    least_latency_ms: f64,
    most_latency_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Availability {
    Available,
    /// It has failed of late: its breaker has to be asked.
    AskBreaker,
    Unavailable,
}

/// Where the score comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Expected {
    #[default]
    ByClaims,
    /// Outcomes age, so that it is reckoned anew when it could be among the best.
    ByRecord,
}

/// What only some candidates are asked for.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) slot: u32,
    pub(super) claims: Claims,
    pub(super) prior: Prior,
    pub(super) tally: Option<Box<Tally>>,
}

/// A request in the index's own terms.
pub(super) struct Sieve<'a> {
    pub(super) strategy: Strategy,
    pub(super) places: &'a Symbols,
    /// `None`: all. Names that nobody has are left out.
    pub(super) domains: Option<Vec<Symbol>>,
    pub(super) place: Option<Symbol>,
    pub(super) context_tokens: u64,
    pub(super) mode: u8,
    /// By their ties, sorted.
    pub(super) excluded: Vec<u64>,
    pub(super) most_cost_usd: f64,
    pub(super) most_latency_ms: f64,
    pub(super) half_life_ms: u64,
    pub(super) exploration: Exploration,
    pub(super) now: Timestamp,
}

/// What came through, and what did not.
#[derive(Debug)]
pub(super) struct Sifted {
    pub(super) best: Top,
    pub(super) eligible: usize,
    pub(super) stopped: [Stopped; Filter::COUNT],
}

#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) count: usize,
    /// Those whose ties are smallest: the same few, in whatever order cards arrived.
    pub(super) samples: Top,
}

impl SkillIndex {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The place of the new candidate.
    pub(super) fn push(
        &mut self,
        gate: Gate,
        tie: u64,
        entry: Entry,
        exploration: Exploration,
    ) -> u32 {
        let at = self.entries.len();
        self.scores.iter_mut().for_each(|scores| scores.push(0.0));
        self.spans.push(Span::ANY);
        self.gates.push(gate);
        self.ties.push(tie);
        self.entries.push(entry);
        self.reckon(at, exploration);
        at as u32
    }

    /// Takes a candidate out. The last one moves to its place.
    pub(super) fn remove(&mut self, at: u32) -> Option<Entry> {
        let at = at as usize;
        if at >= self.entries.len() {
            return None;
        }
        for scores in &mut self.scores {
            scores.swap_remove(at);
        }
        self.spans.swap_remove(at);
        self.gates.swap_remove(at);
        self.ties.swap_remove(at);
        Some(self.entries.swap_remove(at))
    }

    pub(super) fn entry(&self, at: u32) -> Option<&Entry> {
        self.entries.get(at as usize)
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds to the tally of a candidate.
    pub(super) fn change_tally(
        &mut self,
        at: u32,
        now: Timestamp,
        exploration: Exploration,
        change: impl FnOnce(&mut Tally),
    ) {
        let at = at as usize;
        let Some(entry) = self.entries.get_mut(at) else { return };
        change(entry.tally.get_or_insert_with(|| Box::new(Tally::new(now))));
        self.reckon(at, exploration);
    }

    pub(super) fn set_availability(&mut self, at: u32, availability: Availability) {
        if let Some(gate) = self.gates.get_mut(at as usize) {
            gate.availability = availability;
        }
    }

    /// Looks at every candidate once. `rests` is asked about those that failed of late.
    pub(super) fn sift(
        &self,
        sieve: &Sieve<'_>,
        limit: usize,
        rests: impl Fn(u32) -> bool,
    ) -> Sifted {
        let stopped = || Stopped { count: 0, samples: Top::new(SAMPLES) };
        let mut sifted = Sifted {
            best: Top::new(limit),
            eligible: 0,
            stopped: std::array::from_fn(|_| stopped()),
        };
        let scores = &self.scores[sieve.strategy as usize];
        let candidates = self.gates.iter().zip(scores).zip(&self.ties);
        for (at, ((gate, &ready), &tie)) in candidates.enumerate() {
            let verdict = match sieve.first_obstacle(gate) {
                Some(filter) => Err(filter),
                None if sieve.excluded.binary_search(&tie).is_ok() => Err(Filter::Excluded),
                None => self.weigh(at, gate, ready, sifted.best.bar(), sieve, &rests),
            };
            match verdict {
                Ok(score) => {
                    sifted.eligible += 1;
                    if let Some(score) = score {
                        sifted.best.offer(score, tie, at as u32);
                    }
                }
                Err(filter) => {
                    let stopped = &mut sifted.stopped[filter as usize];
                    stopped.count += 1;
                    stopped.samples.offer(0.0, tie, at as u32);
                }
            }
        }
        sifted
    }

    /// The score of a candidate that its gate lets through, unless a filter of the second kind stops
    /// it: those that depend on who it is and what it did. None if it cannot reach the bar.
    fn weigh(
        &self,
        at: usize,
        gate: &Gate,
        ready: f64,
        bar: f64,
        sieve: &Sieve<'_>,
        rests: impl Fn(u32) -> bool,
    ) -> Result<Option<f64>, Filter> {
        if gate.availability == Availability::AskBreaker && rests(self.entries[at].slot) {
            return Err(Filter::Resting);
        }
        let fits = !sieve.has_budget() || sieve.judge(&self.spans[at])? == Fit::Sure;
        if fits && (gate.expected == Expected::ByClaims || ready < bar) {
            return Ok(Some(ready).filter(|_| gate.expected == Expected::ByClaims));
        }
        // Only here is what lies apart from the walk looked at.
        let entry = &self.entries[at];
        let estimate = entry.estimate(sieve.now, sieve.half_life_ms, sieve.exploration);
        sieve.check_budget(estimate.cost_usd, estimate.latency_ms)?;
        Ok(Some(estimate.score(sieve.strategy)))
    }

    /// Makes ready what can be known before anybody asks.
    fn reckon(&mut self, at: usize, exploration: Exploration) {
        let entry = &self.entries[at];
        let by_claims = Estimate::of_claims(&entry.prior, exploration);
        let (best, span, expected) = match &entry.tally {
            None => (by_claims, Span::at(&by_claims), Expected::ByClaims),
            Some(tally) => {
                let by_record = Estimate::of_record(&entry.prior, tally, 1.0, exploration);
                let best = Estimate::ceiling(&entry.prior, tally, exploration);
                (best, Span::between(&by_claims, &by_record), Expected::ByRecord)
            }
        };
        for (scores, strategy) in self.scores.iter_mut().zip(Strategy::ALL) {
            let score = best.score(strategy);
            scores[at] = match expected {
                Expected::ByClaims => score,
                Expected::ByRecord => score * (1.0 + ROUNDING),
            };
        }
        self.spans[at] = span;
        self.gates[at].expected = expected;
    }
}

/// Whether a budget lets a candidate through.
#[derive(PartialEq, Eq)]
enum Fit {
    Sure,
    /// That depends on the time.
    Unsure,
}

impl Span {
    const ANY: Self = Self {
        least_cost_usd: 0.0,
        most_cost_usd: f64::INFINITY,
        least_latency_ms: 0.0,
        most_latency_ms: f64::INFINITY,
    };

    fn at(estimate: &Estimate) -> Self {
        let Estimate { cost_usd, latency_ms, .. } = *estimate;
        Self {
            least_cost_usd: cost_usd,
            most_cost_usd: cost_usd,
            least_latency_ms: latency_ms,
            most_latency_ms: latency_ms,
        }
    }

    /// A record that ages leads from what it says now to what the claims say, and never beyond.
    fn between(one: &Estimate, other: &Estimate) -> Self {
        let (below, above) = (1.0 - ROUNDING, 1.0 + ROUNDING);
        Self {
            least_cost_usd: one.cost_usd.min(other.cost_usd) * below,
            most_cost_usd: one.cost_usd.max(other.cost_usd) * above,
            least_latency_ms: one.latency_ms.min(other.latency_ms) * below,
            most_latency_ms: one.latency_ms.max(other.latency_ms) * above,
        }
    }
}

impl Entry {
    pub(super) fn estimate(
        &self,
        now: Timestamp,
        half_life_ms: u64,
        exploration: Exploration,
    ) -> Estimate {
        match &self.tally {
            None => Estimate::of_claims(&self.prior, exploration),
            Some(tally) => {
                let weight = decay(tally.as_of, now, half_life_ms);
                Estimate::of_record(&self.prior, tally, weight, exploration)
            }
        }
    }
}

impl Sieve<'_> {
    /// The first filter that the gate alone does not pass.
    fn first_obstacle(&self, gate: &Gate) -> Option<Filter> {
        if gate.availability == Availability::Unavailable {
            return Some(Filter::Available);
        }
        if self.domains.as_ref().is_some_and(|domains| !domains.contains(&gate.domain)) {
            return Some(Filter::Domain);
        }
        if let Some(place) = self.place
            && (place == NO_SYMBOL || !self.places.is_within(gate.place, place))
        {
            return Some(Filter::Jurisdiction);
        }
        if gate.context_window < self.context_tokens {
            return Some(Filter::Context);
        }
        if gate.modes & self.mode != self.mode {
            return Some(Filter::Mode);
        }
        None
    }

    fn has_budget(&self) -> bool {
        self.most_cost_usd < f64::INFINITY || self.most_latency_ms < f64::INFINITY
    }

    /// What can be said without reckoning.
    fn judge(&self, span: &Span) -> Result<Fit, Filter> {
        self.check_budget(span.least_cost_usd, 0.0)?;
        if span.most_cost_usd > self.most_cost_usd {
            return Ok(Fit::Unsure);
        }
        self.check_budget(0.0, span.least_latency_ms)?;
        let is_sure = span.most_latency_ms <= self.most_latency_ms;
        Ok(if is_sure { Fit::Sure } else { Fit::Unsure })
    }

    fn check_budget(&self, cost_usd: f64, latency_ms: f64) -> Result<(), Filter> {
        if cost_usd > self.most_cost_usd {
            return Err(Filter::Cost);
        }
        if latency_ms > self.most_latency_ms {
            return Err(Filter::Latency);
        }
        Ok(())
    }
}

/// Enough to see what kind they are.
const SAMPLES: usize = 3;
/// More than a dozen operations on doubles lose.
const ROUNDING: f64 = 1e-9;
