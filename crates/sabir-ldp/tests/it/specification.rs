//! The specification's demands, one after the other, in the order of `docs/protocol/ldp.md`. Each is
//! shown here at its plainest; the rules that it leads to are tested in depth elsewhere.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::path::Path;

use sabir_ldp::{
    Channel, DelegateLimits, Finished, IdentityCard, Origin, PayloadMode, Received, Signer,
    TaskEvent, TrustDomain, Usage, envelope_schema, negotiate,
};
use serde_json::{Value, json};

use crate::node::{CALLER, NODE, Node, SIGNER, card, code, key, signed, signer};

/// LD-P1: without any of the fields that must be there, a card is none. Modes and endpoint may be
/// left to what they mean then, and we publish them always.
#[test]
fn a_card_says_what_it_must() {
    let whole = card().to_value();
    assert!(IdentityCard::check(&whole.to_string()).into_card().is_ok());
    let names =
        ["delegate_id", "name", "model_family", "model_version", "trust_domain", "context_window"];
    for name in names {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(name).unwrap();
        assert!(IdentityCard::check(&less.to_string()).into_card().is_err(), "{name}");
    }
    for name in ["capabilities", "supported_payload_modes", "endpoint"] {
        assert!(!whole[name].is_null(), "{name}");
    }
}

fn full_card() -> IdentityCard {
    let mut value = card().to_value();
    for (name, text) in [
        ("description", "d"),
        ("weights_fingerprint", "00"),
        ("reasoning_profile", "deep-analytical"),
        ("cost_profile", "low"),
        ("latency_profile", "p50:2000ms"),
        ("jurisdiction", "eu-west"),
    ] {
        value[name] = text.into();
    }
    value["metadata"] = json!({ "k": "v" });
    value["capabilities"] = json!([{
        "name": "reasoning", "quality_hint": 0.85, "latency_hint_ms_p50": 5000, "cost_hint": "medium",
    }]);
    IdentityCard::check(&value.to_string()).into_card().unwrap()
}

/// LD-P2
#[test]
fn a_card_may_say_more() {
    let card = full_card();
    let published = card.to_value();
    for name in ["description", "weights_fingerprint", "reasoning_profile", "cost_profile"] {
        assert!(published[name].is_string(), "{name}");
    }
    assert_eq!(card.latency_profile.as_deref(), Some("p50:2000ms"));
    assert_eq!(card.jurisdiction.as_deref(), Some("eu-west"));
    assert_eq!(card.metadata["k"], "v");
    let skill = card.capability("reasoning").unwrap();
    assert_eq!(skill.quality.score, sabir_ldp::Score::new(0.85));
    assert_eq!(skill.quality.latency_p50_ms, Some(5000));
    let mut beyond = published;
    beyond["capabilities"] = json!([{ "name": "reasoning", "quality_hint": 1.01 }]);
    assert!(IdentityCard::check(&beyond.to_string()).into_card().is_err());
}

/// LD-P3
#[test]
fn cards_are_labels_too() {
    let labels = full_card().to_labels();
    let names: Vec<&str> = labels.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "ldp.context_window",
            "ldp.cost_profile",
            "ldp.delegate_id",
            "ldp.jurisdiction",
            "ldp.latency_profile",
            "ldp.model_family",
            "ldp.model_version",
            "ldp.payload_modes",
            "ldp.reasoning_profile",
            "ldp.trust_domain",
            "ldp.weights_fingerprint",
        ]
    );
    assert_eq!(labels["ldp.payload_modes"], "semantic_frame,text");
}

/// LD-P4: the envelope of everything that we send.
#[test]
fn messages_are_in_envelopes() {
    let mut node = Node::new();
    let hello = node.message(CALLER, "", json!({ "type": "HELLO", "delegate_id": CALLER }));
    let asked = node.post(&hello);
    let reply = node.replies[&asked].as_object().unwrap();
    for name in [
        "message_id",
        "session_id",
        "from",
        "to",
        "body",
        "payload_mode",
        "timestamp",
        "provenance",
    ] {
        assert!(reply.contains_key(name), "{name}");
    }
}

