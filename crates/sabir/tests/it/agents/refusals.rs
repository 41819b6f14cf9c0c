//! Messages that others were seen to obey and that must not be: each is refused with its own code,
//! nothing runs, and one row of the journal says so.

use std::time::Duration;

use sabir_ldp::{Nonce, Received, SharedSecret, Signer, sign_envelope};
use sabir_store::Reader;
use serde_json::{Value, json};

use super::harbor::{
    NODE, Node, fresh, logged, logging_skill, message, open, open_for_text, post, stamp, submit,
};

const ASKER: &str = "ldp:delegate:asker";
const FRIEND: &str = "ldp:delegate:old-friend";
const SECRET: &str = "both-know-this";

/// How many refusals the journal has, and the code of the last.
fn refusals(node: &Node) -> (usize, Option<String>) {
    let refused = Reader::open(&node.home).unwrap().peer_refusals(0, 10_000).unwrap();
    (refused.len(), refused.last().map(|row| row.refused.code.clone()))
}

/// Sends a message that must be refused with this code, and looks into the journal.
fn refused(node: &Node, what: &str, message: &Value, code: &str) {
    let (before, _) = refusals(node);
    let answer = node.send(message);
    let kind = answer["body"]["type"].as_str().unwrap();
    assert!(["TASK_FAILED", "SESSION_REJECT"].contains(&kind), "{what}: {answer}");
    let error = &answer["body"]["error"];
    assert_eq!(error["code"], code, "{what}: {answer}");
    for field in ["category", "message", "severity", "retryable"] {
        assert!(!error[field].is_null(), "{what}: no {field}: {answer}");
    }
    // Their released client cannot read another category.
    assert_ne!(error["category"], "security", "{what}");
    assert_eq!(refusals(node), (before + 1, Some(code.to_owned())), "{what}");
}

fn signed(mut message: Value, secret: &str) -> Value {
    message["signature_algorithm"] = Value::Null;
    let mut envelope = Received::read(&message.to_string()).unwrap().envelope;
    let secret = SharedSecret::new(secret.to_owned());
    sign_envelope(&mut envelope, Signer::Reference(&secret), Nonce::new([0; 16])).unwrap();
    envelope.to_value()
}

