//! The replay window, against what it promises: a message passes once, and memory is bounded.

#![expect(clippy::unwrap_used, reason = "ids of these tests are ids")]

use std::collections::HashSet;

use proptest::prelude::*;
use sabir_ldp::{
    DelegateId, MessageId, Refusal, ReplayFault, ReplayLimits, ReplayRecord, ReplayWindow,
    Timestamp,
};

const MINUTE: u64 = 60_000;
const NOON: u64 = 1_800_000_000_000;

fn admit(
    window: &mut ReplayWindow,
    sender: &str,
    id: &str,
    sent_at: u64,
    now: u64,
) -> Result<ReplayRecord, ReplayFault> {
    let (sender, id) = (DelegateId::new(sender).unwrap(), MessageId::new(id).unwrap());
    window.admit(&sender, &id, Timestamp::from_millis(sent_at), Timestamp::from_millis(now))
}

fn refusal(result: Result<ReplayRecord, ReplayFault>) -> Option<Refusal> {
    result.err().map(ReplayFault::refusal)
}

/// LD-S14
#[test]
fn five_minutes_back_and_one_ahead() {
    let mut window = ReplayWindow::new(ReplayLimits::default());
    for (id, sent_at, passes) in [
        ("a", NOON - 5 * MINUTE, true),
        ("b", NOON - 5 * MINUTE - 1, false),
        ("c", NOON + MINUTE, true),
        ("d", NOON + MINUTE + 1, false),
        ("e", 0, false),
        ("f", u64::MAX, false),
    ] {
        let expected = (!passes).then_some(Refusal::TimestampOutOfWindow);
        assert_eq!(refusal(admit(&mut window, "x", id, sent_at, NOON)), expected, "{id}");
    }
    assert_eq!(window.len(), 2);
    let error = admit(&mut window, "x", "g", NOON - 6 * MINUTE, NOON).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the message is from 2027-01-15T07:54:00.000Z, which is too long ago at \
         2027-01-15T08:00:00.000Z"
    );
}

/// LD-S15
#[test]
fn an_id_passes_once_for_each_sender() {
    let mut window = ReplayWindow::new(ReplayLimits::default());
    assert_eq!(refusal(admit(&mut window, "x", "1", NOON, NOON)), None);
    assert_eq!(refusal(admit(&mut window, "x", "1", NOON, NOON)), Some(Refusal::ReplayDetected));
    // Another time in the message does not make it new.
    let later = admit(&mut window, "x", "1", NOON + 10, NOON + 20);
    assert_eq!(refusal(later), Some(Refusal::ReplayDetected));
    assert_eq!(refusal(admit(&mut window, "y", "1", NOON, NOON)), None);
    assert_eq!(refusal(admit(&mut window, "x", "2", NOON, NOON)), None);
    // Names that run together are two names.
    assert_eq!(refusal(admit(&mut window, "xx", "3", NOON, NOON)), None);
    assert_eq!(refusal(admit(&mut window, "x", "x3", NOON, NOON)), None);
}

/// LD-S16
#[test]
fn nothing_is_forgotten_to_make_room() {
    let limits = ReplayLimits { max_per_sender: 2, max_in_total: 3, ..ReplayLimits::default() };
    let mut window = ReplayWindow::new(limits);
    for (sender, id, expected) in [
        ("x", "1", None),
        ("x", "2", None),
        ("x", "3", Some(Refusal::LimitReached)),
        ("y", "1", None),
        ("z", "1", Some(Refusal::LimitReached)),
        ("x", "1", Some(Refusal::ReplayDetected)),
        ("y", "1", Some(Refusal::ReplayDetected)),
    ] {
        assert_eq!(refusal(admit(&mut window, sender, id, NOON, NOON)), expected, "{sender} {id}");
    }
    // Room comes with time, when the timestamps keep the old ones out.
    let later = NOON + 5 * MINUTE + 1000;
    assert_eq!(refusal(admit(&mut window, "z", "1", later, later)), None);
    assert_eq!(window.len(), 1);
    let old = admit(&mut window, "x", "1", NOON, later);
    assert_eq!(refusal(old), Some(Refusal::TimestampOutOfWindow));
}

/// LD-S16: who speaks under many names fills the window sooner, and nobody is forgotten for it.
#[test]
fn senders_are_bounded_too() {
    let mut window = ReplayWindow::new(ReplayLimits { max_senders: 2, ..ReplayLimits::default() });
    for (sender, id, expected) in [
        ("x", "1", None),
        ("y", "1", None),
        ("z", "1", Some(Refusal::LimitReached)),
        ("x", "2", None),
        ("x", "1", Some(Refusal::ReplayDetected)),
    ] {
        assert_eq!(refusal(admit(&mut window, sender, id, NOON, NOON)), expected, "{sender} {id}");
    }
    let later = NOON + 6 * MINUTE;
    assert_eq!(refusal(admit(&mut window, "z", "1", later, later)), None);
}