/// LD-P5: what goes to the responder is answered there, and what only a responder says is refused.
#[test]
fn messages_have_their_directions() {
    let provenance = json!({
        "produced_by": CALLER, "model_version": "m", "payload_mode_used": "text", "verified": false,
    });
    let to_responder = [
        (json!({ "type": "HELLO", "delegate_id": CALLER }), "CAPABILITY_MANIFEST"),
        (json!({ "type": "SESSION_PROPOSE", "config": {} }), "SESSION_ACCEPT"),
        (json!({ "type": "TASK_CANCEL", "task_id": "t-1" }), "TASK_UPDATE"),
        (json!({ "type": "SESSION_CLOSE" }), "SESSION_CLOSE"),
    ];
    let to_initiator = [
        json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }),
        json!({ "type": "SESSION_ACCEPT", "session_id": "s-1", "negotiated_mode": "text" }),
        json!({ "type": "SESSION_REJECT", "reason": "no" }),
        json!({ "type": "TASK_UPDATE", "task_id": "t-1" }),
        json!({ "type": "TASK_RESULT", "task_id": "t-1", "output": 1, "provenance": provenance }),
        json!({ "type": "TASK_FAILED", "task_id": "t-1", "error": "e" }),
    ];
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    // The tenth and the eleventh type: submitted and attested.
    node.submit("s-1", "t-1", json!("x"));
    assert_eq!(node.started.len(), 1);
    let attestation = json!({ "type": "ATTESTATION", "claim": 1, "evidence": {} });
    let attestation = node.message(SIGNER, "", attestation);
    let attested = node.ask(&signed(&attestation, Signer::Identity(&signer())));
    assert_eq!(attested["type"], "ATTESTATION");
    for body in to_initiator {
        let message = node.message(CALLER, "s-1", body);
        assert_eq!(code(&node.ask(&message)), "UNEXPECTED_MESSAGE", "{message}");
    }
    for (body, answer) in to_responder {
        let message = node.message(CALLER, "s-1", body);
        assert_eq!(node.ask(&message)["type"], answer);
    }
}

/// LD-P6
#[test]
fn every_type_has_a_schema() {
    let schema = envelope_schema().to_string();
    for kind in sabir_ldp::MessageType::ALL {
        assert!(schema.contains(kind.wire_name()), "{kind}");
    }
    assert_eq!(sabir_ldp::MessageType::ALL.len(), 12);
}

/// LD-P7: whatever was negotiated, text is taken.
#[test]
fn text_is_always_spoken() {
    let mut node = Node::new();
    let frames = json!({ "preferred_payload_modes": ["semantic_frame"] });
    assert_eq!(node.open(CALLER, "s-1", frames)["negotiated_mode"], "semantic_frame");
    node.submit("s-1", "t-1", json!("in plain words"));
    assert_eq!(node.started[0].mode, PayloadMode::Text);
}

/// LD-P8: what a frame needs, and that the rest is optional.
#[test]
fn frames_are_checked() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    for (input, passes) in [
        (json!({ "task_type": "t", "instruction": "i" }), true),
        (json!({ "task_type": "t", "instruction": "i", "labels": ["a"], "input": "x" }), true),
        (json!({ "task_type": "t" }), false),
        (json!({ "instruction": "i" }), false),
        (json!("words"), false),
    ] {
        let body = json!({
            "type": "TASK_SUBMIT", "task_id": input.to_string(), "skill": "echo", "input": input,
        });
        let mut message = node.message(CALLER, "s-1", body);
        message["payload_mode"] = "semantic_frame".into();
        let asked = node.post(&message);
        assert_eq!(node.is_waiting(asked), passes, "{input}");
    }
}

/// LD-P9
#[test]
fn modes_of_the_future_are_not_negotiated() {
    for future in [PayloadMode::LatentCapsules, PayloadMode::CacheSlices] {
        assert_eq!(
            negotiate(&[future, PayloadMode::Text], &PayloadMode::ALL).mode,
            PayloadMode::Text
        );
    }
}

