//! Tasks of a delegate: started once, asked after, cancelled, and told again.

use sabir_ldp::{DelegateInput, DelegateLimits, Record, RequestId, TaskEvent, Usage};
use serde_json::{Value, json};

use crate::node::{CALLER, NODE, Node, code, key};

fn opened() -> Node {
    opened_with(DelegateLimits::default())
}

fn opened_with(limits: DelegateLimits) -> Node {
    let mut node = Node::with(limits);
    node.open(CALLER, "s-1", json!({}));
    node
}

fn query(node: &mut Node, from: &str, session: &str, task: &str) -> Value {
    let body = json!({
        "type": "TASK_UPDATE", "task_id": task, "progress": null, "message": "status_query",
    });
    let message = node.message(from, session, body);
    node.ask(&message)
}

fn cancel(node: &mut Node, from: &str, task: &str) -> Value {
    let message = node.message(from, "s-1", json!({ "type": "TASK_CANCEL", "task_id": task }));
    node.ask(&message)
}

/// LD-M24
#[test]
fn only_offered_skills_in_negotiated_modes_are_started() {
    let mut node = opened();
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t", "skill": "fly", "input": "x" });
    let message = node.message(CALLER, "s-1", body);
    assert_eq!(code(&node.ask(&message)), "SKILL_NOT_FOUND");
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t", "skill": "echo", "input": {} });
    let mut message = node.message(CALLER, "s-1", body);
    message["payload_mode"] = json!("semantic_graph");
    assert_eq!(code(&node.ask(&message)), "MODE_NOT_NEGOTIATED");
    assert!(node.started.is_empty());
    node.submit("s-1", "t", json!({ "any": "json" }));
    assert_eq!(node.started[0].payload.to_value(), json!({ "any": "json" }));
}

/// LD-M25
#[test]
fn a_bad_frame_names_its_mode_and_uses_up_nothing() {
    let mut node = opened();
    let frame = |input: Value| json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo", "input": input });
    let mut message = node.message(CALLER, "s-1", frame(json!({ "task_type": "x" })));
    message["payload_mode"] = json!("semantic_frame");
    let failed = node.ask(&message);
    assert_eq!(code(&failed), "FRAME_INVALID");
    assert!(failed["error"]["message"].as_str().unwrap().contains("semantic_frame"), "{failed}");
    // The session goes on a mode lower: a proposal to resume says which.
    let accept = node.open(CALLER, "", json!({ "resume_session_id": "s-1" }));
    assert_eq!(accept["negotiated_mode"], "text");
    let waiting = node.submit("s-1", "t-1", json!("in words"));
    node.finish(&key(CALLER, "t-1"), json!("done"));
    let result = node.answer(waiting);
    assert_eq!(result["provenance"]["payload_mode_used"], "text");
}

/// LD-M26
#[test]
fn a_known_task_is_told_again_and_never_run_again() {
    let mut node = opened();
    let first = node.submit("s-1", "t-1", json!({ "a": 1, "b": 2 }));
    let second = node.submit("s-1", "t-1", json!({ "b": 2, "a": 1 }));
    let taken = node.submit("s-1", "t-1", json!("something else"));
    assert_eq!(code(&node.answer(taken)), "MESSAGE_INVALID");
    node.finish(&key(CALLER, "t-1"), json!("done"));
    let third = node.submit("s-1", "t-1", json!({ "a": 1, "b": 2 }));
    for request in [first, second, third] {
        assert_eq!(node.answer(request)["output"], "done");
    }
    // The same id of somebody else is another task.
    let other = "ldp:delegate:other";
    node.open(other, "s-2", json!({}));
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo", "input": 7 });
    let message = node.message(other, "s-2", body);
    node.post(&message);
    assert_eq!(node.started.len(), 2);
}

/// LD-M26, LD-M3: what is not remembered is looked up before anything is started.
#[test]
fn a_forgotten_task_is_not_run_again_either() {
    let mut node = opened_with(DelegateLimits { finished: 2, ..DelegateLimits::default() });
    for task in ["t-1", "t-2", "t-3", "t-4"] {
        node.submit("s-1", task, json!("x"));
        node.finish(&key(CALLER, task), json!(task));
    }
    let again = node.submit("s-1", "t-1", json!("x"));
    assert_eq!(node.answer(again)["output"], "t-1");
    let taken = node.submit("s-1", "t-1", json!("y"));
    assert_eq!(code(&node.answer(taken)), "MESSAGE_INVALID");
    assert_eq!(query(&mut node, CALLER, "", "t-2")["output"], "t-2");
    assert_eq!(code(&query(&mut node, CALLER, "", "t-9")), "TASK_NOT_FOUND");
    assert_eq!(node.started.len(), 4);
    let fresh = node.submit("s-1", "t-5", json!("x"));
    node.finish(&key(CALLER, "t-5"), json!("five"));
    assert_eq!(node.answer(fresh)["output"], "five");
    assert_eq!(node.started.len(), 5);
}

