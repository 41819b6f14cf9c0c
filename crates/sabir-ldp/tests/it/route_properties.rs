//! What holds of the router whatever it is given.

use proptest::prelude::*;
use sabir_ldp::{
    AttemptState, CallBudget, Choice, ClaimType, Exploration, FailureKind, Plan, PlanInput,
    PlanOutput, PlanSettings, Request, Router, RouterSettings, Strategy as Way, TaskOutcome,
    Timestamp, Verdict,
};
use sha2::{Digest as _, Sha256};

use crate::route_world::{DAY, Offer, START, believed, delegate, names, outcome, request, router};

const BASES: [ClaimType; 4] = [
    ClaimType::SelfClaimed,
    ClaimType::IssuerAttested,
    ClaimType::RuntimeObserved,
    ClaimType::ExternallyBenchmarked,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// LD-R6: the order in which cards arrive, leave and return, and in which the outcomes of different
    /// delegates are told, is not in the answer.
    #[test]
    fn order_does_not_matter(
        offers in offers(),
        outcomes in prop::collection::vec((0..12_usize, verdict(), 0..30_u64), 0..40),
        order in Just((0..12_usize).collect::<Vec<_>>()).prop_shuffle(),
        leavers in prop::collection::vec(0..12_usize, 0..6),
        way in way(),
    ) {
        let told = |at: usize| outcomes.iter().filter(move |it| it.0 == at);
        let record = |router: &mut Router, it: &(usize, Verdict, u64)| {
            let at = START.plus_millis(it.2 * DAY);
            router.record(&outcome(&it.0.to_string(), "s", at, it.1));
        };
        let mut plain = router(&offers);
        for it in &outcomes {
            record(&mut plain, it);
        }
        let mut mixed = Router::default();
        for &at in &order {
            if let Some(offer) = offers.get(at) {
                mixed.put(&offer.card(), &believed()).unwrap();
            }
            // Before its card as well as after it, as it falls.
            for &at in leavers.iter().filter(|leaver| **leaver != at) {
                mixed.remove(&delegate(&at.to_string()));
            }
        }
        for &at in &order {
            told(at).for_each(|it| record(&mut mixed, it));
        }
        for offer in offers.iter().rev() {
            // A breaker is of the card's time; a card that replaces another takes it over.
            mixed.put(&offer.card(), &believed()).unwrap();
        }
        let now = START.plus_millis(60 * DAY);
        let reference: Choice = plain.choose(&all(way), now);
        let choice = mixed.choose(&all(way), now);
        // Those who had no card when they failed have no breaker.
        prop_assert_eq!(without_probes(choice), without_probes(reference));
    }

    /// LD-R5: asking for fewer gives the first of those who come when asking for more, the scores
    /// fall, and everybody is counted once.
    #[test]
    fn fewer_are_the_first_of_more(offers in offers(), way in way(), limit in 1..15_usize) {
        let router = router(&offers);
        let more = router.choose(&all(way), START);
        let fewer = router.choose(&Request { limit, ..all(way) }, START);
        prop_assert_eq!(&fewer.ranked[..], &more.ranked[..limit.min(more.ranked.len())]);
        prop_assert!(more.ranked.is_sorted_by(|a, b| a.score >= b.score));
        let passed_over: usize = more.passed_over.iter().map(|it| it.count).sum();
        prop_assert_eq!(more.eligible + passed_over, more.cards);
    }

    /// LD-R6, LD-R17: the router passes over most candidates without reckoning; who looks at each of
    /// them alone finds the same, whatever their records, their ages, the budget and the time.
    #[test]
    fn nobody_is_missed(
        offers in offers(),
        told in prop::collection::vec((0..12_usize, verdict(), 0..60_u64, 0..60_000_u64, 0.0..1.0_f64), 0..60),
        budget in (prop::option::of(0.0..0.5_f64), prop::option::of(0..40_000_u64)),
        exploration in prop::sample::select(vec![Exploration::Off, Exploration::Optimistic]),
        limit in 1..5_usize,
        days in 0..90_u64,
        way in way(),
    ) {
        let settings = RouterSettings { exploration, ..RouterSettings::default() };
        let world = |offers: &[Offer]| {
            let mut router = Router::new(settings);
            for offer in offers {
                router.put(&offer.card(), &believed()).unwrap();
            }
            for (at, verdict, day, latency_ms, cost_usd) in &told {
                router.record(&TaskOutcome {
                    latency_ms: Some(*latency_ms),
                    cost_usd: Some(*cost_usd),
                    ..outcome(&at.to_string(), "s", START.plus_millis(day * DAY), *verdict)
                });
            }
            router
        };
        let budget = CallBudget { cost_usd: budget.0, latency_ms: budget.1 };
        let request = Request { limit, budget, ..request("s", way) };
        let now = START.plus_millis(days * DAY);
        let choice = world(&offers).choose(&request, now);
        let mut ranked = Vec::new();
        for offer in &offers {
            ranked.extend(world(std::slice::from_ref(offer)).choose(&request, now).ranked);
        }
        prop_assert_eq!(choice.eligible, ranked.len());
        let tie = |name: &str| Sha256::digest(name.as_bytes());
        ranked.sort_by(|a, b| {
            let ties = || tie(a.delegate.as_str()).cmp(&tie(b.delegate.as_str()));
            b.score.total_cmp(&a.score).then_with(ties)
        });
        ranked.truncate(limit);
        prop_assert_eq!(choice.ranked, ranked);
    }

    /// LD-R14: a better claim of the same kind, all else equal.
    #[test]
    fn better_claims_never_lower_a_rank(
        offers in offers(),
        at in 0..12_usize,
        better in 0.0..1.0_f64,
        outcomes in prop::collection::vec((0..12_usize, verdict()), 0..20),
        way in way(),
    ) {
        let at = at % offers.len();
        let mut improved = offers.clone();
        let offer = &mut improved[at];
        offer.quality = offer.quality.map(|it| it + (1.0 - it) * better);
        offer.cost_usd = offer.cost_usd.map(|it| it * (1.0 - better));
        offer.latency_ms = offer.latency_ms.map(|it| (it as f64 * (1.0 - better)) as u64);
        let rank = |offers: &[Offer]| {
            let mut router = router(offers);
            for (at, verdict) in &outcomes {
                router.record(&outcome(&at.to_string(), "s", START, *verdict));
            }
            let names = names(&router, &all(way), START.plus_millis(DAY));
            names.iter().position(|name| *name == at.to_string())
        };
        prop_assert!(rank(&improved) <= rank(&offers));
    }

    /// LD-R15: whatever the two claim, and on whatever grounds.
    #[test]
    fn records_decide_in_the_end(
        claims in prop::array::uniform2((0.0..=1.0_f64, 0..4_usize)),
        worse in 0.05..0.85_f64,
        gap in 0.1..0.15_f64,
    ) {
        let offer = |name: &str, (quality, basis): (f64, usize)| {
            Offer::new(name, "s").claiming(quality, BASES[basis])
        };
        let mut router = router(&[offer("worse", claims[0]), offer("better", claims[1])]);
        for _ in 0..600 {
            for (name, quality) in [("worse", worse), ("better", worse + gap)] {
                router.record(&outcome(name, "s", START, Verdict::Checked { quality }));
            }
        }
        let ranked = names(&router, &request("s", Way::Quality), START);
        prop_assert_eq!(ranked, ["better", "worse"]);
    }

    /// LD-R17: no figure breaks it, and every score is a number.
    #[test]
    fn odd_figures_do_no_harm(
        claims in prop::collection::vec((odd(), 0..=u64::MAX, odd()), 1..5),
        told in prop::collection::vec((0..5_usize, odd(), any::<u64>(), odd(), any::<u64>()), 0..20),
        budget in (prop::option::of(odd()), prop::option::of(any::<u64>())),
        context in any::<u64>(),
        now in any::<u64>(),
        half_life_ms in any::<u64>(),
    ) {
        let mut router = Router::new(RouterSettings { half_life_ms, ..RouterSettings::default() });
        for (at, (quality, latency_ms, cost_usd)) in claims.into_iter().enumerate() {
            // Cards are read from JSON and checked, so that only what passes can be claimed.
            let mut offer = Offer::new(&at.to_string(), "s");
            offer.quality = (0.0..=1.0).contains(&quality).then_some(quality);
            offer.latency_ms = Some(latency_ms >> 16);
            offer.cost_usd = (0.0..=1e6).contains(&cost_usd).then_some(cost_usd);
            router.put(&offer.card(), &believed()).unwrap();
        }
        for (at, quality, latency_ms, cost_usd, time) in told {
            let at = at.to_string();
            let verdict = Verdict::Checked { quality };
            router.record(&TaskOutcome {
                latency_ms: Some(latency_ms),
                cost_usd: Some(cost_usd),
                ..outcome(&at, "s", Timestamp::from_millis(time), verdict)
            });
        }
        for record in router.evidence() {
            prop_assert_eq!(record.tally.check(), Ok(()), "{:?}", record);
        }
        for way in Way::ALL {
            let request = Request {
                budget: CallBudget { cost_usd: budget.0, latency_ms: budget.1 },
                context_tokens: Some(context),
                ..all(way)
            };
            for request in [request, all(way)] {
                let choice = router.choose(&request, Timestamp::from_millis(now));
                let mut scores = choice.ranked.iter().map(|it| it.score);
                prop_assert!(scores.all(|score| score.is_finite() && score >= 0.0));
                prop_assert!(!choice.explain().contains("NaN"));
            }
        }
    }

    /// LD-R19, LD-R20: whatever is reported, in whatever order: at most two at work, nobody twice, at
    /// most as many as allowed, one end, and nothing after it.
    #[test]
    fn plans_keep_their_bounds(
        inputs in prop::collection::vec((0..5_u8, 0..6_usize, 0..4_000_u64), 0..60),
        attempts in 0..6_usize,
        hedge in prop::option::of(0..5_000_u64),
    ) {
        let settings = PlanSettings { attempts, hedge_after_ms: hedge, deadline: None };
        let mut plan = Plan::new((0..5).map(|at| delegate(&at.to_string())), settings);
        let (mut started, mut ends, mut now) = (Vec::new(), 0, START);
        let begin = (0, 0, 0);
        for (kind, who, later) in [begin].into_iter().chain(inputs) {
            now = now.plus_millis(later);
            let delegate = delegate(&who.to_string());
            let failure = FailureKind::Retryable;
            plan.handle(match kind {
                0 => PlanInput::Begin,
                1 => PlanInput::Started { delegate },
                2 => PlanInput::Failed { delegate, failure },
                3 => PlanInput::Finished { delegate },
                _ => PlanInput::Tick,
            }, now);
            while let Some(output) = plan.poll_output() {
                prop_assert_eq!(ends, 0);
                match output {
                    PlanOutput::Start { delegate } => {
                        prop_assert!(!started.contains(&delegate));
                        started.push(delegate);
                    }
                    PlanOutput::Done { .. } | PlanOutput::GiveUp { .. } => ends += 1,
                    PlanOutput::Stop { delegate } => prop_assert!(started.contains(&delegate)),
                    PlanOutput::WakeAt { at } => prop_assert!(hedge.is_some() && at >= now),
                }
            }
            let at_work = plan.attempts().iter().filter(|it| {
                matches!(it.state, AttemptState::Offered | AttemptState::Working)
            });
            let at_work = at_work.count();
            prop_assert!(at_work <= 1 + usize::from(hedge.is_some()));
            prop_assert!(plan.attempts().len() <= attempts);
            prop_assert_eq!(at_work == 0, plan.is_over());
        }
    }
}