/// LD-P15: history, domain and what was spent are the session's.
#[test]
fn sessions_are_kept_by_the_responder() {
    let budget = sabir_ldp::Budget { max_tokens: Some(10), ..Default::default() };
    let limits = DelegateLimits { session_budget: budget, ..DelegateLimits::default() };
    let mut node = Node::with(limits);
    node.open(CALLER, "s-1", json!({}));
    for task in ["t-1", "t-2"] {
        node.submit("s-1", task, json!("x"));
        let usage = Usage { tokens: Some(5), ..Usage::default() };
        let finished = Finished { output: json!("y"), usage, ..Finished::default() };
        node.tell(&key(CALLER, task), TaskEvent::Finished(Box::new(finished)));
    }
    let history: Vec<_> = node.started[1].history.iter().map(|id| id.as_str()).collect();
    assert_eq!(history, ["t-1"]);
    let spent = node.submit("s-1", "t-3", json!("x"));
    assert_eq!(code(&node.answer(spent)), "CONTRACT_VIOLATED");
}

/// LD-P16
#[test]
fn a_proposal_that_says_nothing_means_something() {
    let mut node = Node::new();
    let message = node.message(CALLER, "s-1", json!({ "type": "SESSION_PROPOSE", "config": {} }));
    let received = Received::read(&message.to_string()).unwrap();
    let sabir_ldp::Body::SessionPropose(proposal) = &received.envelope.body else { panic!() };
    let modes = [PayloadMode::SemanticFrame, PayloadMode::Text];
    assert_eq!((&proposal.preferred_payload_modes[..], proposal.ttl_secs), (&modes[..], 3600));
    assert_eq!(proposal.required_trust_domain, None);
}

/// LD-P17: also when no time at all was asked for.
#[test]
fn sessions_end_after_their_time() {
    for (ttl, waits, ends) in
        [(1, 999, false), (1, 1000, true), (0, 0, true), (u64::MAX, 999, false)]
    {
        let mut node = Node::new();
        node.open(CALLER, "s-1", json!({ "ttl_secs": ttl }));
        node.wait(waits);
        let asked = node.submit("s-1", "t-1", json!("x"));
        let refused = !node.is_waiting(asked);
        assert_eq!(refused, ends, "{ttl} {waits}");
        if refused {
            assert_eq!(code(&node.answer(asked)), "SESSION_EXPIRED");
        }
    }
}

/// LD-P18, LD-P19, LD-P20: a result says who made it and how sure that one is, and nothing that a
/// skill could say makes it verified.
#[test]
fn results_have_provenance() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let asked = node.submit("s-1", "t-1", json!("x"));
    let finished = Finished { output: json!("y"), confidence: Some(0.84), ..Finished::default() };
    node.tell(&key(CALLER, "t-1"), TaskEvent::Finished(Box::new(finished)));
    let provenance = node.answer(asked)["provenance"].clone();
    for (name, value) in [
        ("produced_by", json!(NODE)),
        ("model_version", json!("m-1")),
        ("payload_mode_used", json!("text")),
        ("confidence", json!(0.84)),
        ("verified", json!(false)),
        ("session_id", json!("s-1")),
    ] {
        assert_eq!(provenance[name], value, "{name}");
    }
    let bare = json!({ "type": "TASK_RESULT", "task_id": "t-1", "output": 1 });
    let bare = node.message(CALLER, "s-1", bare);
    assert!(Received::read(&bare.to_string()).is_err());
}

/// LD-P21, LD-P22: before anything is accepted; nothing is opened.
#[test]
fn trust_domains_are_checked_first() {
    let mut node = Node::new();
    for config in
        [json!({ "required_trust_domain": "elsewhere" }), json!({ "trust_domain": "elsewhere" })]
    {
        let reject = node.open(CALLER, "s-1", config);
        assert_eq!(reject["type"], "SESSION_REJECT");
        assert_eq!(code(&reject), "TRUST_DOMAIN_MISMATCH");
    }
    assert_eq!(node.delegate.sessions(), 0);
    let both = json!({ "required_trust_domain": "default", "trust_domain": "default" });
    assert_eq!(node.open(CALLER, "s-1", both)["type"], "SESSION_ACCEPT");
}

