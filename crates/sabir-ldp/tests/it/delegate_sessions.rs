//! Sessions of a delegate: opened, used, suspended, resumed, ended.

use sabir_ldp::{DelegateLimits, Record, Signer};
use serde_json::{Value, json};

use crate::node::{CALLER, FRIEND, NODE, Node, SIGNER, code, key, secret, signed, signer};

fn close(node: &mut Node, from: &str, session: &str, suspend: bool) -> Value {
    let body = json!({ "type": "SESSION_CLOSE", "reason": null, "suspend": suspend });
    let message = node.message(from, session, body);
    node.ask(&message)
}

/// LD-M12
#[test]
fn hello_is_answered_and_opens_nothing() {
    let mut node = Node::new();
    let hello = json!({ "type": "HELLO", "delegate_id": CALLER, "supported_modes": ["text"] });
    let message = node.message(CALLER, "", hello);
    let manifest = node.ask(&message);
    assert_eq!(manifest["type"], "CAPABILITY_MANIFEST");
    assert_eq!(manifest["supported_modes"], json!(["semantic_frame", "text"]));
    assert_eq!(manifest["capabilities"]["capabilities"][0]["name"], "echo");
    assert_eq!(node.delegate.sessions(), 0);

    let hello = json!({ "type": "HELLO", "delegate_id": FRIEND, "supported_modes": ["text"] });
    let message = node.message(CALLER, "", hello);
    let reject = node.ask(&message);
    assert_eq!(
        (reject["type"].as_str(), code(&reject)),
        (Some("SESSION_REJECT"), "MESSAGE_INVALID")
    );
}

/// LD-M13, LD-M14
#[test]
fn a_proposal_is_accepted_with_a_mode_and_a_chain_or_rejected() {
    let mut node = Node::new();
    let offer = json!({ "preferred_payload_modes": ["semantic_graph", "semantic_frame", "text"] });
    let accept = node.open(CALLER, "s-1", offer);
    assert_eq!(accept["type"], "SESSION_ACCEPT");
    assert_eq!(accept["negotiated_mode"], "semantic_frame");
    assert_eq!(accept["fallback_chain"], json!(["text"]));
    let accept =
        node.open(CALLER, "s-2", json!({ "preferred_payload_modes": ["latent_capsules"] }));
    assert_eq!(accept["negotiated_mode"], "text");
    for config in [json!({ "required_trust_domain": "elsewhere" }), json!({ "trust_domain": "x" })]
    {
        let reject = node.open(CALLER, "s-3", config);
        assert_eq!(reject["type"], "SESSION_REJECT");
        assert_eq!(code(&reject), "TRUST_DOMAIN_MISMATCH");
    }
    assert_eq!(node.delegate.sessions(), 2);
}

/// LD-M15
#[test]
fn the_session_id_is_the_initiators_unless_it_is_used() {
    let mut node = Node::new();
    assert_eq!(node.open(CALLER, "s-1", json!({}))["session_id"], "s-1");
    for (from, wanted) in [(CALLER, "s-1"), ("ldp:delegate:other", "s-1"), (CALLER, "")] {
        let given = node.open(from, wanted, json!({}))["session_id"].clone();
        assert_ne!(given, wanted);
        assert_eq!(given.as_str().unwrap().len(), 36);
    }
    // Neither is the id of a session that ended.
    close(&mut node, CALLER, "s-1", false);
    assert_ne!(node.open(CALLER, "s-1", json!({}))["session_id"], "s-1");
}

/// LD-M17
#[test]
fn a_session_ends_after_its_time_without_use() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({ "ttl_secs": 1 }));
    node.now += 900;
    let first = node.submit("s-1", "t-1", json!("x"));
    // A running task is use.
    node.wait(5_000);
    assert!(node.is_waiting(first));
    node.finish(&key(CALLER, "t-1"), json!("y"));
    node.now += 999;
    let second = node.submit("s-1", "t-2", json!("x"));
    node.finish(&key(CALLER, "t-2"), json!("y"));
    assert_eq!(node.answer(second)["type"], "TASK_RESULT");
    // Without a tick as well as with one.
    node.now += 1_000;
    let late = node.submit("s-1", "t-3", json!("x"));
    assert_eq!(code(&node.answer(late)), "SESSION_EXPIRED");
    node.open(CALLER, "s-2", json!({ "ttl_secs": 1 }));
    node.wait(1_000);
    assert_eq!(node.delegate.sessions(), 0);
    let late = node.submit("s-2", "t-4", json!("x"));
    assert_eq!(code(&node.answer(late)), "SESSION_EXPIRED");
    assert_eq!(node.started.len(), 2);
}

/// LD-M17
#[test]
fn no_proposal_asks_for_longer_than_the_node_gives() {
    let mut node = Node::with(DelegateLimits { ttl_ms: 5_000, ..DelegateLimits::default() });
    node.open(CALLER, "s-1", json!({ "ttl_secs": u64::MAX }));
    node.wait(5_000);
    assert_eq!(node.delegate.sessions(), 0);
}