fn all(way: Way) -> Request {
    Request { limit: 100, ..request("s", way) }
}

fn without_probes(mut choice: Choice) -> Choice {
    for ranked in &mut choice.ranked {
        ranked.why.probe = false;
    }
    choice
}

/// Up to twelve, named by their numbers.
fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let claims = (
        prop::option::of(prop_oneof![Just(0.5), 0.0..=1.0_f64]),
        0..4_usize,
        prop::option::of(0..100_000_u64),
        prop::option::of(0.0..1.0_f64),
        prop::bool::weighted(0.1),
    );
    prop::collection::vec(claims, 1..12).prop_map(|claims| {
        let offers = claims.into_iter().enumerate();
        let offers = offers.map(|(at, (quality, basis, latency_ms, cost_usd, asleep))| Offer {
            quality,
            basis: Some(BASES[basis]),
            latency_ms,
            cost_usd,
            available: asleep.then(|| "false".to_owned()),
            ..Offer::new(&at.to_string(), "s")
        });
        offers.collect()
    })
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        Just(Verdict::Finished),
        (0.0..=1.0_f64).prop_map(|quality| Verdict::Checked { quality }),
        Just(Verdict::Failed),
        Just(Verdict::Refused),
    ]
}

fn way() -> impl Strategy<Value = Way> {
    prop::sample::select(Way::ALL.to_vec())
}

fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::num::f64::ANY,
        0.0..=1.0_f64,
        prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308]),
    ]
}