/// LD-M31, LD-M32
#[test]
fn updates_are_numbered_and_who_gives_up_hears_the_state() {
    let mut node = opened();
    let waiting = node.submit("s-1", "t-1", json!("x"));
    let task = key(CALLER, "t-1");
    for step in 1..=3 {
        let message = Some(format!("step {step}"));
        node.tell(&task, TaskEvent::Progress { message, progress: Some(f64::from(step) / 4.0) });
    }
    node.tell(&task, TaskEvent::WaitingForApproval { what: "rm -r build".to_owned() });
    let numbers: Vec<u64> = node.updates.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(node.updates[3].1["body"]["state"], "waiting_for_approval");
    assert!(node.is_waiting(waiting));
    node.handle(DelegateInput::GiveUp { request: waiting });
    let update = node.answer(waiting);
    assert_eq!(update["type"], "TASK_UPDATE");
    assert_eq!((&update["state"], &update["seq"]), (&json!("waiting_for_approval"), &json!(4)));
    // It goes on: who asks later gets the result.
    node.finish(&task, json!("done"));
    assert_eq!(query(&mut node, CALLER, "s-1", "t-1")["output"], "done");
}

/// LD-M33
#[test]
fn a_status_query_needs_no_session_but_the_sender() {
    let mut node = opened();
    node.submit("s-1", "t-1", json!("x"));
    assert_eq!(query(&mut node, CALLER, "", "t-1")["message"], "working");
    assert_eq!(code(&query(&mut node, "ldp:delegate:other", "", "t-1")), "TASK_NOT_FOUND");
    assert_eq!(code(&query(&mut node, "ldp:delegate:other", "s-1", "t-1")), "SESSION_NOT_YOURS");
    node.finish(&key(CALLER, "t-1"), json!("done"));
    assert_eq!(query(&mut node, CALLER, "", "t-1")["type"], "TASK_RESULT");
    assert_eq!(code(&query(&mut node, "ldp:delegate:other", "", "t-1")), "TASK_NOT_FOUND");
}

/// LD-M34
#[test]
fn cancelling_stops_a_running_task_of_its_sender() {
    let mut node = opened();
    let waiting = node.submit("s-1", "t-1", json!("x"));
    assert_eq!(code(&cancel(&mut node, "ldp:delegate:other", "t-1")), "SESSION_NOT_YOURS");
    assert!(node.is_waiting(waiting));
    let answer = cancel(&mut node, CALLER, "t-1");
    assert_eq!((&answer["type"], &answer["message"]), (&json!("TASK_UPDATE"), &json!("cancelled")));
    assert_eq!(code(&node.answer(waiting)), "CANCELLED");
    assert_eq!(node.stopped.len(), 1);
    assert_eq!(code(&cancel(&mut node, CALLER, "t-1")), "CANCELLED");
    node.submit("s-1", "t-2", json!("x"));
    node.finish(&key(CALLER, "t-2"), json!("done"));
    assert_eq!(cancel(&mut node, CALLER, "t-2")["output"], "done");
    assert_eq!(code(&cancel(&mut node, CALLER, "t-9")), "TASK_NOT_FOUND");
}

/// LD-M35
#[test]
fn provenance_is_what_was_measured() {
    let mut node = opened();
    let waiting = node.submit("s-1", "t-1", json!("x"));
    node.now += 1_500;
    let finished = sabir_ldp::Finished {
        output: json!("done"),
        usage: Usage { tokens: Some(12), cost_usd: Some(0.5) },
        confidence: Some(0.75),
        ..Default::default()
    };
    node.tell(&key(CALLER, "t-1"), TaskEvent::Finished(Box::new(finished)));
    let provenance = node.answer(waiting)["provenance"].clone();
    for (key, value) in [
        ("produced_by", json!(NODE)),
        ("model_version", json!("m-1")),
        ("payload_mode_used", json!("text")),
        ("confidence", json!(0.75)),
        ("verified", json!(false)),
        ("verification_status", json!("unverified")),
        ("session_id", json!("s-1")),
        ("tokens_used", json!(12)),
        ("cost_usd", json!(0.5)),
    ] {
        assert_eq!(provenance[key], value, "{key} in {provenance}");
    }
    assert_eq!(provenance["lineage"][0]["delegate_id"], NODE);
}

/// LD-M3
#[test]
fn running_tasks_and_those_who_wait_have_limits() {
    let limits =
        DelegateLimits { running_of_one: 2, waiting_for_one: 2, ..DelegateLimits::default() };
    let mut node = opened_with(limits);
    for task in ["t-1", "t-2"] {
        node.submit("s-1", task, json!("x"));
    }
    let third = node.submit("s-1", "t-3", json!("x"));
    assert_eq!(code(&node.answer(third)), "LIMIT_REACHED");
    let waits: Vec<RequestId> = (0..3).map(|_| node.submit("s-1", "t-1", json!("x"))).collect();
    // The first two, of four, have waited longest.
    assert_eq!(node.answer(waits[0])["type"], "TASK_UPDATE");
    assert!(node.is_waiting(waits[1]) && node.is_waiting(waits[2]));
    // A task that was refused for want of room did not use up its id.
    node.finish(&key(CALLER, "t-1"), json!("done"));
    assert_eq!(node.answer(waits[1])["type"], "TASK_RESULT");
    assert_eq!(node.answer(waits[2])["type"], "TASK_RESULT");
    node.submit("s-1", "t-3", json!("x"));
    assert_eq!(node.started.len(), 3);
}

