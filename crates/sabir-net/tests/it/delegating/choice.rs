//! Who does it, who next, and what is remembered of it.

use std::time::Duration;

use sabir_ldp::{Breaker, PayloadMode, VerificationStatus};
use sabir_net::{DelegationError, DelegationEvent, DelegationRequest, TaskInput};
use sabir_store::peers::{DelegationStatus, Probed};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::peer::{Manner, Peer, Twist, delegate_id, named};
use crate::world::{World, base, request};

/// LD-C6, LD-C22, LD-C25, LD-C32
#[tokio::test]
async fn a_report_says_who_did_it_and_how() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let (report, events) = world.run(&request("echo", &[&peer.url])).await;
    assert!(report.is_done(), "{:?}", report.error);
    assert_eq!(report.output.as_ref().unwrap()["said"], "say hi");
    assert_eq!(report.delegate_id, Some(delegate_id("harbor")));
    assert_eq!(report.payload_mode, Some(PayloadMode::SemanticFrame));
    assert_eq!(peer.input(0), json!({ "task_type": "text", "instruction": "say hi" }));
    assert_eq!(report.pinned_keys.len(), 1);
    assert_eq!(report.attempts.len(), 1);
    assert!(report.chosen.why.contains("ldp:delegate:harbor for echo, by balanced"));
    let provenance = report.provenance.as_ref().unwrap();
    assert_eq!(provenance.verification, VerificationStatus::Unverified);
    assert_eq!(provenance.produced_by, delegate_id("harbor"));
    let value = serde_json::to_value(&report).unwrap();
    for key in ["output", "provenance", "payload_mode", "delegate_id", "chosen", "cost", "checks"] {
        assert!(value.get(key).is_some(), "{key}");
    }
    assert_eq!(value["provenance"]["verified"], false);
    let names: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    let expected =
        ["found", "key_pinned", "chosen", "trying", "session_opened", "delivered"].as_slice();
    assert_eq!(names, expected);
    // What came of it is evidence, and stands in the log.
    let tallies = world.peers.tallies().unwrap();
    assert_eq!((tallies.len(), tallies[0].tally.successes), (1, 1.0));
    let log = world.peers.delegations(10).unwrap();
    assert_eq!((log.len(), log[0].status), (1, DelegationStatus::Succeeded));
    assert_eq!(log[0].id, report.task_id);
}

/// LD-C22
#[tokio::test]
async fn who_cannot_be_reached_is_passed_over_and_named() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let (report, _) = world.run(&request("echo", &["http://127.0.0.1:1", &peer.url])).await;
    assert!(report.is_done());
    assert_eq!(report.chosen.unreachable[0].address, "http://127.0.0.1:1/");
    let (report, _) = world.run(&request("echo", &["http://127.0.0.1:1"])).await;
    assert_eq!(report.error.unwrap().code, "UNREACHABLE");
}

/// LD-C23
#[tokio::test]
async fn known_delegates_are_chosen_from() {
    let world = World::new();
    let mut asked = request("echo", &[]);
    let delegation = world.delegation();
    let (events, _told) = mpsc::channel(100);
    let stop = CancellationToken::new();
    let error = delegation.run(&asked, &events, &stop).await.unwrap_err();
    assert_eq!(error, DelegationError::NobodyKnown);
    let peer = Peer::start(named("known")).await;
    world.peers.add_delegate(&peer.url, 1).unwrap();
    let card = world.client().discover(&base(&peer.url)).await.unwrap().card;
    let text = serde_json::to_string(&card).unwrap();
    let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
    world.peers.record_probe(&peer.url, probed, 2).unwrap();
    let (report, _) = world.run(&asked).await;
    assert_eq!(report.delegate_id, Some(delegate_id("known")), "{:?}", report.error);
    // Somebody else at the address that is known is not given the task.
    let other = Peer::start(named("impostor")).await;
    world.peers.add_delegate(&other.url, 1).unwrap();
    world.peers.record_probe(&other.url, probed, 2).unwrap();
    world.peers.remove_delegate(&peer.url).unwrap();
    let (report, _) = world.run(&asked).await;
    assert_eq!(report.error.unwrap().code, "WRONG_RECIPIENT");
    assert_eq!(other.runs(), 0);
    asked.skill = Some(crate::world::skill("nothing"));
    let (report, _) = world.run(&asked).await;
    let error = report.error.unwrap();
    assert_eq!(error.code, "NO_DELEGATE");
    assert!(error.message.contains("without the skill"), "{}", error.message);
}

