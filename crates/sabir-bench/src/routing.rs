//! The router over many cards, beside one look at as many numbers, which nothing that considers them
//! all can beat.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::ensure;
use sabir_ldp::{
    CallBudget, Capability, ClaimType, DelegateId, IdentityCard, Listing, PayloadMode, Quality,
    Request, Router, RouterSettings, Score, SkillName, Strategy, TaskOutcome, Timestamp,
    TrustDomain, Verdict,
};
use serde::Serialize;

use crate::Effort;
use crate::middle;

#[derive(Serialize)]
pub(crate) struct Routing {
    cards: usize,
    /// Seconds to take one card in.
    put: f64,
    /// Seconds to find the greatest of as many numbers.
    floor: f64,
    rows: Vec<RoutingRow>,
}

/// One kind of choice.
#[derive(Serialize)]
struct RoutingRow {
    name: String,
    eligible: usize,
    seconds: f64,
}

pub(crate) fn measure(effort: Effort) -> anyhow::Result<Routing> {
    let (cards, rounds) = match effort {
        Effort::Quick => (1_000, 1),
        Effort::Full => (100_000, 51),
    };
    let all: Vec<IdentityCard> = (0..cards).map(card).collect::<anyhow::Result<_>>()?;
    let mut router = Router::new(RouterSettings::default());
    let started = Instant::now();
    for (number, card) in all.iter().enumerate() {
        let trust_domain = Some(format!("domain-{}", number % 7));
        router.put(card, &Listing { trust_domain, credence: ClaimType::IssuerAttested })?;
    }
    let put = started.elapsed().as_secs_f64() / cards as f64;
    let mut rows = Vec::new();
    for strategy in Strategy::ALL {
        let name = format!("by {}, claims alone", strategy.word());
        rows.push(row(name, &router, &Request { strategy, ..anybody()? }, rounds)?);
    }
    rows.push(row("with every filter".to_owned(), &router, &narrow(&all)?, rounds)?);
    for (number, card) in all.iter().enumerate().step_by(10) {
        router.record(&outcome(number, card)?);
    }
    rows.push(row("a tenth has a record".to_owned(), &router, &anybody()?, rounds)?);
    for (number, card) in all.iter().enumerate() {
        router.record(&outcome(number, card)?);
    }
    for strategy in Strategy::ALL {
        let name = format!("by {}, all have a record", strategy.word());
        rows.push(row(name, &router, &Request { strategy, ..anybody()? }, rounds)?);
    }
    let budget = CallBudget { cost_usd: Some(0.05), latency_ms: Some(2_000) };
    let request = Request { budget, ..anybody()? };
    rows.push(row("within a budget, all records".to_owned(), &router, &request, rounds)?);
    let numbers: Vec<f64> = (0..cards).map(|number| mixed(number) as f64).collect();
    let floor = middle::one(rounds, || numbers.iter().copied().max_by(f64::total_cmp));
    Ok(Routing { cards, put, floor, rows })
}

impl Routing {
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "\n{:<34}{:>10}{:>12}{:>12}",
            format!("choose among {} cards", self.cards),
            "eligible",
            "ms",
            "x floor"
        );
        for RoutingRow { name, eligible, seconds } in &self.rows {
            let ratio = seconds / self.floor;
            let _ = writeln!(out, "{name:<34}{eligible:>10}{:>12.3}{ratio:>12.1}", seconds * 1e3);
        }
        let (floor, put) = (self.floor * 1e3, self.put * 1e6);
        let _ = writeln!(out, "(floor: the greatest of as many numbers, {floor:.3} ms)");
        let _ = writeln!(out, "a card is taken in within {put:.1} us");
        out
    }
}

fn row(
    name: String,
    router: &Router,
    request: &Request,
    rounds: usize,
) -> anyhow::Result<RoutingRow> {
    let choice = router.choose(request, NOW);
    ensure!(choice.ranked.len() == request.limit, "{name}: {} were found", choice.ranked.len());
    let seconds = middle::one(rounds, || router.choose(request, NOW));
    Ok(RoutingRow { name, eligible: choice.eligible, seconds })
}

fn anybody() -> anyhow::Result<Request> {
    Ok(Request::new(SkillName::new("translate")?))
}

fn narrow(all: &[IdentityCard]) -> anyhow::Result<Request> {
    Ok(Request {
        domains: vec!["domain-3".to_owned(), "domain-5".to_owned()],
        jurisdiction: Some("eu".to_owned()),
        context_tokens: Some(16_000),
        mode: Some(PayloadMode::SemanticFrame),
        exclude: all.iter().take(5).map(|card| card.delegate_id.clone()).collect(),
        ..anybody()?
    })
}

/// Good and bad, dear and cheap, of today and of a month ago.
fn outcome(number: usize, card: &IdentityCard) -> anyhow::Result<TaskOutcome> {
    let mixed = mixed(number + 7);
    let age = (mixed >> 40) % (30 * 24 * 3_600 * 1_000);
    Ok(TaskOutcome {
        delegate: card.delegate_id.clone(),
        skill: SkillName::new("translate")?,
        at: Timestamp::from_millis(NOW.millis() - age),
        verdict: Verdict::Checked { quality: (mixed & 0xff) as f64 / 255.0 },
        latency_ms: Some(100 + (mixed >> 8 & 0xfff)),
        cost_usd: Some((mixed >> 20 & 0xff) as f64 / 2_550.0),
    })
}

fn card(number: usize) -> anyhow::Result<IdentityCard> {
    let mixed = mixed(number);
    let share = |shift: u32| (mixed >> shift & 0xff) as f64 / 255.0;
    let quality = Quality {
        score: Score::new(share(0)),
        latency_p50_ms: Some(100 + (mixed >> 8 & 0xfff)),
        cost_per_call_usd: Some(share(20) / 10.0),
        claim_type: ClaimType::ALL[(mixed >> 28) as usize % 4],
        ..Quality::default()
    };
    let skill = Capability { quality, ..Capability::named(SkillName::new("translate")?) };
    let places = ["eu-west", "eu-north", "us-east", "ap-south"];
    let delegate_id = DelegateId::new(format!("ldp:delegate:worker-{number:06}"))?;
    Ok(IdentityCard {
        context_window: 8_000 << (mixed >> 32 & 3),
        jurisdiction: places.get((mixed >> 34 & 3) as usize).map(|place| (*place).to_owned()),
        capabilities: vec![skill],
        supported_payload_modes: vec![PayloadMode::SemanticFrame, PayloadMode::Text],
        ..IdentityCard::named(delegate_id, "worker", TrustDomain::closed("work"))
    })
}

/// Numbers that look like chance and are the same in every run.
fn mixed(number: usize) -> u64 {
    let spread = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread ^ spread >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

const NOW: Timestamp = Timestamp::from_millis(1_794_830_400_000);