/// LD-M18
#[test]
fn a_session_belongs_to_who_opened_it() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let other = "ldp:delegate:other";
    assert_eq!(code(&close(&mut node, other, "s-1", false)), "SESSION_NOT_YOURS");
    assert_eq!(code(&close(&mut node, CALLER, "s-9", false)), "SESSION_NOT_FOUND");
    assert_eq!(close(&mut node, CALLER, "s-1", false)["type"], "SESSION_CLOSE");
    assert_eq!(code(&close(&mut node, other, "s-1", false)), "SESSION_NOT_YOURS");
    assert_eq!(code(&close(&mut node, CALLER, "s-1", false)), "SESSION_CLOSED");
}

/// LD-M19
#[test]
fn what_follows_a_signed_proposal_is_signed() {
    let mut node = Node::new();
    let message = node.message(FRIEND, "s-1", json!({ "type": "SESSION_PROPOSE", "config": {} }));
    let secret = secret();
    let accept = node.ask(&signed(&message, Signer::Reference(&secret)));
    assert_eq!(accept["type"], "SESSION_ACCEPT");
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t", "skill": "echo", "input": "x" });
    let message = node.message(FRIEND, "s-1", body);
    assert_eq!(code(&node.ask(&message)), "SIGNATURE_REQUIRED");
    assert!(node.started.is_empty());
    let again = node.post(&signed(&message, Signer::Reference(&secret)));
    assert_eq!(node.started.len(), 1);
    node.finish(&key(FRIEND, "t"), json!("done"));
    // The answer is signed as the question was, without a nonce.
    let answer = &node.replies[&again];
    assert_eq!(answer["signature_algorithm"], "hmac-sha256");
    assert!(answer["signature"].is_string() && answer.get("nonce").is_none());
}

/// LD-M20
#[test]
fn closing_stops_what_runs() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let waiting = node.submit("s-1", "t-1", json!("x"));
    assert_eq!(close(&mut node, CALLER, "s-1", false)["reason"], "closed");
    assert_eq!(code(&node.answer(waiting)), "CANCELLED");
    assert_eq!(node.stopped.len(), 1);
    assert_eq!((node.delegate.sessions(), node.delegate.running_tasks()), (0, 0));
    // Late news of it is nobody's.
    node.finish(&key(CALLER, "t-1"), json!("y"));
    let late = node.submit("s-1", "t-2", json!("x"));
    assert_eq!(code(&node.answer(late)), "SESSION_CLOSED");
}

/// LD-M21, LD-M22
#[test]
fn a_suspended_session_rests_and_goes_on() {
    let limits = DelegateLimits { suspended: 1, suspended_ms: 60_000, ..DelegateLimits::default() };
    let mut node = Node::with(limits);
    node.open(CALLER, "s-1", json!({ "ttl_secs": 5 }));
    node.open(CALLER, "s-2", json!({ "ttl_secs": 500 }));
    let running = node.submit("s-1", "t-1", json!("x"));
    assert_eq!(close(&mut node, CALLER, "s-1", true)["suspend"], true);
    assert_eq!(code(&close(&mut node, CALLER, "s-2", true)), "LIMIT_REACHED");
    let refused = node.submit("s-1", "t-2", json!("x"));
    assert_eq!(code(&node.answer(refused)), "SESSION_SUSPENDED");
    node.finish(&key(CALLER, "t-1"), json!("y"));
    assert_eq!(node.answer(running)["type"], "TASK_RESULT");

    // It outlives its ttl_secs and a restart, in its own time.
    node.wait(20_000);
    let mut node = node.restart();
    let resume = json!({ "resume_session_id": "s-1" });
    let accept = node.open(CALLER, "", resume.clone());
    assert_eq!((&accept["session_id"], &accept["resumed"]), (&json!("s-1"), &json!(true)));
    node.submit("s-1", "t-2", json!("x"));
    let history: Vec<_> = node.started[1].history.iter().map(|id| id.as_str()).collect();
    assert_eq!(history, ["t-1"]);
    // Who asks again after a lost answer hears the same.
    assert_eq!(node.open(CALLER, "", resume.clone())["resumed"], true);
    let reject = node.open("ldp:delegate:other", "", resume);
    assert_eq!(
        (reject["type"].as_str(), code(&reject)),
        (Some("SESSION_REJECT"), "SESSION_NOT_YOURS")
    );

    node.finish(&key(CALLER, "t-2"), json!("y"));
    close(&mut node, CALLER, "s-1", true);
    node.wait(60_000);
    let reject = node.open(CALLER, "", json!({ "resume_session_id": "s-1" }));
    assert_eq!(code(&reject), "SESSION_EXPIRED");
}

/// LD-M23
#[test]
fn an_attestation_is_signed_and_kept() {
    let mut node = Node::new();
    let body = json!({ "type": "ATTESTATION", "claim": { "good": true }, "evidence": null });
    let message = node.message(CALLER, "", body.clone());
    assert_eq!(code(&node.ask(&message)), "SIGNATURE_REQUIRED");
    // The reference's signature leaves the claim out.
    let message = node.message(FRIEND, "", body.clone());
    assert_eq!(
        code(&node.ask(&signed(&message, Signer::Reference(&secret())))),
        "SIGNATURE_REQUIRED"
    );
    let message = node.message(SIGNER, "", body);
    let answer = node.ask(&signed(&message, Signer::Identity(&signer())));
    assert_eq!(answer["type"], "ATTESTATION");
    let kept = node.records.iter().filter(|it| matches!(it, Record::Attested(_))).count();
    assert_eq!(kept, 1);
}