/// LD-C24
#[tokio::test]
async fn a_retryable_failure_goes_to_the_next_and_a_final_one_does_not() {
    let world = World::new();
    let one = Peer::start(named("one")).await;
    let two = Peer::start(named("second")).await;
    let (report, events) = world.run(&request("tired", &[&one.url, &two.url])).await;
    assert_eq!(report.error.unwrap().code, "TIRED");
    assert_eq!(report.attempts.len(), 2);
    let failures = events.iter().filter(|it| matches!(it, DelegationEvent::Failed { .. })).count();
    assert_eq!(failures, 2);
    let (report, _) = world.run(&request("broken", &[&one.url, &two.url])).await;
    let error = report.error.unwrap();
    assert_eq!((error.code.as_str(), error.message.as_str()), ("TASK_FAILED", "it broke"));
    assert_eq!(report.attempts.len(), 1);
    assert_eq!(one.runs() + two.runs(), 3);
}

/// LD-C24: one that breaks down in the middle.
#[tokio::test]
async fn the_next_one_delivers_what_the_first_could_not() {
    let mut world = World::new();
    world.pace.answer = Duration::from_secs(1);
    let manner = Manner { twist: Twist::Silent, only: "SESSION_PROPOSE", ..named("dead") };
    let dead = Peer::start(manner).await;
    let alive = Peer::start(named("alive-and-well")).await;
    let (report, _) = world.run(&request("echo", &[&dead.url, &alive.url])).await;
    assert!(report.is_done(), "{:?}", report.error);
    assert_eq!(report.delegate_id, Some(delegate_id("alive-and-well")));
    // Whoever was tried first, the one that is dead has not done it.
    assert_eq!((dead.runs(), alive.runs()), (0, 1));
}

/// LD-C36: who may still be at it is not replaced.
#[tokio::test]
async fn a_task_that_may_run_is_given_to_nobody_else() {
    let mut world = World::new();
    world.pace.answer = Duration::from_secs(1);
    let lost = |name| Manner {
        twist: Twist::Silent,
        only: "TASK_SUBMIT",
        has_stream: false,
        ..named(name)
    };
    let (one, two) = (Peer::start(lost("one")).await, Peer::start(lost("second")).await);
    let (report, _) = world.run(&request("echo", &[&one.url, &two.url])).await;
    let error = report.error.unwrap();
    assert_eq!((error.code.as_str(), error.retryable), ("INTERRUPTED", false));
    assert_eq!(report.attempts.len(), 1);
    assert_eq!(one.runs() + two.runs(), 1);
    assert_eq!(one.count("TASK_CANCEL") + two.count("TASK_CANCEL"), 1);
}

/// LD-C25
#[tokio::test]
async fn failures_in_a_row_give_a_delegate_a_rest() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    for _ in 0..3 {
        let (report, _) = world.run(&request("broken", &[&peer.url])).await;
        assert!(!report.is_done());
    }
    let breakers = world.peers.breakers().unwrap();
    assert!(matches!(breakers[0].1, Breaker::Open { .. }), "{breakers:?}");
    // Who is named is asked all the same.
    let (report, _) = world.run(&request("echo", &[&peer.url])).await;
    assert!(report.is_done());
    assert_eq!(world.peers.breakers().unwrap(), []);
}

/// LD-C25
#[tokio::test]
async fn what_we_cancelled_is_no_evidence() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let delegation = world.delegation();
    let (events, mut told) = mpsc::channel(100);
    let stop = CancellationToken::new();
    let asked = request("hang", &[&peer.url]);
    let run = delegation.run(&asked, &events, &stop);
    let cancel = async {
        while peer.runs() == 0 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (report, ()) = tokio::join!(run, cancel);
    let report = report.unwrap();
    assert_eq!(report.error.unwrap().code, "CANCELLED");
    assert_eq!(peer.count("TASK_CANCEL"), 1);
    assert!(world.peers.tallies().unwrap().is_empty());
    assert_eq!(world.peers.delegations(1).unwrap()[0].status, DelegationStatus::Cancelled);
    told.close();
}

/// LD-C33
#[tokio::test]
async fn the_only_one_that_was_named_answers_for_itself() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let (report, _) = world.run(&request("juggling", &[&peer.url])).await;
    assert_eq!(report.error.unwrap().code, "SKILL_NOT_FOUND");
    assert_eq!(peer.count("TASK_SUBMIT"), 1);
}

/// LD-C33
#[tokio::test]
async fn a_trust_domain_is_what_our_configuration_binds() {
    let mut world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let mut asked = request("echo", &[&peer.url]);
    asked.trust_domain = Some("default".to_owned());
    // The card says so, and that counts for nothing.
    let (report, _) = world.run(&asked).await;
    let error = report.error.unwrap();
    assert!(error.message.contains("outside of the trust domains"), "{}", error.message);
    assert_eq!(peer.runs(), 0);
    let key = sabir_ldp::PublicKey::from_hex(&peer.key_hex()).unwrap();
    let bound = sabir_ldp::Peer {
        domain: "default".to_owned(),
        keys: vec![key],
        secret: None,
        credentials: Vec::new(),
    };
    world.trust.add_peer(delegate_id("harbor"), bound);
    let (report, _) = world.run(&asked).await;
    assert!(report.is_done(), "{:?}", report.error);
}

