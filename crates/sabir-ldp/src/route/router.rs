//! The cards and the evidence together: who there is, what each has shown, and who should do a task.
//!
//! It fetches no card, checks no signature and starts nothing. Time is an argument.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::breaker::{Breaker, BreakerGate, BreakerRecord, BreakerSettings};
use super::choice::{Choice, Filter, PassedOver, Ranked, Why};
use super::claim::Claims;
use super::estimate::Exploration;
use super::evidence::{EvidenceError, Tally, TallyRecord, TaskOutcome, Verdict, decay};
use super::index::{Availability, Entry, Expected, Gate, Sieve, Sifted, SkillIndex};
use super::request::Request;
use super::symbols::{NO_SYMBOL, Symbol, Symbols};
use super::top::Kept;
use crate::card::{ClaimType, IdentityCard};
use crate::id::{DelegateId, SkillName};
use crate::mode::PayloadMode;
use crate::time::Timestamp;

/// How a router weighs and remembers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RouterSettings {
    /// The time in which an outcome loses half of its weight.
    pub half_life_ms: u64,
    pub exploration: Exploration,
    pub breaker: BreakerSettings,
    pub most_cards: usize,
    /// Tallies that are kept for delegates whose cards are gone, and as many breakers.
    pub most_loose_tallies: usize,
}

impl Default for RouterSettings {
    fn default() -> Self {
        Self {
            // A model is replaced within weeks, and a week has both working days and nights in it.
            half_life_ms: 7 * 24 * 3_600 * 1_000,
            exploration: Exploration::Off,
            breaker: BreakerSettings::default(),
            most_cards: 250_000,
            most_loose_tallies: 10_000,
        }
    }
}

/// What this node knows of a delegate apart from its card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The trust domain that our configuration binds it to. What the card says is not asked.
    pub trust_domain: Option<String>,
    /// The strongest kind of claim that is believed of it. Anybody can write "benchmarked" into a
    /// card; claims of a stronger kind count as this one.
    pub credence: ClaimType,
}

/// Why a card was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteError {
    Full { most_cards: usize },
}

impl std::fmt::Display for RouteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full { most_cards } => write!(f, "the router holds {most_cards} cards already"),
        }
    }
}

impl std::error::Error for RouteError {}

/// Cards, evidence and breakers.
#[derive(Debug, Default)]
pub struct Router {
    settings: RouterSettings,
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    by_id: BTreeMap<DelegateId, u32>,
    skills: BTreeMap<SkillName, SkillIndex>,
    /// Evidence about those who have no card with that skill at present.
    loose: BTreeMap<(DelegateId, SkillName), Tally>,
    /// Those of delegates without a card: to go and come back ends no rest.
    loose_breakers: BTreeMap<DelegateId, Breaker>,
    domains: Symbols,
    places: Symbols,
}

/// A delegate with a card.
#[derive(Debug)]
struct Slot {
    id: DelegateId,
    breaker: Breaker,
    available: bool,
    domain: Symbol,
    place: Symbol,
    /// Where it stands in the index of each of its skills.
    at: Vec<(SkillName, u32)>,
}

