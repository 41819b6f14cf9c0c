//! The initiator, answer by answer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sabir_ldp::{
    Arrival, ExchangeId, InitiatorInput, Payload, PayloadMode, Signing, SkillName, TaskId,
    TaskRequest, Timestamp,
};
use serde_json::{Value, json};

use crate::node::{CALLER, NODE, Node, START, key};
use crate::sim::Client;

pub(crate) fn request(task: &str, input: &Value) -> InitiatorInput {
    InitiatorInput::Submit(Box::new(task_request(task, input)))
}

fn task_request(task: &str, input: &Value) -> TaskRequest {
    TaskRequest {
        task_id: TaskId::new(task).unwrap(),
        skill: SkillName::new("echo").unwrap(),
        payload: Payload::check(PayloadMode::SemanticFrame, input).unwrap(),
        contract: None,
        delegation_path: Vec::new(),
    }
}

fn frame() -> Value {
    json!({ "task_type": "echo", "instruction": "hi" })
}

/// What the client sends next, as JSON.
fn sent(client: &mut Client) -> (ExchangeId, Value) {
    let (exchange, text) = client.outbox.remove(0);
    (exchange, serde_json::from_str(&text).unwrap())
}

/// An answer of the delegate, unsigned.
fn answer(question: &Value, body: Value) -> String {
    json!({
        "message_id": "a", "session_id": question["session_id"], "from": NODE, "to": CALLER,
        "body": body, "payload_mode": "text", "timestamp": "2026-11-16T12:00:00Z",
    })
    .to_string()
}

fn say(client: &mut Client, body: Value) -> Value {
    let (exchange, question) = sent(client);
    client.take(exchange, &answer(&question, body), START);
    question
}

fn accept(modes: &[&str]) -> Value {
    json!({
        "type": "SESSION_ACCEPT", "session_id": "s-minted", "negotiated_mode": modes[0],
        "fallback_chain": modes[1..],
    })
}

/// A client in a session, with a task on its way.
fn submitted(modes: &[&str]) -> Client {
    let mut client = Client::new(CALLER, Signing::Unsigned);
    client.handle(InitiatorInput::Begin, START);
    say(&mut client, json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }));
    say(&mut client, accept(modes));
    client.handle(request("t", &frame()), START);
    client
}

fn lose(client: &mut Client, exchange: ExchangeId, arrival: Arrival, now: u64) {
    let why = "lost".to_owned();
    client.handle(InitiatorInput::TransportFailed { exchange, why, arrival }, now);
}

/// The same with a delegate that does a task as often as it comes.
fn submitted_once(modes: &[&str]) -> Client {
    let mut client = Client::with(CALLER, Signing::Unsigned, |settings| settings.resubmits = false);
    client.handle(InitiatorInput::Begin, START);
    say(&mut client, json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }));
    say(&mut client, accept(modes));
    client.handle(request("t", &frame()), START);
    client
}

/// What is sent while nobody answers any more.
fn kinds_until_quiet(client: &mut Client, mut now: u64) -> Vec<String> {
    let mut kinds = Vec::new();
    for _ in 0..20 {
        while !client.outbox.is_empty() {
            let (exchange, message) = sent(client);
            kinds.push(message["body"]["type"].as_str().unwrap().to_owned());
            lose(client, exchange, Arrival::Unknown, now);
        }
        let Some(wake) = client.machine.next_wake() else { break };
        now = now.max(wake.millis());
        client.handle(InitiatorInput::Tick, now);
    }
    kinds
}

fn failed(code: &str, message: &str) -> Value {
    let error = json!({
        "code": code, "category": "runtime", "message": message, "severity": "error",
        "retryable": false,
    });
    json!({ "type": "TASK_FAILED", "task_id": "t", "error": error })
}

fn result(verified: bool) -> Value {
    json!({
        "type": "TASK_RESULT", "task_id": "t", "output": "out",
        "provenance": {
            "produced_by": NODE, "model_version": "m", "payload_mode_used": "text",
            "verified": verified, "verification_status": "human_verified",
        },
    })
}

fn report(client: &Client) -> Option<Result<&str, &str>> {
    let reports = client.reports.get("t")?;
    assert_eq!(reports.len(), 1);
    Some(match &reports[0] {
        Ok(output) => Ok(output.as_str().unwrap()),
        Err(code) => Err(code),
    })
}