/// LD-C33
#[tokio::test]
async fn a_skill_is_named_where_several_are_offered() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let mut asked = request("echo", &[&peer.url]);
    asked.skill = None;
    let (events, _told) = mpsc::channel(100);
    let stop = CancellationToken::new();
    let error = world.delegation().run(&asked, &events, &stop).await.unwrap_err();
    assert!(error.to_string().contains("broken, count, echo"), "{error}");
    let empty = DelegationRequest {
        task: TaskInput::Text("  ".to_owned()),
        ..request("echo", &[&peer.url])
    };
    let error = world.delegation().run(&empty, &events, &stop).await.unwrap_err();
    assert!(matches!(error, DelegationError::Task(_)), "{error}");
}

/// LD-C29
#[tokio::test]
async fn a_deadline_is_kept() {
    let world = World::new();
    let peer = Peer::start(Manner { has_stream: false, ..Manner::default() }).await;
    let mut asked = request("hang", &[&peer.url]);
    asked.deadline = Some(Duration::from_millis(300));
    let (report, _) = world.run(&asked).await;
    let error = report.error.unwrap();
    assert_eq!(error.code, "CONTRACT_VIOLATED");
    assert!(error.message.contains("deadline_exceeded"), "{}", error.message);
}

/// LD-C29: whatever takes the time.
#[tokio::test]
async fn a_deadline_counts_from_the_beginning() {
    let world = World::new();
    let silent = Manner { twist: Twist::Silent, only: "card", ..named("known") };
    let silent = Peer::start(silent).await;
    let mut asked = request("echo", &[&silent.url]);
    asked.deadline = Some(Duration::from_millis(200));
    let (report, _) = world.run(&asked).await;
    assert_eq!(report.error.unwrap().code, "CONTRACT_VIOLATED");
    // A delegate that is known, and opened only when it is its turn.
    let peer = Peer::start(named("known")).await;
    let card = world.client().discover(&base(&peer.url)).await.unwrap().card;
    let text = serde_json::to_string(&card).unwrap();
    world.peers.add_delegate(&silent.url, 1).unwrap();
    let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
    world.peers.record_probe(&silent.url, probed, 2).unwrap();
    asked.to.clear();
    let (report, _) = world.run(&asked).await;
    assert_eq!(report.error.unwrap().code, "CONTRACT_VIOLATED");
    // And what is stopped meanwhile is stopped.
    asked.deadline = None;
    let (delegation, stop) = (world.delegation(), CancellationToken::new());
    let (events, mut told) = mpsc::channel(100);
    let cancel = async {
        while let Some(event) = told.recv().await {
            if matches!(event, DelegationEvent::Trying { .. }) {
                stop.cancel();
                break;
            }
        }
    };
    let (report, ()) = tokio::join!(delegation.run(&asked, &events, &stop), cancel);
    assert_eq!(report.unwrap().error.unwrap().code, "CANCELLED");
}

/// LD-C29
#[tokio::test]
async fn a_result_after_the_deadline_is_too_late() {
    let world = World::new();
    let manner = Manner {
        twist: Twist::Slow(900),
        only: "TASK_SUBMIT",
        has_key: false,
        has_stream: false,
        ..Manner::default()
    };
    let peer = Peer::start(manner).await;
    let mut asked = request("echo", &[&peer.url]);
    asked.deadline = Some(Duration::from_millis(400));
    let (report, _) = world.run(&asked).await;
    let error = report.error.unwrap();
    assert_eq!(error.code, "CONTRACT_VIOLATED");
    assert!(error.message.contains("deadline_exceeded"), "{}", error.message);
    assert_eq!(report.output, None);
}

/// LD-C38
#[tokio::test]
async fn a_result_that_breaks_the_contract_is_no_success() {
    let world = World::new();
    for (twist, words) in [(Twist::Dear, "budget_tokens_exceeded"), (Twist::Unkept, "contract")] {
        let manner = Manner {
            twist,
            only: "TASK_SUBMIT",
            has_key: false,
            has_stream: false,
            ..Manner::default()
        };
        let peer = Peer::start(manner).await;
        let mut asked = request("echo", &[&peer.url]);
        asked.budget.max_tokens = Some(10);
        let (report, _) = world.run(&asked).await;
        let error = report.error.unwrap();
        assert_eq!(error.code, "CONTRACT_VIOLATED", "{twist:?}");
        assert!(error.message.contains(words), "{}", error.message);
        assert_eq!(error.partial_output.unwrap()["said"], "say hi");
        // Without a contract there is nothing to break.
        let (report, _) = world.run(&request("echo", &[&peer.url])).await;
        assert!(report.is_done(), "{:?}", report.error);
    }
}