/// LD-M54: strangers come under any number of ids, and leave some room.
#[test]
fn strangers_leave_room_for_those_who_are_named() {
    let limits = DelegateLimits { sessions: 8, running: 8, ..DelegateLimits::default() };
    let mut node = Node::with(limits);
    for number in 0..7 {
        let (stranger, session) = (format!("ldp:delegate:s-{number}"), format!("s-{number}"));
        assert_eq!(node.open(&stranger, &session, json!({}))["type"], "SESSION_ACCEPT");
        let task = json!({ "type": "TASK_SUBMIT", "task_id": "t", "skill": "sum", "input": "x" });
        let submit = node.message(&stranger, &session, task);
        node.post(&submit);
    }
    assert_eq!(node.started.len(), 7);
    node.now += 60_000;
    assert_eq!(code(&node.open("ldp:delegate:s-7", "s-7", json!({}))), "LIMIT_REACHED");
    let named = |node: &mut Node, session: &str, body: Value| {
        let message = node.message(FRIEND, session, body);
        node.post(&signed(&message, Signer::Reference(&secret())))
    };
    let propose = json!({ "type": "SESSION_PROPOSE", "config": {} });
    let opened = named(&mut node, "named", propose.clone());
    assert_eq!(node.answer(opened)["type"], "SESSION_ACCEPT");
    let more = json!({ "type": "TASK_SUBMIT", "task_id": "more", "skill": "sum", "input": "x" });
    let of_stranger = node.message("ldp:delegate:s-0", "s-0", more.clone());
    assert_eq!(code(&node.ask(&of_stranger)), "LIMIT_REACHED");
    let running = named(&mut node, "named", more);
    assert!(node.is_waiting(running));
    let second = named(&mut node, "second", propose);
    assert_eq!(code(&node.answer(second)), "LIMIT_REACHED");
}

/// LD-M55
#[test]
fn a_session_that_nobody_used_makes_room() {
    let mut node = Node::with(DelegateLimits { sessions: 8, ..DelegateLimits::default() });
    for number in 0..7 {
        let stranger = format!("ldp:delegate:s-{number}");
        assert_eq!(node.open(&stranger, &stranger, json!({}))["type"], "SESSION_ACCEPT");
        node.now += 1_000;
    }
    // They may be about to use it.
    assert_eq!(code(&node.open(CALLER, "mine", json!({}))), "LIMIT_REACHED");
    node.now += 3_000;
    for restarts in [false, true] {
        if restarts {
            node = node.restart();
        }
        let session = format!("mine-{restarts}");
        assert_eq!(node.open(CALLER, &session, json!({}))["type"], "SESSION_ACCEPT");
        node.submit(&session, &session, json!("x"));
        node.now += 1_000;
    }
    for number in 0..3 {
        let stranger = format!("ldp:delegate:s-{number}");
        let closed = close(&mut node, &stranger, &stranger, false);
        if number < 2 {
            assert_eq!(code(&closed), "SESSION_EXPIRED");
        } else {
            assert_eq!(closed["type"], "SESSION_CLOSE");
        }
    }
    assert_eq!(node.delegate.sessions(), 6);
}

/// LD-M3
#[test]
fn sessions_have_a_limit() {
    let mut node = Node::with(DelegateLimits {
        sessions: 3,
        sessions_of_one: 2,
        ended: 2,
        ..DelegateLimits::default()
    });
    for session in ["a", "b"] {
        assert_eq!(node.open(CALLER, session, json!({}))["type"], "SESSION_ACCEPT");
    }
    assert_eq!(code(&node.open(CALLER, "c", json!({}))), "LIMIT_REACHED");
    node.open("ldp:delegate:other", "c", json!({}));
    assert_eq!(code(&node.open("ldp:delegate:third", "d", json!({}))), "LIMIT_REACHED");
    // The oldest of those that ended are forgotten.
    for session in ["a", "b"] {
        close(&mut node, CALLER, session, false);
    }
    node.open(CALLER, "d", json!({}));
    close(&mut node, CALLER, "d", false);
    assert_eq!(code(&close(&mut node, CALLER, "a", false)), "SESSION_NOT_FOUND");
    assert_eq!(code(&close(&mut node, CALLER, "b", false)), "SESSION_CLOSED");
}

/// LD-M8
#[test]
fn a_url_as_recipient_is_not_compared() {
    let mut node = Node::new();
    for to in ["http://127.0.0.1:1/", ""] {
        let mut message =
            node.message(CALLER, "", json!({ "type": "SESSION_PROPOSE", "config": {} }));
        message["to"] = json!(to);
        assert_eq!(node.ask(&message)["type"], "SESSION_ACCEPT");
    }
    assert_ne!(NODE, CALLER);
}