/// LD-P23, LD-P24: every combination.
#[test]
fn other_domains_are_let_in_by_name_only() {
    for (allow_cross_domain, named, trusts) in
        [(false, false, false), (false, true, false), (true, false, false), (true, true, true)]
    {
        let trusted_peers = if named { vec!["partner".to_owned()] } else { Vec::new() };
        let name = "default".to_owned();
        let domain = TrustDomain { name, allow_cross_domain, trusted_peers };
        let trust = sabir_ldp::Trust::new(domain, sabir_ldp::SignaturePolicy::WhereKnown);
        let mut node = Node::new();
        let body = json!({ "type": "SESSION_PROPOSE", "config": { "trust_domain": "partner" } });
        let message = node.message(CALLER, "", body);
        let received = Received::read(&message.to_string()).unwrap();
        let channel = Channel { origin: Origin::Loopback, credential: None };
        let standing = trust.recognise(&received, channel, None).unwrap();
        let sabir_ldp::Body::SessionPropose(proposal) = &received.envelope.body else { panic!() };
        assert_eq!(trust.may_open(proposal, &standing).is_ok(), trusts);
    }
}

/// LD-P25
#[test]
fn replays_are_detected() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo", "input": "x" });
    let mut message = node.message(CALLER, "s-1", body);
    node.post(&message);
    assert_eq!(code(&node.ask(&message)), "REPLAY_DETECTED");
    message["message_id"] = "another".into();
    message["timestamp"] = "2020-01-01T00:00:00Z".into();
    assert_eq!(code(&node.ask(&message)), "TIMESTAMP_OUT_OF_WINDOW");
    message["timestamp"] = node.stamp().into();
    message["session_id"] = "s-2".into();
    assert_eq!(code(&node.ask(&message)), "SESSION_NOT_FOUND");
    assert_eq!(node.started.len(), 1);
}

/// LD-P26
#[test]
fn tasks_fit_the_capabilities() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "fly", "input": "x" });
    let message = node.message(CALLER, "s-1", body);
    assert_eq!(code(&node.ask(&message)), "SKILL_NOT_FOUND");
    assert!(node.started.is_empty());
}

/// LD-P27: signed from the greeting to the result; who is known to sign is not heard without.
#[test]
fn the_profiles_are_met() {
    let mut node = Node::new();
    let body = json!({ "type": "SESSION_PROPOSE", "config": {} });
    let plain = node.message(SIGNER, "s-1", body);
    assert_eq!(code(&node.ask(&plain)), "SIGNATURE_REQUIRED");
    let by_signer = |message: &Value| signed(message, Signer::Identity(&signer()));
    assert_eq!(node.ask(&by_signer(&plain))["type"], "SESSION_ACCEPT");
    let contract = json!({
        "contract_id": "c-1", "objective": "o", "success_criteria": [],
        "policy": { "failure_policy": "fail_closed", "budget": { "max_tokens": 1 } },
    });
    let body = json!({
        "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo", "input": "x", "contract": contract,
    });
    let message = node.message(SIGNER, "s-1", body);
    let asked = node.post(&by_signer(&message));
    let usage = Usage { tokens: Some(2), ..Usage::default() };
    node.tell(&key(SIGNER, "t-1"), TaskEvent::Usage(usage));
    assert_eq!(node.stopped.len(), 1);
    node.finish(&key(SIGNER, "t-1"), json!("y"));
    assert_eq!(code(&node.answer(asked)), "CONTRACT_VIOLATED");
    assert_eq!(node.replies[&asked]["signature_algorithm"], "ed25519");
}

/// Every demand has a test, and the rules that it leads to are there.
#[test]
fn every_demand_is_met_by_rules_that_exist() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = package.join("../../docs/protocol/ldp.md");
    sabir_testkit::assert_rules_are_named(&page, &package.join("tests/it"), "LD-P", 27);
    let mut rules = BTreeSet::new();
    for page in [
        include_str!("../../../../docs/protocol/ldp-messages.md"),
        include_str!("../../../../docs/protocol/ldp-security.md"),
        include_str!("../../../../docs/protocol/ldp-sessions.md"),
        include_str!("../../../../docs/protocol/ldp-routing.md"),
    ] {
        let items = page.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("**"));
        rules.extend(items.map(|(rule, _)| rule));
    }
    let text = include_str!("../../../../docs/protocol/ldp.md");
    for demand in text.lines().filter(|line| line.starts_with("- **LD-P")) {
        let (_, named) = demand.rsplit_once(" (").unwrap();
        for rule in named.trim_end_matches(')').split(", ") {
            assert!(rules.contains(rule), "{rule} of {demand}");
        }
    }
}
