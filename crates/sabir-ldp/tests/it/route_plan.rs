//! Failover, hedging, breakers and paths, as transcripts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use expect_test::{expect, expect_file};
use sabir_ldp::{
    Breaker, BreakerRecord, BreakerSettings, DelegateId, ErrorCategory, FailureKind, PathLimits,
    Plan, PlanInput, PlanOutput, PlanSettings, Refusal, Router, RouterSettings, Strategy,
    Timestamp, Verdict, check_path, extend_path,
};
use sabir_testkit::cases;

use crate::made::data;
use crate::route_world::{Offer, START, believed, delegate, names, outcome, request, router};

/// LD-R19, LD-R20: each script says in its first line what it shows.
#[test]
fn plans() {
    for case in cases(data("plans")) {
        expect_file![case.out_path()].assert_eq(&transcript(&case.text));
    }
}

/// LD-R20
#[test]
fn hedging_is_off_by_default() {
    assert_eq!(PlanSettings::default().hedge_after_ms, None);
}

/// LD-R19: an error says itself whether somebody else might succeed.
#[test]
fn errors_say_whether_to_move_on() {
    assert_eq!(FailureKind::of(&Refusal::LimitReached.error("full")), FailureKind::Retryable);
    assert_eq!(FailureKind::of(&Refusal::TrustDomainMismatch.error("no")), FailureKind::Final);
}

/// LD-R9, LD-R18: a delegate that breaks down failed; one that says no is well.
#[test]
fn errors_say_how_they_count() {
    let mut error = Refusal::TaskFailed.error("out of memory");
    assert_eq!(Verdict::of_failure(&error), Verdict::Failed);
    error.category = ErrorCategory::Policy;
    assert_eq!(Verdict::of_failure(&error), Verdict::Refused);
}