/// LD-S17
#[test]
fn a_restart_forgets_nothing() {
    let mut window = ReplayWindow::new(ReplayLimits::default());
    let kept: Vec<ReplayRecord> = (0..100)
        .map(|n: u64| admit(&mut window, "x", &n.to_string(), NOON + n * 100, NOON).unwrap())
        .collect();
    let listed: HashSet<String> = window.records().map(|record| record.digest).collect();
    assert_eq!(listed, kept.iter().map(|record| record.digest.clone()).collect());
    // Records are rows of a store in between.
    let text = serde_json::to_string(&kept).unwrap();
    let kept: Vec<ReplayRecord> = serde_json::from_str(&text).unwrap();
    let last_seen = Timestamp::from_millis(NOON);
    let mut window = ReplayWindow::restore(ReplayLimits::default(), kept, last_seen);
    assert_eq!(window.len(), 100);
    for n in 0..100 {
        let again = admit(&mut window, "x", &n.to_string(), NOON + n * 100, NOON + 1);
        assert_eq!(refusal(again), Some(Refusal::ReplayDetected));
    }
}

/// LD-S17
#[test]
fn a_clock_that_is_set_back_brings_nothing_back() {
    let mut window = ReplayWindow::new(ReplayLimits::default());
    assert_eq!(refusal(admit(&mut window, "x", "1", NOON, NOON)), None);
    let later = NOON + 10 * MINUTE;
    assert_eq!(refusal(admit(&mut window, "x", "2", later, later)), None);
    assert_eq!(window.len(), 1);
    let replayed = admit(&mut window, "x", "1", NOON, NOON);
    assert_eq!(refusal(replayed), Some(Refusal::TimestampOutOfWindow));
    let later = Timestamp::from_millis(later);
    let mut window = ReplayWindow::restore(ReplayLimits::default(), kept(&window), later);
    let replayed = admit(&mut window, "x", "1", NOON, NOON);
    assert_eq!(refusal(replayed), Some(Refusal::TimestampOutOfWindow));
}

/// What a restart is given.
fn kept(window: &ReplayWindow) -> Vec<ReplayRecord> {
    window.marks(&DelegateId::new("node").unwrap()).chain(window.records()).collect()
}

/// LD-S17: messages come for an hour while the clock is a day ahead. Once it is right, what is new
/// passes, and when that day comes, what came then does not pass again.
#[test]
fn a_clock_that_was_ahead_keeps_nobody_out() {
    const DAY: u64 = 24 * 60 * MINUTE;
    let mut window = ReplayWindow::new(ReplayLimits::default());
    admit(&mut window, "x", "before", NOON, NOON).unwrap();
    for minute in 0..60 {
        let ahead = NOON + DAY + minute * MINUTE;
        admit(&mut window, "x", &format!("ahead-{minute}"), ahead, ahead).unwrap();
    }
    for restarts in [false, true] {
        let now = NOON + 2 * MINUTE;
        if restarts {
            let limits = ReplayLimits::default();
            window = ReplayWindow::restore(limits, kept(&window), Timestamp::from_millis(now));
        }
        let new = format!("new-{restarts}");
        assert_eq!(refusal(admit(&mut window, "x", &new, now, now)), None, "{restarts}");
        let again = admit(&mut window, "x", "before", NOON, now);
        assert_eq!(
            again.unwrap_err().to_string(),
            "the message is from 2027-01-15T08:00:00.000Z: this node's clock was past it before, so \
             that it may be a second copy"
        );
    }
    for minute in 0..60 {
        let then = NOON + DAY + minute * MINUTE;
        let again = admit(&mut window, "x", &format!("ahead-{minute}"), then, then);
        assert!(again.is_err(), "{minute}");
    }
}

/// An id, the time that the message gives, how the clock moves before it comes, and whether the node
/// restarts in between.
fn arrivals() -> impl Strategy<Value = Vec<(u8, u64, i64, bool)>> {
    let arrival = (0_u8..6, 0_u64..40, -3_000_i64..6_000, prop::bool::weighted(0.1));
    prop::collection::vec(arrival, 1..200)
}

proptest! {
    /// LD-S15, LD-S16, LD-S17: whatever the clock does, and through restarts.
    #[test]
    fn no_message_passes_twice(arrivals in arrivals()) {
        let limits = ReplayLimits {
            past_ms: 5_000,
            future_ms: 1_000,
            max_per_sender: 8,
            max_in_total: 12,
            max_senders: 2,
        };
        let mut window = ReplayWindow::new(limits);
        let mut passed = HashSet::new();
        let mut now = NOON;
        for (id, sent, step, restarts) in arrivals {
            now = now.saturating_add_signed(step);
            if restarts {
                let records = kept(&window);
                window = ReplayWindow::restore(limits, records, Timestamp::from_millis(now));
            }
            let sender = if id < 3 { "x" } else { "y" };
            let message = (sender, id, NOON + sent * 1_000);
            if admit(&mut window, sender, &id.to_string(), message.2, now).is_ok() {
                prop_assert!(passed.insert(message), "{message:?} passed twice at {now}");
            }
            prop_assert!(window.len() <= 12);
            prop_assert_eq!(window.records().count(), window.len());
        }
    }
}
