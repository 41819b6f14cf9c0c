//! Failover, hedging, breakers and paths, as transcripts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use sabir_ldp::{
    Breaker, BreakerSettings, DelegateId, ErrorCategory, FailureKind, PathLimits, Plan, PlanInput,
    PlanOutput, PlanSettings, Refusal, Timestamp, Verdict, check_path, extend_path,
};

use crate::route_world::delegate;

/// LD-R19: the next one gets its turn when the one before failed in a way that may be retried.
#[test]
fn retryable_failures_move_on() {
    check(
        PlanSettings::default(),
        "0 begin
         1 started a
         5 failed a
         6 started b
         9 finished b
         9 finished a",
        expect![[r#"
            > 0 begin
              {"output":"start","delegate":"a"}
            > 1 started a
            > 5 failed a
              {"output":"start","delegate":"b"}
            > 6 started b
            > 9 finished b
              {"output":"done","delegate":"b"}
            > 9 finished a
            a from 0: Failed
            b from 5: Finished
        "#]],
    );
}

/// LD-R19: what would fail elsewhere too is not tried elsewhere.
#[test]
fn final_failures_end_the_plan() {
    check(
        PlanSettings::default(),
        "0 begin\n1 final a\n2 finished a",
        expect![[r#"
        > 0 begin
          {"output":"start","delegate":"a"}
        > 1 final a
          {"output":"give_up","why":"final"}
        > 2 finished a
        a from 0: Failed
    "#]],
    );
}

/// LD-R19: a plan ends when attempts or delegates are used up, and at its deadline.
#[test]
fn plans_end() {
    check(
        PlanSettings { attempts: 2, ..PlanSettings::default() },
        "0 begin\n1 failed a\n2 failed b",
        expect![[r#"
            > 0 begin
              {"output":"start","delegate":"a"}
            > 1 failed a
              {"output":"start","delegate":"b"}
            > 2 failed b
              {"output":"give_up","why":"attempts_used_up"}
            a from 0: Failed
            b from 1: Failed
        "#]],
    );
    check(
        PlanSettings { attempts: 9, ..PlanSettings::default() },
        "0 begin\n1 failed a\n2 failed b\n3 failed c",
        expect![[r#"
            > 0 begin
              {"output":"start","delegate":"a"}
            > 1 failed a
              {"output":"start","delegate":"b"}
            > 2 failed b
              {"output":"start","delegate":"c"}
            > 3 failed c
              {"output":"give_up","why":"nobody_left"}
            a from 0: Failed
            b from 1: Failed
            c from 2: Failed
        "#]],
    );
    check(
        PlanSettings { deadline: Some(seconds(10)), ..PlanSettings::default() },
        "0 begin\n9 failed a\n10 failed b",
        expect![[r#"
            > 0 begin
              {"output":"start","delegate":"a"}
            > 9 failed a
              {"output":"start","delegate":"b"}
            > 10 failed b
              {"output":"give_up","why":"deadline_passed"}
            a from 0: Failed
            b from 9: Failed
        "#]],
    );
}

/// LD-R20: hedging is off unless somebody switches it on.
#[test]
fn nobody_is_hedged_by_default() {
    assert_eq!(PlanSettings::default().hedge_after_ms, None);
    check(
        PlanSettings::default(),
        "0 begin\n1 started a\n3600 tick",
        expect![[r#"
        > 0 begin
          {"output":"start","delegate":"a"}
        > 1 started a
        > 3600 tick
        a from 0: Working
    "#]],
    );
}

/// LD-R20: the second one starts after the delay, once, and the slower one is stopped.
#[test]
fn hedged_plans_take_the_first_result() {
    check(
        hedging(),
        "0 begin
         1 started a
         4 tick
         5 tick
         6 tick
         7 finished b
         8 finished a",
        expect![[r#"
            > 0 begin
              {"output":"start","delegate":"a"}
              {"output":"wake_at","at":5000}
            > 1 started a
            > 4 tick
            > 5 tick
              {"output":"start","delegate":"b"}
            > 6 tick
            > 7 finished b
              {"output":"stop","delegate":"a"}
              {"output":"done","delegate":"b"}
            > 8 finished a
            a from 0: Stopped
            b from 5: Finished
        "#]],
    );
}

/// LD-R20: a failure of one leaves the other at work, and the free place is filled.
#[test]
fn hedged_plans_survive_failures() {
    check(
        hedging(),
        "0 begin
         5 tick
         6 failed a
         7 failed b
         8 finished c",
        expect![[r#"
            > 0 begin
              {"output":"start","delegate":"a"}
              {"output":"wake_at","at":5000}
            > 5 tick
              {"output":"start","delegate":"b"}
            > 6 failed a
              {"output":"start","delegate":"c"}
            > 7 failed b
            > 8 finished c
              {"output":"done","delegate":"c"}
            a from 0: Failed
            b from 5: Failed
            c from 6: Finished
        "#]],
    );
    check(
        hedging(),
        "0 begin
         5 tick
         6 final a
         7 tick
         8 finished b",
        expect![[r#"
            > 0 begin
              {"output":"start","delegate":"a"}
              {"output":"wake_at","at":5000}
            > 5 tick
              {"output":"start","delegate":"b"}
            > 6 final a
            > 7 tick
            > 8 finished b
              {"output":"done","delegate":"b"}
            a from 0: Failed
            b from 5: Finished
        "#]],
    );
    check(
        hedging(),
        "0 begin\n5 tick\n6 final a\n7 failed b",
        expect![[r#"
        > 0 begin
          {"output":"start","delegate":"a"}
          {"output":"wake_at","at":5000}
        > 5 tick
          {"output":"start","delegate":"b"}
        > 6 final a
        > 7 failed b
          {"output":"give_up","why":"final"}
        a from 0: Failed
        b from 5: Failed
    "#]],
    );
}

/// LD-R19: reports about others, twice, too early or too late change nothing.
#[test]
fn what_does_not_belong_is_ignored() {
    check(
        PlanSettings::default(),
        "0 finished a
         0 tick
         0 begin
         0 begin
         1 finished b
         1 failed nobody
         2 failed a
         2 failed a
         3 finished a",
        expect![[r#"
            > 0 finished a
            > 0 tick
            > 0 begin
              {"output":"start","delegate":"a"}
            > 0 begin
            > 1 finished b
            > 1 failed nobody
            > 2 failed a
              {"output":"start","delegate":"b"}
            > 2 failed a
            > 3 finished a
            a from 0: Failed
            b from 2: Offered
        "#]],
    );
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

fn hedging() -> PlanSettings {
    PlanSettings { hedge_after_ms: Some(5_000), ..PlanSettings::default() }
}

fn seconds(seconds: u64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

/// A plan over a, b and c.
fn check(settings: PlanSettings, script: &str, expected: Expect) {
    let mut plan = Plan::new(["a", "b", "c", "a"].map(delegate), settings);
    let mut out = String::new();
    for line in script.lines().map(str::trim) {
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
    expected.assert_eq(&out);
}
