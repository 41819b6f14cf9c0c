//! A second delegate is asked when the first takes long.

use std::time::Duration;

use sabir_net::{AttemptOutcome, DelegationEvent, DelegationReport};

use crate::peer::{Manner, Peer, Twist, named};
use crate::world::{World, request};

/// Two delegates, of whom the first has a record and is ranked before the other.
async fn ranked(world: &World) -> (Peer, Peer) {
    ranked_with(world, named("second")).await
}

async fn ranked_with(world: &World, second: Manner) -> (Peer, Peer) {
    let (one, two) = (Peer::start(named("one")).await, Peer::start(second).await);
    for _ in 0..2 {
        let (report, _) = world.run(&request("echo", &[&one.url])).await;
        assert!(report.is_done(), "{:?}", report.error);
    }
    (one, two)
}

fn outcomes(report: &DelegationReport) -> Vec<(&str, AttemptOutcome)> {
    let attempts = report.attempts.iter();
    attempts.map(|it| (it.delegate_id.as_str(), it.outcome)).collect()
}

const ONE: &str = "ldp:delegate:one";
const SECOND: &str = "ldp:delegate:second";

/// LD-C40
#[tokio::test]
async fn the_second_delivers_and_the_first_is_told_to_stop() {
    let world = World::new();
    let (one, two) = ranked(&world).await;
    one.change(|manner| manner.is_idle = true);
    let before = world.peers.tallies().unwrap();
    let mut asked = request("echo", &[&one.url, &two.url]);
    let delay = Duration::from_millis(100);
    asked.hedge_after = Some(delay);
    let (report, events) = world.run(&asked).await;
    assert!(report.is_done(), "{:?}", report.error);
    assert_eq!(report.delegate_id.as_ref().unwrap().as_str(), SECOND);
    assert_eq!(report.output.as_ref().unwrap()["by"], SECOND);
    let expected = [(SECOND, AttemptOutcome::Delivered), (ONE, AttemptOutcome::Stopped)];
    assert_eq!(outcomes(&report), expected);
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value["attempts"][1]["outcome"], "stopped");
    // Not before its time: the first had all of the delay for itself.
    assert!(u128::from(report.attempts[1].latency_ms) >= delay.as_millis());
    assert_eq!((one.count("TASK_CANCEL"), two.count("TASK_CANCEL")), (1, 0));
    assert_eq!((one.runs(), two.runs()), (3, 1));
    let told: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            DelegationEvent::Trying { delegate_id, .. } => Some(format!("trying {delegate_id}")),
            DelegationEvent::Hedging { delegate_id } => Some(format!("hedging {delegate_id}")),
            DelegationEvent::Delivered { delegate_id } => Some(format!("delivered {delegate_id}")),
            DelegationEvent::Stopped { delegate_id } => Some(format!("stopped {delegate_id}")),
            DelegationEvent::Failed { delegate_id, .. } => Some(format!("failed {delegate_id}")),
            _ => None,
        })
        .collect();
    let expected = [
        format!("trying {ONE}"),
        format!("hedging {SECOND}"),
        format!("trying {SECOND}"),
        format!("delivered {SECOND}"),
        format!("stopped {ONE}"),
    ];
    assert_eq!(told, expected);
    // Who was stopped by us has neither failed nor succeeded.
    let after = world.peers.tallies().unwrap();
    let of = |tallies: &[sabir_ldp::TallyRecord], who: &str| {
        tallies.iter().find(|it| it.delegate.as_str() == who).map(|it| it.tally.tries.round())
    };
    assert_eq!(of(&after, ONE), of(&before, ONE));
    assert_eq!(of(&after, SECOND), Some(1.0));
    assert!(world.peers.breakers().unwrap().is_empty());
}

/// LD-C40
#[tokio::test]
async fn who_is_quick_is_not_doubled_and_without_a_delay_nobody_is() {
    let world = World::new();
    let (one, two) = ranked(&world).await;
    let mut asked = request("echo", &[&one.url, &two.url]);
    asked.hedge_after = Some(Duration::from_secs(3600));
    let (report, _) = world.run(&asked).await;
    assert_eq!(outcomes(&report), [(ONE, AttemptOutcome::Delivered)]);
    // Off by default: the first alone has the task until its deadline.
    one.change(|manner| manner.is_idle = true);
    asked.hedge_after = None;
    asked.deadline = Some(Duration::from_millis(300));
    let (report, _) = world.run(&asked).await;
    assert_eq!(outcomes(&report), [(ONE, AttemptOutcome::Failed)]);
    assert_eq!(two.runs(), 0);
}

/// LD-C40: a failure of one does not end the other, and does not count as its result.
#[tokio::test]
async fn the_first_may_still_deliver_when_the_second_fails() {
    let world = World::new();
    // It claims to have used more tokens than it was given, which a signature would not survive.
    let dear = Manner {
        twist: Twist::Dear,
        only: "TASK_SUBMIT",
        has_key: false,
        has_stream: false,
        ..named("second")
    };
    let (one, two) = ranked_with(&world, dear).await;
    one.change(|manner| {
        (manner.has_stream, manner.only, manner.twist) = (false, "TASK_SUBMIT", Twist::Slow(1500));
    });
    let mut asked = request("echo", &[&one.url, &two.url]);
    asked.hedge_after = Some(Duration::from_millis(50));
    asked.budget.max_tokens = Some(10);
    let (report, _) = world.run(&asked).await;
    assert!(report.is_done(), "{:?}", report.error);
    assert_eq!(report.delegate_id.as_ref().unwrap().as_str(), ONE);
    let expected = [(SECOND, AttemptOutcome::Failed), (ONE, AttemptOutcome::Delivered)];
    assert_eq!(outcomes(&report), expected);
    assert_eq!(one.count("TASK_CANCEL"), 0);
}