/// LD-M48
#[test]
fn who_waits_longest_is_dismissed_in_the_order_of_coming() {
    let mut node = opened_with(DelegateLimits { waiting_for_one: 3, ..DelegateLimits::default() });
    let asked: Vec<RequestId> = (0..3).map(|_| node.submit("s-1", "t-1", json!("x"))).collect();
    node.handle(DelegateInput::GiveUp { request: asked[0] });
    let later: Vec<RequestId> = (0..2).map(|_| node.submit("s-1", "t-1", json!("x"))).collect();
    assert_eq!(node.answer(asked[1])["type"], "TASK_UPDATE");
    node.finish(&key(CALLER, "t-1"), json!("done"));
    for request in [asked[2], later[0], later[1]] {
        assert_eq!(node.answer(request)["type"], "TASK_RESULT");
    }
}

/// LD-M49
#[test]
fn what_running_tasks_were_given_has_a_size() {
    let text = || json!("x".repeat(10_000));
    let of_one = DelegateLimits { running_bytes_of_one: 36_000, ..DelegateLimits::default() };
    let of_all = DelegateLimits { running_bytes: 36_000, ..DelegateLimits::default() };
    for limits in [of_one, of_all] {
        let mut node = opened_with(limits);
        for task in ["t-1", "t-2"] {
            node.submit("s-1", task, text());
        }
        let third = node.submit("s-1", "t-3", text());
        assert_eq!(code(&node.answer(third)), "LIMIT_REACHED");
        // Many small values take as much as one long text.
        let many = node.submit("s-1", "t-4", json!(vec![0; 100]));
        assert_eq!(code(&node.answer(many)), "LIMIT_REACHED");
        // The same task once more takes nothing more.
        let again = node.submit("s-1", "t-1", text());
        assert!(node.is_waiting(again));
        node.finish(&key(CALLER, "t-1"), json!("done"));
        node.submit("s-1", "t-3", text());
        assert_eq!(node.started.len(), 3);
        // What ran when the node died runs no more, and takes nothing.
        let mut node = node.restart();
        for task in ["t-5", "t-6"] {
            node.submit("s-1", task, text());
        }
        assert_eq!(node.started.len(), 5);
    }
}

/// LD-M24: which of those that run was started last makes no difference to anybody.
#[test]
fn the_task_that_was_started_last_is_as_any_other() {
    let limits = DelegateLimits::default();
    let (started, longest) = (1_000, limits.task_ms);
    for which in ["t-1", "t-2"] {
        let mut node = opened_with(limits.clone());
        let first = node.submit("s-1", "t-1", json!("x"));
        node.wait(started);
        let second = node.submit("s-1", "t-2", json!("x"));
        let asked = if which == "t-1" { first } else { second };
        let task = key(CALLER, which);
        assert_eq!(node.delegate.running_tasks(), 2);
        assert!(node.delegate.is_running(&task));
        let records = node.delegate.snapshot();
        let is_started = |record: &&Record| matches!(record, Record::Started(_));
        assert_eq!(records.iter().filter(is_started).count(), 2);
        assert_eq!(query(&mut node, CALLER, "s-1", which)["state"], "working");
        node.finish(&task, json!("done"));
        assert_eq!(node.answer(asked)["output"], "done");
        assert_eq!(node.delegate.running_tasks(), 1);
        assert!(!node.delegate.is_running(&task));
        // The other one is still looked after.
        let other = if which == "t-1" { "t-2" } else { "t-1" };
        node.wait(longest);
        assert_eq!(node.stopped[0].0, key(CALLER, other));
    }
}

/// LD-M24: so it is when nothing else was asked meanwhile.
#[test]
fn who_waits_for_the_task_that_was_started_last_may_give_up() {
    let mut node = opened();
    let waiting = node.submit("s-1", "t-1", json!("x"));
    let task = key(CALLER, "t-1");
    assert_eq!(node.delegate.running_tasks(), 1);
    assert!(node.delegate.is_running(&task));
    node.handle(DelegateInput::GiveUp { request: waiting });
    assert_eq!(node.answer(waiting)["state"], "working");
    node.finish(&task, json!("done"));
    assert_eq!(node.delegate.running_tasks(), 0);
    // Its time is nobody's any more.
    node.wait(DelegateLimits::default().task_ms);
    assert!(node.stopped.is_empty());
}