impl Router {
    #[must_use]
    pub fn new(settings: RouterSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// How many cards there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Takes a card, in place of an earlier one of the same delegate. Its record stays.
    ///
    /// # Errors
    ///
    /// When there are too many cards.
    pub fn put(&mut self, card: &IdentityCard, listing: &Listing) -> Result<(), RouteError> {
        let known = self.by_id.contains_key(&card.delegate_id);
        if !known && self.len() >= self.settings.most_cards {
            return Err(RouteError::Full { most_cards: self.settings.most_cards });
        }
        let (breaker, mut tallies) = match self.take(&card.delegate_id) {
            Some((slot, tallies)) => (slot.breaker, tallies),
            None => {
                let loose = self.loose_breakers.remove(&card.delegate_id);
                (loose.unwrap_or_default(), BTreeMap::new())
            }
        };
        let domain = listing.trust_domain.as_deref();
        let place = card.jurisdiction.as_deref();
        let slot = Slot {
            id: card.delegate_id.clone(),
            breaker,
            available: is_available(card),
            domain: domain.map_or(NO_SYMBOL, |name| self.domains.claim(name)),
            place: place.map_or(NO_SYMBOL, |name| self.places.claim_place(name)),
            at: Vec::with_capacity(card.capabilities.len()),
        };
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                self.slots.push(None);
                (self.slots.len() - 1) as u32
            }
        };
        let slot = self.index(card, listing.credence, slot, number, &mut tallies);
        self.keep_loose(&card.delegate_id, tallies);
        self.by_id.insert(slot.id.clone(), number);
        if let Some(place) = self.slots.get_mut(number as usize) {
            *place = Some(slot);
        }
        Ok(())
    }

    /// Forgets a card. What the delegate has shown is remembered, in case it returns.
    pub fn remove(&mut self, delegate: &DelegateId) {
        if let Some((slot, tallies)) = self.take(delegate) {
            self.keep_loose(delegate, tallies);
            self.keep_loose_breaker(slot.id, slot.breaker);
        }
    }

    /// Work was given to a delegate: if it was resting, this is its one attempt.
    pub fn started(&mut self, delegate: &DelegateId, now: Timestamp) {
        self.update_breaker(delegate, |breaker, _| breaker.started(now));
    }

    /// Counts an outcome.
    pub fn record(&mut self, outcome: &TaskOutcome) {
        self.update_breaker(&outcome.delegate, |breaker, settings| match outcome.verdict {
            Verdict::Failed => breaker.failed(outcome.at, settings),
            // It answered; whether the answer was good is not what a breaker is for.
            Verdict::Finished | Verdict::Checked { .. } | Verdict::Refused => breaker.succeeded(),
        });
        let half_life_ms = self.settings.half_life_ms;
        self.with_tally(&outcome.delegate, &outcome.skill, outcome.at, |tally| {
            tally.add(outcome, half_life_ms);
        });
    }

    /// Adds a stored tally, or one that another node counted.
    ///
    /// # Errors
    ///
    /// When it is not the sum of any outcomes.
    pub fn absorb(&mut self, record: &TallyRecord) -> Result<(), EvidenceError> {
        record.tally.check()?;
        let half_life_ms = self.settings.half_life_ms;
        self.with_tally(&record.delegate, &record.skill, record.tally.as_of, |tally| {
            tally.merge(&record.tally, half_life_ms);
        });
        Ok(())
    }

    /// All evidence, in the order of delegates and skills: what [`Router::absorb`] takes in again.
    #[must_use]
    pub fn evidence(&self) -> Vec<TallyRecord> {
        let mut records: Vec<TallyRecord> = self
            .loose
            .iter()
            .map(|((delegate, skill), tally)| TallyRecord {
                delegate: delegate.clone(),
                skill: skill.clone(),
                tally: tally.clone(),
            })
            .collect();
        for (skill, index) in &self.skills {
            for entry in index.entries() {
                if let (Some(tally), Some(slot)) = (&entry.tally, self.slot(entry.slot)) {
                    let (delegate, skill) = (slot.id.clone(), skill.clone());
                    records.push(TallyRecord { delegate, skill, tally: Tally::clone(tally) });
                }
            }
        }
        records.sort_by(|a, b| (&a.delegate, &a.skill).cmp(&(&b.delegate, &b.skill)));
        records
    }

    /// What is known of a delegate's breaker.
    #[must_use]
    pub fn breaker(&self, delegate: &DelegateId) -> Breaker {
        let slot = self.by_id.get(delegate).and_then(|number| self.slot(*number));
        let loose = || self.loose_breakers.get(delegate).copied();
        slot.map(|slot| slot.breaker).or_else(loose).unwrap_or_default()
    }

    /// The breakers of all who failed of late, in the order of delegates: what
    /// [`Router::restore_breaker`] takes in again.
    #[must_use]
    pub fn breakers(&self) -> Vec<BreakerRecord> {
        let slots = self.slots.iter().flatten();
        let of_slots = slots.map(|slot| (&slot.id, &slot.breaker));
        let mut records: Vec<BreakerRecord> = of_slots
            .chain(&self.loose_breakers)
            .filter(|(_, breaker)| **breaker != Breaker::Closed)
            .map(|(delegate, breaker)| BreakerRecord {
                delegate: delegate.clone(),
                breaker: *breaker,
            })
            .collect();
        records.sort_by(|a, b| a.delegate.cmp(&b.delegate));
        records
    }

    /// Puts a breaker back as it was, before or after its delegate's card. A rest that would last
    /// longer than any does, because the clock was set back or the record is wrong, is cut.
    pub fn restore_breaker(&mut self, record: &BreakerRecord, now: Timestamp) {
        let breaker = record.breaker.within(now, &self.settings.breaker);
        if self.by_id.contains_key(&record.delegate) {
            self.update_breaker(&record.delegate, |current, _| *current = breaker);
        } else {
            self.keep_loose_breaker(record.delegate.clone(), breaker);
        }
    }

    /// Who should do it. The same cards, evidence and time give the same answer, in whatever order
    /// they came.
    #[must_use]
    pub fn choose(&self, request: &Request, now: Timestamp) -> Choice {
        let mut choice = Choice {
            skill: request.skill.clone(),
            strategy: request.strategy,
            cards: self.len(),
            ranked: Vec::new(),
            eligible: 0,
            passed_over: Vec::new(),
        };
        let index = self.skills.get(&request.skill);
        let without_skill = self.len() - index.map_or(0, SkillIndex::len);
        if without_skill > 0 {
            let (filter, count) = (Filter::Skill, without_skill);
            choice.passed_over.push(PassedOver { filter, count, samples: Vec::new() });
        }
        let Some(index) = index else { return choice };
        let sieve = self.sieve(request, now);
        let limit = request.limit.clamp(1, MOST_RANKED);
        let rests = |number| self.admission(number, now) == BreakerGate::Resting;
        let Sifted { best, eligible, stopped } = index.sift(&sieve, limit, rests);
        choice.eligible = eligible;
        let name = |kept: &Kept| Some(self.slot(index.entry(kept.at)?.slot)?.id.clone());
        for (filter, stopped) in Filter::ALL.into_iter().zip(stopped) {
            if stopped.count > 0 {
                let samples = stopped.samples.kept().iter().filter_map(name).collect();
                choice.passed_over.push(PassedOver { filter, count: stopped.count, samples });
            }
        }
        let Sieve { half_life_ms, exploration, .. } = sieve;
        choice.ranked = best
            .kept()
            .iter()
            .filter_map(|kept| {
                let entry = index.entry(kept.at)?;
                let why = Why {
                    claims: entry.claims.clone(),
                    estimate: entry.estimate(now, half_life_ms, exploration),
                    probe: self.admission(entry.slot, now) == BreakerGate::Probe,
                };
                Some(Ranked { delegate: name(kept)?, score: kept.score, why })
            })
            .collect();
        choice
    }

    /// The request in the index's own terms: this is where its texts are looked up, once.
    fn sieve(&self, request: &Request, now: Timestamp) -> Sieve<'_> {
        let find = |name: &String| self.domains.find(name);
        let mut excluded: Vec<u64> = request.exclude.iter().map(tie).collect();
        excluded.sort_unstable();
        Sieve {
            strategy: request.strategy,
            places: &self.places,
            domains: (!request.domains.is_empty())
                .then(|| request.domains.iter().filter_map(find).collect()),
            place: request
                .jurisdiction
                .as_ref()
                .map(|place| self.places.find_place(place).unwrap_or(NO_SYMBOL)),
            context_tokens: request.context_tokens.unwrap_or(0),
            mode: request.mode.map_or(0, mode_bit),
            excluded,
            // A budget that is not a number allows nothing.
            most_cost_usd: match request.budget.cost_usd {
                Some(cost) if cost.is_nan() => 0.0,
                Some(cost) => cost,
                None => f64::INFINITY,
            },
            most_latency_ms: request.budget.latency_ms.map_or(f64::INFINITY, |ms| ms as f64),
            half_life_ms: self.settings.half_life_ms,
            exploration: self.settings.exploration,
            now,
        }
    }

    /// Enters the capabilities of a card into the indexes of their skills.
    fn index(
        &mut self,
        card: &IdentityCard,
        credence: ClaimType,
        mut slot: Slot,
        number: u32,
        tallies: &mut BTreeMap<SkillName, Tally>,
    ) -> Slot {
        let tie = tie(&slot.id);
        let modes = card.supported_payload_modes.iter().copied().map(mode_bit);
        // Everybody has to support text, whether the card says so or not.
        let modes = modes.fold(mode_bit(PayloadMode::Text), |all, mode| all | mode);
        for capability in &card.capabilities {
            if slot.at.iter().any(|(skill, _)| *skill == capability.name) {
                continue;
            }
            let claims = Claims::of(card, capability, credence);
            let prior = claims.prior();
            let loose = || self.loose.remove(&(slot.id.clone(), capability.name.clone()));
            let tally = tallies.remove(&capability.name).or_else(loose);
            let gate = Gate {
                context_window: card.context_window,
                domain: slot.domain,
                place: slot.place,
                modes,
                availability: slot.availability(),
                expected: Expected::default(),
            };
            let entry = Entry { slot: number, claims, prior, tally: tally.map(Box::new) };
            let index = self.skills.entry(capability.name.clone()).or_default();
            let at = index.push(gate, tie, entry, self.settings.exploration);
            slot.at.push((capability.name.clone(), at));
        }
        slot
    }

    /// Takes a delegate out of everything, with what it has shown for each of its skills.
    fn take(&mut self, delegate: &DelegateId) -> Option<(Slot, BTreeMap<SkillName, Tally>)> {
        let number = self.by_id.remove(delegate)?;
        let slot = self.slots.get_mut(number as usize)?.take()?;
        self.free.push(number);
        self.domains.release(slot.domain);
        self.places.release(slot.place);
        let mut tallies = BTreeMap::new();
        for (skill, at) in &slot.at {
            let Some(index) = self.skills.get_mut(skill) else { continue };
            if let Some(tally) = index.remove(*at).and_then(|entry| entry.tally) {
                tallies.insert(skill.clone(), *tally);
            }
            let moved = index.entry(*at).map(|entry| entry.slot);
            if index.len() == 0 {
                self.skills.remove(skill);
            }
            let moved = moved.and_then(|number| self.slots.get_mut(number as usize)?.as_mut());
            if let Some(place) =
                moved.and_then(|slot| slot.at.iter_mut().find(|place| place.0 == *skill))
            {
                place.1 = *at;
            }
        }
        Some((slot, tallies))
    }

    /// Remembers what somebody without a card has shown, within bounds.
    fn keep_loose(&mut self, delegate: &DelegateId, tallies: BTreeMap<SkillName, Tally>) {
        let most = self.settings.most_loose_tallies;
        let latest = tallies.values().map(|tally| tally.as_of).max();
        let loose = tallies.into_iter().map(|(skill, tally)| ((delegate.clone(), skill), tally));
        self.loose.extend(loose);
        let Some(now) = latest.filter(|_| self.loose.len() > most) else { return };
        // Half of them go, so that this work is not done again for a while: those that weigh least.
        let half_life_ms = self.settings.half_life_ms;
        let weight = |tally: &Tally| tally.tries * decay(tally.as_of, now, half_life_ms);
        let mut weights: Vec<f64> = self.loose.values().map(weight).collect();
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        let room = most.div_ceil(2);
        let least = weights.get(room).copied().unwrap_or_default();
        // Of those that weigh the same at the edge, as many stay as there is room for.
        let mut equals = room - weights.partition_point(|weight| *weight > least);
        self.loose.retain(|_, tally| {
            let weight = weight(tally);
            let fits = weight == least && equals > 0;
            equals -= usize::from(fits);
            weight > least || fits
        });
    }

    /// One that is closed says nothing; when there are too many, the first to end its rest goes.
    fn keep_loose_breaker(&mut self, delegate: DelegateId, breaker: Breaker) {
        if breaker == Breaker::Closed {
            return;
        }
        self.loose_breakers.insert(delegate, breaker);
        if self.loose_breakers.len() > self.settings.most_loose_tallies {
            let soonest = self.loose_breakers.iter().min_by_key(|(_, it)| it.rests_until());
            if let Some(delegate) = soonest.map(|(delegate, _)| delegate.clone()) {
                self.loose_breakers.remove(&delegate);
            }
        }
    }

    fn with_tally(
        &mut self,
        delegate: &DelegateId,
        skill: &SkillName,
        at: Timestamp,
        change: impl FnOnce(&mut Tally),
    ) {
        let slot = self.by_id.get(delegate).and_then(|number| self.slot(*number));
        let place = slot.and_then(|slot| slot.at.iter().find(|(name, _)| name == skill));
        if let Some(&(_, place)) = place {
            if let Some(index) = self.skills.get_mut(skill) {
                index.change_tally(place, at, self.settings.exploration, change);
            }
            return;
        }
        let key = (delegate.clone(), skill.clone());
        let mut tally = self.loose.remove(&key).unwrap_or_else(|| Tally::new(at));
        change(&mut tally);
        self.keep_loose(delegate, BTreeMap::from([(key.1, tally)]));
    }

    fn update_breaker(
        &mut self,
        delegate: &DelegateId,
        change: impl FnOnce(&mut Breaker, &BreakerSettings),
    ) {
        let Some(&number) = self.by_id.get(delegate) else { return };
        let Some(Some(slot)) = self.slots.get_mut(number as usize) else { return };
        let before = slot.availability();
        change(&mut slot.breaker, &self.settings.breaker);
        let after = slot.availability();
        if before == after {
            return;
        }
        for (skill, at) in &slot.at {
            if let Some(index) = self.skills.get_mut(skill) {
                index.set_availability(*at, after);
            }
        }
    }

    fn admission(&self, number: u32, now: Timestamp) -> BreakerGate {
        self.slot(number).map_or(BreakerGate::Resting, |slot| slot.breaker.admission(now))
    }

    fn slot(&self, number: u32) -> Option<&Slot> {
        self.slots.get(number as usize)?.as_ref()
    }
}

impl Slot {
    fn availability(&self) -> Availability {
        match self.breaker {
            _ if !self.available => Availability::Unavailable,
            Breaker::Closed | Breaker::Failing { .. } => Availability::Available,
            Breaker::Open { .. } | Breaker::Probing { .. } => Availability::AskBreaker,
        }
    }
}

/// Decides between equals: by the id, and yet by no alphabet, in which a well-chosen name would win.
fn tie(delegate: &DelegateId) -> u64 {
    let digest = Sha256::digest(delegate.as_str().as_bytes());
    digest.iter().take(8).fold(0, |tie, byte| tie << 8 | u64::from(*byte))
}

/// A delegate that has lost its model says so in its metadata.
fn is_available(card: &IdentityCard) -> bool {
    card.metadata.get("available").is_none_or(|it| !it.eq_ignore_ascii_case("false"))
}

fn mode_bit(mode: PayloadMode) -> u8 {
    1_u8.checked_shl(u32::from(mode.number())).unwrap_or(0)
}

/// Longer lists are for searching, not for failing over.
const MOST_RANKED: usize = 100;