#[test]
fn what_others_obey_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let sections = format!(
        "{}\n[[peers]]\ndelegate_id = {FRIEND:?}\nhmac_secret_env = \"OLD_FRIEND\"\n",
        logging_skill(&log)
    );
    let node = Node::start_with(home.path(), &sections, &[("OLD_FRIEND", SECRET)]);
    let session = open_for_text(&node, ASKER);
    let task = |session: &str| message(ASKER, session, submit(&fresh("t"), "log", "x"));

    refused(&node, "no session", &task(""), "SESSION_NOT_FOUND");
    refused(&node, "an unknown session", &task("no-such"), "SESSION_NOT_FOUND");
    let other = message(ASKER, &session, submit(&fresh("t"), "sing", "x"));
    refused(&node, "an unknown skill", &other, "SKILL_NOT_FOUND");
    let with = |mut message: Value, key: &str, value: Value| {
        message[key] = value;
        message
    };
    let old = with(task(&session), "timestamp", json!("2020-01-01T00:00:00Z"));
    refused(&node, "a message of 2020", &old, "TIMESTAMP_OUT_OF_WINDOW");
    let late = with(task(&session), "timestamp", json!(stamp(3600)));
    refused(&node, "a message of the next hour", &late, "TIMESTAMP_OUT_OF_WINDOW");
    let stranger = with(task(&session), "from", json!("ldp:delegate:stranger"));
    refused(&node, "somebody else's session", &stranger, "SESSION_NOT_YOURS");
    let elsewhere = with(task(&session), "to", json!("ldp:delegate:elsewhere"));
    refused(&node, "a message for another", &elsewhere, "WRONG_RECIPIENT");
    let proposal = json!({ "type": "SESSION_PROPOSE", "config": { "trust_domain": "default" } });
    let as_itself = message(NODE, "", proposal);
    refused(&node, "a stranger in the node's own name", &as_itself, "SIGNATURE_REQUIRED");

    // In a mode whose form it does not have.
    let frames =
        json!({ "preferred_payload_modes": ["semantic_frame"], "trust_domain": "default" });
    let framed = open(&node, ASKER, frames);
    let mut bare = message(ASKER, &framed, submit("bare", "log", json!({ "a": 1 })));
    bare["payload_mode"] = json!("semantic_frame");
    refused(&node, "a frame without an instruction", &bare, "FRAME_INVALID");

    let domain =
        |config: Value| message(ASKER, "", json!({ "type": "SESSION_PROPOSE", "config": config }));
    let required = domain(json!({ "required_trust_domain": "elsewhere" }));
    refused(&node, "another domain is required", &required, "TRUST_DOMAIN_MISMATCH");
    let asserted = domain(json!({ "trust_domain": "elsewhere" }));
    refused(&node, "another domain is asserted", &asserted, "TRUST_DOMAIN_MISMATCH");

    // Somebody whose secret is known.
    let propose = json!({ "type": "SESSION_PROPOSE", "config": { "trust_domain": "default" } });
    let unsigned = message(FRIEND, "", propose.clone());
    refused(&node, "not signed", &unsigned, "SIGNATURE_REQUIRED");
    let forged = signed(message(FRIEND, "", propose.clone()), "another secret");
    refused(&node, "signed with another secret", &forged, "BAD_SIGNATURE");
    let accepted = node.send(&signed(message(FRIEND, "", propose), SECRET));
    assert_eq!(accepted["body"]["type"], "SESSION_ACCEPT", "{accepted}");
    assert!(accepted["signature"].is_string(), "{accepted}");
    let friends = accepted["body"]["session_id"].as_str().unwrap();
    let mut changed = signed(message(FRIEND, friends, submit("t-9", "log", "x")), SECRET);
    changed["body"]["task_id"] = json!("t-10");
    refused(&node, "changed after it was signed", &changed, "BAD_SIGNATURE");

    // A deadline that is past is not run at all.
    let mut past = task(&session);
    past["body"]["contract"] = json!({
        "contract_id": "c", "objective": "o", "success_criteria": [],
        "policy": { "failure_policy": "fail_closed", "safety_constraints": [] },
        "deadline": stamp(-5), "created_at": stamp(-10),
    });
    refused(&node, "a deadline that is past", &past, "CONTRACT_VIOLATED");

    assert!(logged(&log).is_empty(), "something ran: {:?}", logged(&log));

    // The same message twice; the first is obeyed.
    let once = task(&session);
    assert_eq!(node.send(&once)["body"]["type"], "TASK_RESULT");
    refused(&node, "a replay", &once, "REPLAY_DETECTED");
    assert_eq!(logged(&log).len(), 1);

    // A refused frame did not use up its task.
    let again = json!({ "task_type": "log", "instruction": "x" });
    let mut again = message(ASKER, &framed, submit("bare", "log", again));
    again["payload_mode"] = json!("semantic_frame");
    assert_eq!(node.send(&again)["body"]["type"], "TASK_RESULT");
    assert_eq!(logged(&log).len(), 2);

    // Also after a kill.
    let home_path = node.home.clone();
    node.kill();
    let node = Node::start_with(&home_path, &sections, &[("OLD_FRIEND", SECRET)]);
    refused(&node, "a replay after a restart", &once, "REPLAY_DETECTED");
    // A new message for a known task gives what is stored.
    let known = with(once.clone(), "message_id", json!(fresh("m")));
    let known = with(known, "timestamp", json!(stamp(0)));
    assert_eq!(node.send(&known)["body"]["type"], "TASK_RESULT");
    // Ids belong to their sender.
    let others = open_for_text(&node, "ldp:delegate:third");
    let id = once["body"]["task_id"].as_str().unwrap();
    let same_id = message("ldp:delegate:third", &others, submit(id, "log", "y"));
    let answer = node.send(&same_id);
    assert_eq!(answer["body"]["output"], "y", "{answer}");
    assert_eq!(logged(&log).len(), 3);
    node.end();
}

/// A session ends when it was not used for as long as was agreed.
#[test]
fn a_session_expires() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let node = Node::start(home.path(), &logging_skill(&log));
    let config =
        json!({ "trust_domain": "default", "preferred_payload_modes": ["text"], "ttl_secs": 1 });
    let session = open(&node, ASKER, config);
    // Time has to pass: that is what it is about.
    std::thread::sleep(Duration::from_millis(1500));
    let late = message(ASKER, &session, submit(&fresh("t"), "log", "x"));
    refused(&node, "after the session's time", &late, "SESSION_EXPIRED");
    for wrong in [json!(-1), json!(1.5), json!("long")] {
        let config = json!({ "trust_domain": "default", "ttl_secs": wrong });
        let proposal = json!({ "type": "SESSION_PROPOSE", "config": config });
        let answer = post(node.address, "/ldp/messages", &message(ASKER, "", proposal).to_string());
        assert!(!answer.body.contains("SESSION_ACCEPT"), "{wrong}: {}", answer.body);
    }
    assert!(logged(&log).is_empty());
    assert_eq!(node.said["delegate_id"], NODE);
    node.end();
}