/// LD-M36
#[test]
fn the_session_is_the_one_that_was_accepted() {
    let mut client = Client::new(CALLER, Signing::Unsigned);
    client.handle(request("t", &frame()), START);
    client.handle(InitiatorInput::Begin, START);
    let hello = say(&mut client, json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }));
    assert_eq!(hello["body"]["type"], "HELLO");
    let propose = say(&mut client, accept(&["semantic_frame", "text"]));
    assert_eq!(propose["body"]["type"], "SESSION_PROPOSE");
    let (_, submit) = sent(&mut client);
    assert_eq!(submit["session_id"], "s-minted");
    assert_eq!(submit["payload_mode"], "semantic_frame");
    assert_eq!(submit["to"], NODE);

    let mut client = Client::with(CALLER, Signing::Unsigned, |settings| {
        settings.modes = vec![PayloadMode::Text];
    });
    client.handle(InitiatorInput::Begin, START);
    say(&mut client, json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }));
    say(&mut client, accept(&["semantic_frame"]));
    assert_eq!(client.notes, ["ended: MODE_NOT_NEGOTIATED"]);
}

/// LD-M45
#[test]
fn a_required_trust_domain_must_be_named() {
    for (named, opened) in [(json!("lab"), true), (json!("default"), false), (Value::Null, false)] {
        let mut client = Client::with(CALLER, Signing::Unsigned, |settings| {
            settings.required_trust_domain = Some("lab".to_owned());
        });
        client.handle(InitiatorInput::Begin, START);
        say(&mut client, json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }));
        let mut accept = accept(&["text"]);
        accept["trust_domain"] = named;
        let propose = say(&mut client, accept);
        assert_eq!(propose["body"]["config"]["required_trust_domain"], "lab");
        let note =
            if opened { "opened in text, resumed: false" } else { "ended: TRUST_DOMAIN_MISMATCH" };
        assert_eq!(client.notes, [note]);
    }
}

/// LD-M37
#[test]
fn answers_that_do_not_belong_do_not_count() {
    let mut client = submitted(&["text"]);
    let (exchange, question) = sent(&mut client);
    for (change, value) in [("/session_id", "s-other"), ("/body/task_id", "t-other")] {
        let mut client = submitted(&["text"]);
        let (exchange, question) = sent(&mut client);
        let mut wrong: Value = serde_json::from_str(&answer(&question, result(false))).unwrap();
        *wrong.pointer_mut(change).unwrap() = json!(value);
        client.take(exchange, &wrong.to_string(), START);
        assert_eq!(report(&client), None);
        assert!(client.machine.next_wake().is_some(), "it is tried again");
    }
    let mut forged: Value = serde_json::from_str(&answer(&question, result(false))).unwrap();
    forged["from"] = json!("ldp:delegate:mallory");
    client.take(exchange, &forged.to_string(), START);
    assert_eq!(report(&client), Some(Err("BAD_SIGNATURE")));
}

/// LD-M37: somebody who must sign and does not.
#[test]
fn an_unsigned_answer_fails_where_a_signature_is_due() {
    let mut client = Client::new(CALLER, Signing::Native);
    client.handle(InitiatorInput::Begin, START);
    say(&mut client, json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }));
    assert_eq!(client.notes, ["ended: SIGNATURE_REQUIRED"]);
}

