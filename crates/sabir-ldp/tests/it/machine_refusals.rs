//! The table of refusals: each message gets its code, leaves one record, and starts nothing.

use serde_json::json;

use crate::node::{CALLER, Node, START, code, key};

fn prepared() -> Node {
    let mut node = Node::new();
    let other = "ldp:delegate:other";
    node.open(CALLER, "s-late", json!({ "ttl_secs": 1 }));
    node.wait(1_000);
    for (from, session) in
        [(CALLER, "s-1"), (other, "s-other"), (CALLER, "s-closed"), (CALLER, "s-rest")]
    {
        node.open(from, session, json!({}));
    }
    for (session, suspend) in [("s-closed", false), ("s-rest", true)] {
        let body = json!({ "type": "SESSION_CLOSE", "reason": null, "suspend": suspend });
        let message = node.message(CALLER, session, body);
        node.post(&message);
    }
    let mut used = node.message(CALLER, "", json!({ "type": "SESSION_PROPOSE", "config": {} }));
    used["message_id"] = json!("m-used");
    node.post(&used);
    node.submit("s-1", "t-done", json!("x"));
    node.finish(&key(CALLER, "t-done"), json!("done"));
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t-other", "skill": "echo", "input": 1 });
    let message = node.message(other, "s-other", body);
    node.post(&message);
    assert_eq!((node.started.len(), node.refused()), (2, 0));
    node
}

/// LD-M6, LD-M7, LD-M8, LD-M9, LD-M10, LD-M11
#[test]
fn each_is_refused_with_its_own_code_and_starts_nothing() {
    let table = include_str!("../data/machine/refusals.txt");
    let lines: Vec<&str> =
        table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(lines.len() >= 150 && lines.len().is_multiple_of(3), "{} lines", lines.len());
    for case in lines.chunks(3) {
        let [name, message, expected] = case else { panic!("{case:?}") };
        let mut node = prepared();
        let sessions = node.delegate.sessions();
        let request = node.post_text(&message.replace("$NOW", &node.stamp()));
        let body = node.answer(request);
        assert_eq!(code(&body), *expected, "{name}: {body}");
        for part in ["category", "message", "severity", "retryable"] {
            assert!(!body["error"][part].is_null(), "{name}: no {part}");
        }
        assert_ne!(body["error"]["category"], "security");
        let handshake = message.contains("SESSION_PROPOSE") || message.contains("HELLO");
        let kind = if handshake { "SESSION_REJECT" } else { "TASK_FAILED" };
        assert_eq!(body["type"], kind, "{name}");
        assert_eq!(node.refused(), 1, "{name}");
        assert_eq!(node.started.len(), 2, "{name}");
        assert_eq!(node.delegate.sessions(), sessions, "{name}");
    }
}

/// LD-M9: only a message that passed the checks before uses up its id.
#[test]
fn a_message_that_came_too_early_may_come_again() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t", "skill": "echo", "input": "x" });
    let mut message = node.message(CALLER, "s-1", body);
    message["timestamp"] = json!(sabir_ldp::Timestamp::from_millis(START + 90_000).to_string());
    assert_eq!(code(&node.ask(&message)), "TIMESTAMP_OUT_OF_WINDOW");
    node.now += 60_000;
    let taken = node.post(&message);
    assert!(node.is_waiting(taken));
    assert_eq!(code(&node.ask(&message)), "REPLAY_DETECTED");
    // Refused for another reason, the id is used up all the same.
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "u", "skill": "fly", "input": "x" });
    let message = node.message(CALLER, "s-1", body);
    assert_eq!(code(&node.ask(&message)), "SKILL_NOT_FOUND");
    assert_eq!(code(&node.ask(&message)), "REPLAY_DETECTED");
}
