//! The candidates for one skill, laid out so that looking at all of them is a walk through memory:
//! what filters ask about is numbers side by side, and scores that no outcome has touched are ready.
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
    /// By claims alone, for each strategy.
    scores: [Vec<f64>; Strategy::ALL.len()],
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
    pub(super) expected: Expected,
    /// By claims alone.
    pub(super) cost_usd: f64,
    pub(super) latency_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Availability {
    Available,
    /// It has failed of late: its breaker has to be asked.
    AskBreaker,
    Unavailable,
}

/// Where the score comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    ByClaims,
    /// Outcomes age, so that it is reckoned anew each time.
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
    pub(super) fn push(&mut self, gate: Gate, tie: u64, entry: Entry, by_claims: &Estimate) -> u32 {
        for (scores, strategy) in self.scores.iter_mut().zip(Strategy::ALL) {
            scores.push(by_claims.score(strategy));
        }
        self.gates.push(gate);
        self.ties.push(tie);
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
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

    /// The tally of a candidate, to be added to.
    pub(super) fn tally_mut(&mut self, at: u32, now: Timestamp) -> Option<&mut Tally> {
        self.gates.get_mut(at as usize)?.expected = Expected::ByRecord;
        let tally = &mut self.entries.get_mut(at as usize)?.tally;
        Some(tally.get_or_insert_with(|| Box::new(Tally::new(now))))
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
        for (at, ((gate, &by_claims), &tie)) in candidates.enumerate() {
            let verdict = match sieve.first_obstacle(gate) {
                Some(filter) => Err(filter),
                None if sieve.excluded.binary_search(&tie).is_ok() => Err(Filter::Excluded),
                None => self.weigh(at, gate, by_claims, sieve, &rests),
            };
            match verdict {
                Ok(score) => {
                    sifted.eligible += 1;
                    sifted.best.offer(score, tie, at as u32);
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
    /// it: those that depend on who it is and what it did.
    fn weigh(
        &self,
        at: usize,
        gate: &Gate,
        by_claims: f64,
        sieve: &Sieve<'_>,
        rests: impl Fn(u32) -> bool,
    ) -> Result<f64, Filter> {
        if gate.availability == Availability::AskBreaker && rests(self.entries[at].slot) {
            return Err(Filter::Resting);
        }
        if gate.expected == Expected::ByClaims {
            sieve.check_budget(gate.cost_usd, gate.latency_ms)?;
            return Ok(by_claims);
        }
        // Only here is what lies apart from the walk looked at.
        let entry = &self.entries[at];
        let estimate = entry.estimate(sieve.now, sieve.half_life_ms, sieve.exploration);
        sieve.check_budget(estimate.cost_usd, estimate.latency_ms)?;
        Ok(estimate.score(sieve.strategy))
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