/// LD-R18: rests double up to the greatest, and a success forgets them.
#[test]
fn rests_grow_and_end() {
    let settings = BreakerSettings { most_cool_down_ms: 100_000, ..BreakerSettings::default() };
    let mut breaker = Breaker::default();
    let mut now = seconds(0);
    let mut out = String::new();
    for _ in 0..8 {
        breaker.failed(now, &settings);
        writeln!(out, "{:>3} {breaker:?}", now.millis() / 1_000).unwrap();
        if let Breaker::Open { until, .. } = breaker {
            // What had begun before the rest does not prolong it.
            let before = breaker;
            breaker.failed(now, &settings);
            assert_eq!(breaker, before);
            now = until;
            breaker.started(now);
        }
    }
    breaker.succeeded();
    writeln!(out, "{breaker:?}").unwrap();
    expect![[r#"
          0 Failing { failures: 1 }
          0 Failing { failures: 2 }
          0 Open { until: Timestamp(30000), cool_down_ms: 30000 }
         30 Open { until: Timestamp(90000), cool_down_ms: 60000 }
         90 Open { until: Timestamp(190000), cool_down_ms: 100000 }
        190 Open { until: Timestamp(290000), cool_down_ms: 100000 }
        290 Open { until: Timestamp(390000), cool_down_ms: 100000 }
        390 Open { until: Timestamp(490000), cool_down_ms: 100000 }
        Closed
    "#]]
    .assert_eq(&out);
}

/// LD-R23: a breaker is kept as a record; with it, before or after the card, the rest goes on.
#[test]
fn rests_outlive_a_restart() {
    let offers = [Offer::new("a", "s"), Offer::new("b", "s"), Offer::new("c", "s")];
    let mut router = router(&offers);
    for (name, times) in [("a", 3), ("b", 2)] {
        for _ in 0..times {
            router.record(&outcome(name, "s", START, Verdict::Failed));
        }
    }
    let text = serde_json::to_string(&router.breakers()).unwrap();
    expect![[r#"
        [{"delegate":"ldp:delegate:a","breaker":{"state":"open","until":1794830430000,"cool_down_ms":30000}},
        {"delegate":"ldp:delegate:b","breaker":{"state":"failing","failures":2}}]"#]].assert_eq(&text.replace("},{", "},\n{"));
    let records: Vec<BreakerRecord> = serde_json::from_str(&text).unwrap();
    assert_eq!(records[0].breaker.opened_at(), Some(START));

    let who = |router: &Router, later| {
        let mut names = names(router, &request("s", Strategy::Quality), START.plus_millis(later));
        names.sort();
        names.concat()
    };
    let mut before = Router::default();
    records.iter().for_each(|record| before.restore_breaker(record, START));
    assert_eq!(before.breakers(), records);
    offers.iter().for_each(|offer| before.put(&offer.card(), &believed()).unwrap());
    let mut after = crate::route_world::router(&offers);
    records.iter().for_each(|record| after.restore_breaker(record, START));
    for mut router in [before, after] {
        assert_eq!(router.breakers(), records);
        assert_eq!(who(&router, 29_999), "bc");
        assert_eq!(who(&router, 30_000), "abc");
        // To go and come back ends no rest.
        router.remove(&delegate("a"));
        assert_eq!(router.breakers(), records);
        router.put(&offers[0].card(), &believed()).unwrap();
        assert_eq!(who(&router, 0), "bc");
        router.record(&outcome("b", "s", START, Verdict::Failed));
        assert_eq!(who(&router, 0), "c");
    }
}

/// LD-R23: neither a clock that was set back nor a wrong record lets anybody rest for ever, and there
/// are never more breakers than there is room for.
#[test]
fn restored_rests_are_bounded() {
    let settings = RouterSettings { most_loose_tallies: 4, ..RouterSettings::default() };
    let mut router = Router::new(settings);
    let end = Timestamp::from_millis(u64::MAX);
    for number in 0..9 {
        let breaker = Breaker::Open { until: end, cool_down_ms: u64::MAX };
        let record = BreakerRecord { delegate: delegate(&number.to_string()), breaker };
        router.restore_breaker(&record, START);
    }
    assert_eq!(router.breakers().len(), 4);
    for record in router.breakers() {
        let hour = 3_600_000;
        let cut = Breaker::Open { until: START.plus_millis(hour), cool_down_ms: hour };
        assert_eq!(record.breaker, cut);
        assert_eq!(router.breaker(&record.delegate), cut);
    }
}

/// LD-R21: a task that was here is refused, wherever in its path that was.
#[test]
fn loops_are_found() {
    let limits = PathLimits::default();
    for at in 0..3 {
        let mut path = path(3);
        path[at] = delegate("me");
        let error = check_path(&delegate("me"), &path, limits, None).unwrap_err();
        assert_eq!(error.refusal().code(), "LOOP_DETECTED");
        assert!(!error.refusal().is_retryable());
    }
    assert_eq!(check_path(&delegate("me"), &path(3), limits, None), Ok(()));
    let handed_on = extend_path(&delegate("me"), &path(2));
    assert_eq!(handed_on, [path(2), vec![delegate("me")]].concat());
    assert!(check_path(&delegate("me"), &handed_on, limits, None).is_err());
}

/// LD-R22: neither the node's limit nor the contract's is passed. Each row: length of the path, depth
/// of the contract, whether it is let through.
#[test]
fn depth_is_bounded() {
    let rows = [
        (0, None, true),
        (7, None, true),
        (8, None, false),
        (100_000, None, false),
        (0, Some(0), true),
        // The sender had the task to begin with; nobody handed it on.
        (1, Some(0), true),
        (2, Some(0), false),
        (2, Some(1), true),
        (3, Some(1), false),
        (7, Some(u64::MAX), true),
        (8, Some(u64::MAX), false),
    ];
    for (length, depth, passes) in rows {
        let checked = check_path(&delegate("me"), &path(length), PathLimits::default(), depth);
        let code = checked.map_err(|error| error.refusal().code());
        let expected = if passes { Ok(()) } else { Err("DEPTH_EXCEEDED") };
        assert_eq!(code, expected, "{length} {depth:?}");
    }
}

fn path(length: usize) -> Vec<DelegateId> {
    (0..length).map(|at| delegate(&format!("hop-{at}"))).collect()
}

fn seconds(seconds: u64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

/// What a plan over a, b and c does: settings come first, then inputs, each behind its second.
fn transcript(script: &str) -> String {
    let lines = || script.lines().filter(|line| !line.starts_with('#'));
    let mut settings = PlanSettings::default();
    for setting in lines().filter_map(|line| line.strip_prefix("set ")) {
        let (name, number) = setting.split_once(' ').unwrap();
        let number: u64 = number.parse().unwrap();
        match name {
            "attempts" => settings.attempts = number as usize,
            "deadline" => settings.deadline = Some(seconds(number)),
            "hedge" => settings.hedge_after_ms = Some(number * 1_000),
            other => panic!("no setting {other}"),
        }
    }
    let mut plan = Plan::new(["a", "b", "c", "a"].map(delegate), settings);
    let mut out = String::new();
    for line in lines().filter(|line| !line.starts_with("set ")) {
        writeln!(out, "> {line}").unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let name = || delegate(words[2]);
        let input = match words[1] {
            "begin" => PlanInput::Begin,
            "tick" => PlanInput::Tick,
            "started" => PlanInput::Started { delegate: name() },
            "finished" => PlanInput::Finished { delegate: name() },
            "failed" => PlanInput::Failed { delegate: name(), failure: FailureKind::Retryable },
            "final" => PlanInput::Failed { delegate: name(), failure: FailureKind::Final },
            other => panic!("no input {other}"),
        };
        // Every input is a line of a log, too.
        let json = serde_json::to_string(&input).unwrap();
        assert_eq!(serde_json::from_str::<PlanInput>(&json).unwrap(), input);
        plan.handle(input, seconds(words[0].parse().unwrap()));
        while let Some(output) = plan.poll_output() {
            let json = serde_json::to_string(&output).unwrap();
            assert_eq!(serde_json::from_str::<PlanOutput>(&json).unwrap(), output);
            writeln!(out, "  {}", json.replace("ldp:delegate:", "")).unwrap();
        }
    }
    for attempt in plan.attempts() {
        let name = attempt.delegate.as_str().replace("ldp:delegate:", "");
        writeln!(out, "{name} from {}: {:?}", attempt.started_at.millis() / 1_000, attempt.state)
            .unwrap();
    }
    out
}