/// LD-M38
#[test]
fn what_is_lost_is_sent_again_under_the_same_task_id() {
    let mut client = submitted(&["text"]);
    let mut now = START;
    let mut messages = Vec::new();
    let mut pauses = Vec::new();
    while report(&client).is_none() {
        let (exchange, message) = sent(&mut client);
        messages.push(message);
        lose(&mut client, exchange, Arrival::Never, now);
        let Some(wake) = client.machine.next_wake() else { break };
        pauses.push(wake.millis() - now);
        now = wake.millis();
        client.handle(InitiatorInput::Tick, now);
    }
    assert_eq!(messages.len(), 5);
    assert!(messages.iter().all(|message| message["body"]["task_id"] == "t"));
    let mut ids: Vec<String> = messages.iter().map(|it| it["message_id"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
    assert!(pauses.windows(2).all(|two| two[1] > two[0] / 2), "{pauses:?}");
    assert_eq!(report(&client), Some(Err("TRANSPORT_FAILED")));
}

/// LD-M38: a stream that is cut again and again, and brought something each time.
#[test]
fn a_stream_that_moves_is_taken_up_again() {
    let mut client = submitted(&["text"]);
    let mut now = START;
    for seq in 1..=20 {
        let (exchange, question) = sent(&mut client);
        assert_eq!(question["body"]["type"], "TASK_SUBMIT");
        let news = json!({ "type": "TASK_UPDATE", "task_id": "t", "seq": seq });
        client.hear(exchange, &answer(&question, news), now);
        lose(&mut client, exchange, Arrival::Unknown, now);
        now = client.machine.next_wake().unwrap().millis();
        client.handle(InitiatorInput::Tick, now);
    }
    assert_eq!(client.progress.len(), 20);
    assert_eq!(report(&client), None);
}

/// LD-M38
#[test]
fn what_is_turned_away_is_not_sent_again() {
    let mut client = submitted(&["text"]);
    let (exchange, _) = sent(&mut client);
    let error = sabir_ldp::Refusal::TaskFailed.error("401");
    let arrival = Arrival::Never;
    client.handle(InitiatorInput::TurnedAway { exchange, error, arrival }, START);
    assert_eq!(report(&client), Some(Err("TASK_FAILED")));
    assert_eq!(client.machine.next_wake(), None);
}

/// LD-M46
#[test]
fn a_task_that_may_run_is_not_sent_again_to_who_does_it_twice() {
    let working = json!({ "type": "TASK_UPDATE", "task_id": "t", "progress": 0.5 });
    let mut other = result(false);
    other["task_id"] = json!("t-other");
    let unfit = json!({ "type": "SESSION_CLOSE", "reason": "no" });
    let replayed = failed("REPLAY_DETECTED", "seen");
    for answered in [None, Some(working), Some(other), Some(unfit), Some(replayed)] {
        let mut client = submitted_once(&["text"]);
        let (exchange, question) = sent(&mut client);
        assert_eq!(question["body"]["type"], "TASK_SUBMIT");
        match &answered {
            None => lose(&mut client, exchange, Arrival::Unknown, START),
            Some(body) => client.take(exchange, &answer(&question, body.clone()), START),
        }
        let kinds = kinds_until_quiet(&mut client, START);
        assert!(!kinds.contains(&"TASK_SUBMIT".to_owned()), "{answered:?}: {kinds:?}");
        assert_eq!(kinds.last().unwrap(), "TASK_CANCEL", "{answered:?}");
        assert_eq!(report(&client), Some(Err("INTERRUPTED")), "{answered:?}");
    }
    // What surely did not arrive may be sent again, and what was refused.
    for refused in [None, Some(failed("LIMIT_REACHED", "full")), Some(failed("FRAME_INVALID", ""))]
    {
        let mut client = submitted_once(&["semantic_frame", "text"]);
        let (exchange, question) = sent(&mut client);
        match refused {
            None => lose(&mut client, exchange, Arrival::Never, START),
            Some(body) => client.take(exchange, &answer(&question, body), START),
        }
        if let Some(wake) = client.machine.next_wake().filter(|_| client.outbox.is_empty()) {
            client.handle(InitiatorInput::Tick, wake.millis());
        }
        say(&mut client, result(false));
        assert_eq!(report(&client), Some(Ok("out")));
    }
}

/// LD-M46: a task whose session was lost while it ran.
#[test]
fn a_running_task_is_not_begun_again_in_another_session() {
    let mut client = submitted_once(&["text"]);
    say(&mut client, json!({ "type": "TASK_UPDATE", "task_id": "t" }));
    let wake = client.machine.next_wake().unwrap();
    client.handle(InitiatorInput::Tick, wake.millis());
    say(&mut client, failed("SESSION_EXPIRED", "gone"));
    say(&mut client, accept(&["text"]));
    let asked = say(&mut client, failed("TASK_NOT_FOUND", "never heard of it"));
    assert_eq!(asked["body"]["message"], "status_query");
    let cancel = say(&mut client, failed("TASK_NOT_FOUND", "never heard of it"));
    assert_eq!(cancel["body"]["type"], "TASK_CANCEL");
    assert_eq!(report(&client), Some(Err("INTERRUPTED")));
}

/// LD-M46: somebody else must not be given a task that may be done already.
#[test]
fn a_task_that_was_lost_sight_of_is_interrupted() {
    let mut client = submitted(&["text"]);
    let kinds = kinds_until_quiet(&mut client, START);
    assert_eq!(kinds.iter().filter(|kind| *kind == "TASK_SUBMIT").count(), 5);
    assert_eq!(report(&client), Some(Err("INTERRUPTED")));
    for arrival in [Arrival::Unknown, Arrival::Never] {
        let mut client = submitted(&["text"]);
        let (exchange, _) = sent(&mut client);
        let mut error = sabir_ldp::Refusal::TaskFailed.error("no");
        (error.code, error.retryable) = ("HTTP_403".to_owned(), true);
        client.handle(InitiatorInput::TurnedAway { exchange, error, arrival }, START);
        let code = if arrival == Arrival::Unknown { "INTERRUPTED" } else { "HTTP_403" };
        assert_eq!(report(&client), Some(Err(code)));
    }
    // Refused after a copy may have been taken.
    let mut client = submitted(&["text"]);
    let (exchange, _) = sent(&mut client);
    lose(&mut client, exchange, Arrival::Unknown, START);
    client.handle(InitiatorInput::Tick, START + 1_000);
    say(&mut client, failed("TIMESTAMP_OUT_OF_WINDOW", "late"));
    assert_eq!(report(&client), Some(Err("INTERRUPTED")));
}

/// LD-M47
#[test]
fn a_cancellation_that_was_quicker_than_its_task_is_repeated() {
    let mut client = submitted(&["text"]);
    let submit = sent(&mut client);
    client.handle(InitiatorInput::Cancel { task: TaskId::new("t").unwrap() }, START);
    say(&mut client, failed("TASK_NOT_FOUND", "never heard of it"));
    assert_eq!(report(&client), None);
    client.handle(InitiatorInput::Tick, START + 1_000);
    let (exchange, again) = sent(&mut client);
    assert_eq!(again["body"]["type"], "TASK_CANCEL");
    // The task was quicker after all.
    client.take(submit.0, &answer(&submit.1, result(false)), START + 1_000);
    client.take(exchange, &answer(&again, failed("TASK_NOT_FOUND", "over")), START + 1_000);
    assert_eq!(report(&client), Some(Ok("out")));
}

/// LD-M53: what the delegate says to it is the end of it.
#[test]
fn a_task_of_before_is_taken_back_without_being_sent() {
    let update = json!({ "type": "TASK_UPDATE", "task_id": "t", "state": "cancelled" });
    for (said, end) in [
        (update, Err("CANCELLED")),
        (failed("TASK_NOT_FOUND", "never heard of it"), Err("CANCELLED")),
        (failed("INTERRUPTED", "it was cut short"), Err("INTERRUPTED")),
        (result(false), Ok("out")),
    ] {
        let mut client = Client::new(CALLER, Signing::Unsigned);
        client.handle(InitiatorInput::Begin, START);
        // Before there is a session.
        let withdrawn = Box::new(task_request("t", &frame()));
        client.handle(InitiatorInput::Withdraw(withdrawn), START);
        say(&mut client, json!({ "type": "CAPABILITY_MANIFEST", "capabilities": [] }));
        say(&mut client, accept(&["text"]));
        let asked = say(&mut client, said);
        assert_eq!(asked["body"]["type"], "TASK_CANCEL");
        assert_eq!(asked["body"]["task_id"], "t");
        assert_eq!(report(&client), Some(end));
        assert!(client.outbox.is_empty());
    }
}

/// LD-M38: a stream that says the same again and again, and one that breaks after each new word.
#[test]
fn a_stream_that_breaks_again_and_again_is_not_taken_up_at_once() {
    for numbered in [true, false] {
        let mut client = submitted(&["text"]);
        let mut now = START;
        let mut pauses = Vec::new();
        for seq in 1..=30 {
            if report(&client).is_some() {
                break;
            }
            let (exchange, question) = sent(&mut client);
            let mut news = json!({ "type": "TASK_UPDATE", "task_id": "t", "message": "still" });
            if numbered {
                news["seq"] = seq.into();
            }
            client.hear(exchange, &answer(&question, news), now);
            lose(&mut client, exchange, Arrival::Unknown, now);
            let Some(wake) = client.machine.next_wake() else { break };
            pauses.push(wake.millis() - now);
            now = wake.millis();
            client.handle(InitiatorInput::Tick, now);
        }
        match numbered {
            // Half of the longest pause, at least.
            true => assert!(pauses.last().unwrap() >= &5_000, "{pauses:?}"),
            false => assert_eq!(report(&client), Some(Err("INTERRUPTED"))),
        }
    }
}

/// LD-M39
#[test]
fn a_mode_that_fails_is_stepped_down_from() {
    for refusal in [
        failed("FRAME_INVALID", "semantic_frame validation failed: no"),
        json!({ "type": "TASK_FAILED", "task_id": "t", "error": "semantic_frame validation failed" }),
    ] {
        let mut client = submitted(&["semantic_frame", "text"]);
        let first = say(&mut client, refusal);
        let second = say(&mut client, result(false));
        assert_eq!(
            (&first["payload_mode"], &second["payload_mode"]),
            (&json!("semantic_frame"), &json!("text"))
        );
        assert_eq!(first["body"]["task_id"], second["body"]["task_id"]);
        assert_eq!(report(&client), Some(Ok("out")));
    }
    // At the end of the chain there is nothing left.
    let mut client = submitted(&["text"]);
    say(&mut client, failed("FRAME_INVALID", "text validation failed"));
    assert_eq!(report(&client), Some(Err("FRAME_INVALID")));
}

/// LD-M40
#[test]
fn a_lost_session_is_opened_again_once() {
    let mut client = submitted(&["text"]);
    say(&mut client, failed("SESSION_EXPIRED", "gone"));
    let propose = say(&mut client, accept(&["text"]));
    assert_eq!(propose["body"]["type"], "SESSION_PROPOSE");
    let again = say(&mut client, failed("SESSION_EXPIRED", "gone again"));
    assert_eq!(again["body"]["task_id"], "t");
    assert_eq!(report(&client), Some(Err("SESSION_EXPIRED")));
}

/// Brings what the client says to the node, and the answers back.
fn relay(client: &mut Client, node: &mut Node, now: u64) -> Vec<String> {
    let mut kinds = Vec::new();
    while !client.outbox.is_empty() {
        let (exchange, text) = client.outbox.remove(0);
        let message: Value = serde_json::from_str(&text).unwrap();
        kinds.push(message["body"]["type"].as_str().unwrap().to_owned());
        let asked = node.post_text(&text);
        if let Some(reply) = node.replies.get(&asked) {
            client.take(exchange, &reply.to_string(), now);
        }
    }
    kinds
}

/// LD-M40: a proposal of ours that came late gave the node other keys, and a cancellation is the
/// first to meet them.
#[test]
fn a_cancellation_reaches_a_session_that_has_other_keys() {
    let mut node = Node::new();
    let mut client = Client::new("ldp:delegate:ada", Signing::Native);
    client.handle(InitiatorInput::Begin, START);
    client.handle(request("t", &frame()), START);
    relay(&mut client, &mut node, START);
    client.handle(InitiatorInput::Suspend, START);
    relay(&mut client, &mut node, START);
    client.handle(InitiatorInput::Resume, START);
    let (exchange, late) = client.outbox.remove(0);
    lose(&mut client, exchange, Arrival::Unknown, START);
    let now = client.machine.next_wake().unwrap().millis();
    client.handle(InitiatorInput::Tick, now);
    assert_eq!(relay(&mut client, &mut node, now), ["SESSION_PROPOSE"]);
    node.post_text(&late);

    client.handle(InitiatorInput::Cancel { task: TaskId::new("t").unwrap() }, now);
    let kinds = relay(&mut client, &mut node, now);
    assert_eq!(kinds, ["TASK_CANCEL", "SESSION_PROPOSE", "TASK_SUBMIT", "TASK_CANCEL"]);
    assert_eq!(report(&client), Some(Err("CANCELLED")));
    assert_eq!(node.started.len(), 1);
}

/// LD-M41
#[test]
fn a_running_task_is_asked_after() {
    let mut client = submitted(&["text"]);
    let working =
        json!({ "type": "TASK_UPDATE", "task_id": "t", "progress": 0.5, "message": "m", "seq": 1 });
    say(&mut client, working.clone());
    for _ in 0..3 {
        let wake = client.machine.next_wake().unwrap();
        client.handle(InitiatorInput::Tick, wake.millis());
        let (exchange, question) = sent(&mut client);
        assert_eq!(question["body"]["message"], "status_query");
        client.take(exchange, &answer(&question, working.clone()), wake.millis());
    }
    // The same update is told once.
    assert_eq!(client.progress, [Some(1)]);
    let wake = client.machine.next_wake().unwrap();
    client.handle(InitiatorInput::Tick, wake.millis());
    let (exchange, question) = sent(&mut client);
    client.take(exchange, &answer(&question, result(false)), wake.millis());
    assert_eq!(report(&client), Some(Ok("out")));
}

/// LD-M42, LD-M43
#[test]
fn a_task_is_reported_once_and_as_not_verified() {
    let mut client = submitted(&["text"]);
    let (exchange, question) = sent(&mut client);
    // The client asserts that nothing it reports is verified.
    let text = answer(&question, result(true));
    client.take(exchange, &text, START);
    client.take(exchange, &text, START);
    client.handle(InitiatorInput::Cancel { task: TaskId::new("t").unwrap() }, START);
    assert_eq!(report(&client), Some(Ok("out")));
    client.handle(InitiatorInput::Close, START);
    say(&mut client, json!({ "type": "SESSION_CLOSE", "reason": "closed" }));
    assert_eq!(client.notes.last().unwrap(), "ended: closed");
    client.take(exchange, &text, START);
    client.handle(InitiatorInput::Tick, START + 1_000_000);
    client.handle(request("late", &frame()), START + 1_000_000);
    assert_eq!(client.reports["late"], [Err("CANCELLED".to_owned())]);
}

/// LD-M44
#[test]
fn a_session_that_rests_sends_nothing() {
    let mut client = submitted(&["text"]);
    say(&mut client, result(false));
    client.handle(InitiatorInput::Suspend, START);
    let close = say(&mut client, json!({ "type": "SESSION_CLOSE", "reason": "suspended" }));
    assert_eq!(close["body"]["suspend"], true);
    client.handle(request("u", &frame()), START);
    assert!(client.outbox.is_empty());
    client.handle(InitiatorInput::Resume, START);
    let propose = say(&mut client, accept(&["text"]));
    assert_eq!(propose["body"]["config"]["resume_session_id"], "s-minted");
    let (_, submit) = sent(&mut client);
    assert_eq!(submit["body"]["task_id"], "u");
}

/// LD-M16: both sides have the same keys, and use them.
#[test]
fn a_native_session_is_signed_with_its_own_keys() {
    let mut node = Node::new();
    let mut client = Client::new("ldp:delegate:ada", Signing::Native);
    client.handle(InitiatorInput::Begin, START);
    client.handle(request("t", &frame()), START);
    let mut algorithms = Vec::new();
    for _ in 0..3 {
        let (exchange, text) = client.outbox.remove(0);
        let message: Value = serde_json::from_str(&text).unwrap();
        algorithms.push(message["signature_algorithm"].as_str().unwrap().to_owned());
        let asked = node.post_text(&text);
        if node.is_waiting(asked) {
            node.finish(&key("ldp:delegate:ada", "t"), json!("out"));
        }
        let reply = node.replies[&asked].clone();
        assert_eq!(reply["signature_algorithm"], message["signature_algorithm"]);
        client.take(exchange, &reply.to_string(), START);
    }
    assert_eq!(algorithms, ["ed25519", "ed25519", "sabir-session-hmac-sha256"]);
    assert_eq!(report(&client), Some(Ok("out")));
    // The keys outlive a restart of the node.
    let mut node = node.restart();
    client.handle(InitiatorInput::Close, START);
    let (exchange, text) = client.outbox.remove(0);
    let asked = node.post_text(&text);
    let reply = node.replies[&asked].clone();
    assert_eq!(reply["body"]["type"], "SESSION_CLOSE");
    assert_eq!(reply["signature_algorithm"], "sabir-session-hmac-sha256");
    client.take(exchange, &reply.to_string(), START);
    assert!(client.ended && Timestamp::from_millis(START).millis() == START);
}
