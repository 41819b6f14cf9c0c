//! Evidence: how outcomes add up, age, merge and come back, and how it ends for those who lie.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use expect_test::expect;
use sabir_ldp::{
    ClaimType, EvidenceError, Exploration, Listing, RouteError, Router, RouterSettings, Strategy,
    Tally, TallyRecord, TaskOutcome, Verdict,
};

use crate::route_world::{
    DAY, Offer, START, believed, delegate, names, outcome, request, router, skill,
};

const WEEK: u64 = 7 * DAY;

/// LD-R9: each kind of outcome moves what it speaks of, and nothing else.
#[test]
fn outcomes_add_up() {
    let mut tally = Tally::new(START);
    let mut out = String::new();
    let verdicts = [
        Verdict::Finished,
        Verdict::Checked { quality: 0.5 },
        Verdict::Checked { quality: 0.0 },
        Verdict::Failed,
        Verdict::Refused,
    ];
    for verdict in verdicts {
        let plain = outcome("a", "s", START, verdict);
        tally.add(&TaskOutcome { latency_ms: Some(100), cost_usd: Some(0.25), ..plain }, WEEK);
        let Tally { tries, successes, checked, quality, timed, priced, cost_usd, .. } = &tally;
        writeln!(
            out,
            "{verdict:?}: {successes} of {tries} succeeded, {checked} checked {quality}, {timed} \
             timed, {priced} priced {cost_usd}"
        )
        .unwrap();
    }
    expect![[r#"
        Finished: 1 of 1 succeeded, 0 checked 0, 1 timed, 1 priced 0.25
        Checked { quality: 0.5 }: 2 of 2 succeeded, 1 checked 0.5, 2 timed, 2 priced 0.5
        Checked { quality: 0.0 }: 2 of 3 succeeded, 1 checked 0.5, 2 timed, 3 priced 0.75
        Failed: 2 of 4 succeeded, 1 checked 0.5, 2 timed, 4 priced 1
        Refused: 2 of 5 succeeded, 1 checked 0.5, 2 timed, 5 priced 1.25
    "#]]
    .assert_eq(&out);
    assert!((tally.ln_latency - 2.0 * 100_f64.ln()).abs() < 1e-12);
}

/// LD-R10: half after a half-life, whichever of two outcomes is counted first.
#[test]
fn outcomes_age() {
    let (old, new) = (START, START.plus_millis(WEEK));
    let mut tally = Tally::new(old);
    tally.add(&outcome("a", "s", old, Verdict::Failed), WEEK);
    tally.add(&outcome("a", "s", new, Verdict::Finished), WEEK);
    assert_eq!((tally.as_of, tally.tries, tally.successes), (new, 1.5, 1.0));

    let mut late = Tally::new(new);
    late.add(&outcome("a", "s", new, Verdict::Finished), WEEK);
    late.add(&outcome("a", "s", old, Verdict::Failed), WEEK);
    assert_eq!(late, tally);
    assert_eq!(tally.aged(new.plus_millis(WEEK), WEEK).tries, 0.75);
    // A clock that went back makes nothing younger.
    assert_eq!(tally.aged(old, WEEK), tally);
    // Unless configured, it is a week.
    assert_eq!(RouterSettings::default().half_life_ms, WEEK);
}

/// LD-R11: the means, worked out by hand for one delegate with one record.
#[test]
fn estimates_are_the_means_of_the_page() {
    let mut offer = Offer::new("a", "s").claiming(0.9, ClaimType::SelfClaimed);
    (offer.latency_ms, offer.cost_usd) = (Some(1_000), Some(0.02));
    let mut router = router(&[offer]);
    for (quality, latency, cost) in [(0.5, 4_000, 0.1), (0.7, 250, 0.3)] {
        router.record(&TaskOutcome {
            latency_ms: Some(latency),
            cost_usd: Some(cost),
            ..outcome("a", "s", START, Verdict::Checked { quality })
        });
    }
    let choice = router.choose(&request("s", Strategy::Quality), START);
    let estimate = choice.ranked[0].why.estimate;
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    close(estimate.quality, (0.4 * 2.0 + 0.9 + 0.5 + 0.7) / 5.0);
    close(estimate.reliability, (0.8 * 2.0 + 2.0) / 4.0);
    close(estimate.latency_ms, (1_500.0_f64 * 4_000.0 * 250.0).cbrt());
    close(estimate.cost_usd, (0.03 + 0.1 + 0.3) / 3.0);
    close(estimate.outcomes, 2.0);
    assert!(estimate.quality_bound < estimate.quality);
    close(choice.ranked[0].score, estimate.reliability * estimate.quality_bound);
}

/// LD-R16: what is written and read again routes as before, whether cards or evidence come first.
#[test]
fn evidence_survives_a_restart() {
    let offers = ["a", "b", "c"].map(|name| Offer::new(name, "s"));
    let mut before = router(&offers);
    for (name, quality) in [("a", 0.2), ("b", 0.9), ("c", 0.5), ("gone", 0.8)] {
        before.record(&outcome(name, "s", START, Verdict::Checked { quality }));
    }
    let text = serde_json::to_string(&before.evidence()).unwrap();
    let records: Vec<TallyRecord> = serde_json::from_str(&text).unwrap();
    assert_eq!(records.len(), 4);
    let mut early = Router::new(RouterSettings::default());
    for record in &records {
        early.absorb(record).unwrap();
    }
    for offer in &offers {
        early.put(&offer.card(), &believed()).unwrap();
    }
    let mut late = router(&offers);
    for record in &records {
        late.absorb(record).unwrap();
    }
    for after in [early, late] {
        let request = request("s", Strategy::Quality);
        assert_eq!(after.choose(&request, START), before.choose(&request, START));
        assert_eq!(after.evidence(), before.evidence());
    }
    assert_eq!(names(&before, &request("s", Strategy::Quality), START), ["b", "c", "a"]);
}

/// LD-R16: a new card of the same delegate finds its record, and loses none of it for skills that it
/// no longer lists.
#[test]
fn evidence_outlives_cards() {
    let mut router = router(&[Offer::new("a", "s")]);
    router.record(&outcome("a", "s", START, Verdict::Finished));
    router.record(&outcome("a", "t", START, Verdict::Finished));
    let evidence = router.evidence();
    assert_eq!(evidence.len(), 2);
    router.put(&Offer::new("a", "t").card(), &believed()).unwrap();
    assert_eq!(router.evidence(), evidence);
    router.remove(&delegate("a"));
    assert_eq!(router.evidence(), evidence);
    assert!(router.is_empty());
}

/// LD-R16: a file that somebody edited does not poison the router.
#[test]
fn unsound_tallies_are_refused() {
    let mut sound = Tally::new(START);
    sound.add(&outcome("a", "s", START, Verdict::Checked { quality: 0.5 }), WEEK);
    assert_eq!(sound.check(), Ok(()));
    let changes: [fn(&mut Tally); 9] = [
        |it| it.tries = -1.0,
        |it| it.tries = f64::NAN,
        |it| it.tries = f64::INFINITY,
        |it| it.successes = 2.0,
        |it| it.checked = 2.0,
        |it| it.quality = 2.0,
        |it| it.timed = 5.0,
        |it| it.ln_latency = 1e9,
        |it| it.cost_usd = 1e9,
    ];
    for change in changes {
        let mut tally = sound.clone();
        change(&mut tally);
        let (delegate, skill) = (delegate("a"), skill("s"));
        let record = TallyRecord { delegate, skill, tally };
        let mut router = Router::default();
        assert_eq!(router.absorb(&record), Err(EvidenceError::Unsound), "{record:?}");
        assert!(router.evidence().is_empty());
    }
}

/// LD-R17: both memories have an end, and what weighs most stays.
#[test]
fn memory_is_bounded() {
    let settings =
        RouterSettings { most_cards: 2, most_loose_tallies: 10, ..RouterSettings::default() };
    let mut router = Router::new(settings);
    let put =
        |router: &mut Router, name: &str| router.put(&Offer::new(name, "s").card(), &believed());
    put(&mut router, "a").unwrap();
    put(&mut router, "b").unwrap();
    assert_eq!(put(&mut router, "c"), Err(RouteError::Full { most_cards: 2 }));
    put(&mut router, "a").unwrap();
    assert_eq!(router.len(), 2);

    for _ in 0..5 {
        router.record(&outcome("regular", "s", START, Verdict::Finished));
    }
    for at in 0..1_000 {
        router.record(&outcome(&format!("passer-by-{at}"), "s", START, Verdict::Finished));
        assert!(router.evidence().len() <= 10);
    }
    assert!(router.evidence().iter().any(|it| it.delegate == delegate("regular")));
}

/// LD-R12: ten of thirty claim 0.99 and deliver 0.3. Who believes claims does worse than who throws
/// dice; who looks at outcomes does nearly as well as who knows everything.
#[test]
fn liars_are_found_out() {
    let people = people(ClaimType::SelfClaimed, ClaimType::SelfClaimed);
    let mut rows = vec![
        ("knowing everything", simulate(&people, None, |_, _| 29)),
        ("at random", simulate(&people, None, |dice, _| (dice.next() % 30) as usize)),
        ("by claims", simulate(&people, None, |_, people| best_claim(people))),
    ];
    use ClaimType::{ExternallyBenchmarked as Benchmarked, SelfClaimed as Claimed};
    for (name, exploration, liars, honest) in [
        ("by record", Exploration::Off, Claimed, Claimed),
        ("by record, exploring", Exploration::Optimistic, Claimed, Claimed),
        ("by record, all believed", Exploration::Off, Benchmarked, Benchmarked),
        ("by record, liars believed", Exploration::Off, Benchmarked, Claimed),
    ] {
        let people = self::people(liars, honest);
        rows.push((name, simulate(&people, Some(exploration), |_, _| 0)));
    }
    let mut table = String::from("\nway of choosing              all 1,000   last 200\n");
    for (name, Regret { all, last }) in &rows {
        writeln!(table, "{name:<28}{all:>10.3}{last:>11.3}").unwrap();
    }
    // What better choices would have added to each task's quality.
    println!("{table}");
    expect![[r#"

        way of choosing              all 1,000   last 200
        knowing everything               0.000      0.000
        at random                        0.339      0.340
        by claims                        0.620      0.620
        by record                        0.013      0.000
        by record, exploring             0.010      0.000
        by record, all believed          0.069      0.000
        by record, liars believed        0.620      0.620
    "#]]
    .assert_eq(&table);
    let [knowing, random, claims, record, exploring, all_believed, liars_believed] =
        [0, 1, 2, 3, 4, 5, 6].map(|at| &rows[at].1);
    assert!(knowing.all < record.all && record.all < random.all && random.all < claims.all);
    for row in [record, exploring, all_believed] {
        assert!(row.all < random.all / 2.0 && row.last < 0.05);
    }
    // A lie that is believed more than the truth is not found out in time: this is why a card's own
    // word about its basis is believed only where there is a reason.
    assert!(liars_believed.all > random.all);
    let doubted = self::people(Benchmarked, Claimed);
    assert_eq!(simulate_with(&doubted, Some(Exploration::Off), Claimed, |_, _| 0), *record);
}

struct Person {
    name: String,
    quality: f64,
    claim: f64,
    basis: ClaimType,
}

/// Ten liars, then twenty who say what is true, the best last.
fn people(liars: ClaimType, honest: ClaimType) -> Vec<Person> {
    let liar = |at| (format!("liar-{at}"), 0.3, 0.99, liars);
    let honest = |at| {
        let quality = 0.54 + 0.02 * f64::from(at);
        (format!("honest-{at}"), quality, quality, honest)
    };
    (0..10)
        .map(liar)
        .chain((0..20).map(honest))
        .map(|(name, quality, claim, basis)| Person { name, quality, claim, basis })
        .collect()
}

fn best_claim(people: &[Person]) -> usize {
    let claims = people.iter().enumerate().map(|(at, person)| (person.claim, at));
    claims.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
}

#[derive(Debug, PartialEq)]
struct Regret {
    all: f64,
    last: f64,
}

/// A thousand tasks, one a minute, each result checked by somebody who errs by a tenth. Without a
/// router, `pick` chooses.
fn simulate(
    people: &[Person],
    exploration: Option<Exploration>,
    pick: impl Fn(&mut Dice, &[Person]) -> usize,
) -> Regret {
    simulate_with(people, exploration, ClaimType::ExternallyBenchmarked, pick)
}

/// The same where claims are believed up to `credence`.
fn simulate_with(
    people: &[Person],
    exploration: Option<Exploration>,
    credence: ClaimType,
    pick: impl Fn(&mut Dice, &[Person]) -> usize,
) -> Regret {
    let settings = RouterSettings {
        exploration: exploration.unwrap_or_default(),
        ..RouterSettings::default()
    };
    let mut router = Router::new(settings);
    for person in people {
        let offer = Offer::new(&person.name, "s").claiming(person.claim, person.basis);
        let listing = Listing { trust_domain: None, credence };
        router.put(&offer.card(), &listing).unwrap();
    }
    let best = people.iter().map(|person| person.quality).fold(0.0, f64::max);
    let mut dice = Dice(1);
    let mut regrets = Vec::new();
    for task in 0..1_000 {
        let now = START.plus_millis(task * 60_000);
        let person = match exploration {
            None => &people[pick(&mut dice, people)],
            Some(_) => {
                let chosen = names(&router, &request("s", Strategy::Quality), now).remove(0);
                people.iter().find(|person| person.name == chosen).unwrap()
            }
        };
        let error = (dice.next() % 1_000) as f64 / 5_000.0 - 0.1;
        let quality = (person.quality + error).clamp(0.0, 1.0);
        router.record(&outcome(&person.name, "s", now, Verdict::Checked { quality }));
        regrets.push(best - person.quality);
    }
    let mean = |regrets: &[f64]| regrets.iter().sum::<f64>() / regrets.len() as f64;
    Regret { all: mean(&regrets), last: mean(&regrets[800..]) }
}

/// SplitMix64: the same throws in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }
}
