//! The specification's diagrams of negotiation and fallback and of a session, message for message.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use expect_test::expect_file;
use sabir_ldp::{InitiatorInput, PayloadMode, Signing, TaskEvent};
use serde_json::{Value, json};

use crate::initiator::request;
use crate::node::{CALLER, Node, START, key};
use crate::sim::Client;

/// What the diagram shows of a message.
fn shown(message: &Value) -> String {
    let body = &message["body"];
    let mut line = body["type"].as_str().unwrap().to_owned();
    let mut show = |name: &str, value: &Value| {
        if !value.is_null() {
            write!(line, " {name}={value}").unwrap();
        }
    };
    for name in ["supported_modes", "negotiated_mode", "fallback_chain", "suspend", "resumed"] {
        show(name, &body[name]);
    }
    show("resume_session_id", &body["config"]["resume_session_id"]);
    show("progress", &body["progress"]);
    show("preferred_payload_modes", &body["config"]["preferred_payload_modes"]);
    if body["type"] == "TASK_SUBMIT" {
        show("payload_mode", &message["payload_mode"]);
        show("input", &body["input"]);
    }
    show("code", &body["error"]["code"]);
    show("reason", &body["error"]["message"]);
    show("payload_mode_used", &body["provenance"]["payload_mode_used"]);
    show("output", &body["output"]);
    line
}

/// Carries what both say until nobody has anything to say; tasks are done as they come, each after so
/// many updates.
fn converse(
    node: &mut Node,
    client: &mut Client,
    updates: usize,
    on_the_way: impl Fn(&mut Value),
) -> String {
    let mut transcript = String::new();
    while !client.outbox.is_empty() {
        let (exchange, text) = client.outbox.remove(0);
        let mut message: Value = serde_json::from_str(&text).unwrap();
        on_the_way(&mut message);
        writeln!(transcript, "I->>R: {}", shown(&message)).unwrap();
        let asked = node.post(&message);
        if node.is_waiting(asked) {
            let task = key(
                message["from"].as_str().unwrap(),
                message["body"]["task_id"].as_str().unwrap(),
            );
            for _ in 0..updates {
                let message = Some("half way".to_owned());
                node.tell(&task, TaskEvent::Progress { message, progress: Some(0.5) });
                let (_, update) = node.updates.last().unwrap();
                writeln!(transcript, "R-->>I: {}", shown(update)).unwrap();
            }
            node.finish(&task, json!("hello"));
        }
        let reply = node.replies[&asked].clone();
        writeln!(transcript, "R-->>I: {}", shown(&reply)).unwrap();
        client.take(exchange, &reply.to_string(), START);
    }
    transcript
}

fn frame() -> Value {
    json!({ "task_type": "greeting", "instruction": "say hello" })
}

/// LD-M14, LD-M25, LD-M39, LD-P10, LD-P11, LD-P12
#[test]
fn the_diagram_of_the_specification() {
    let mut node = Node::new();
    let mut client = Client::with(CALLER, Signing::Unsigned, |settings| {
        settings.modes =
            vec![PayloadMode::SemanticGraph, PayloadMode::SemanticFrame, PayloadMode::Text];
    });
    client.handle(InitiatorInput::Begin, START);
    client.handle(request("t-1", &frame()), START);
    let transcript = converse(&mut node, &mut client, 0, |message| {
        if message["payload_mode"] == "semantic_frame" && message["body"]["type"] == "TASK_SUBMIT" {
            // The diagram does not say why the frame fails: here it loses its instruction on the way.
            message["body"]["input"].as_object_mut().unwrap().remove("instruction");
        }
    });
    assert_eq!(client.reports["t-1"], [Ok(json!("hello"))]);
    expect_file!["../data/machine/negotiation.transcript"].assert_eq(&transcript);
}

/// LD-M12, LD-M13, LD-M20, LD-M21, LD-M22, LD-M44, LD-P13, LD-P14: every message is signed.
#[test]
fn the_life_of_a_session() {
    let mut node = Node::new();
    let mut client = Client::new("ldp:delegate:ada", Signing::Native);
    client.handle(InitiatorInput::Begin, START);
    client.handle(request("t-1", &frame()), START);
    let mut transcript = converse(&mut node, &mut client, 1, |_| {});
    for input in [
        InitiatorInput::Suspend,
        InitiatorInput::Resume,
        request("t-2", &frame()),
        InitiatorInput::Close,
    ] {
        client.handle(input, START);
        transcript += &converse(&mut node, &mut client, 1, |message| {
            assert!(message["signature"].is_string());
        });
    }
    assert_eq!(
        client.notes,
        [
            "opened in semantic_frame, resumed: false",
            "suspended",
            "opened in semantic_frame, resumed: true",
            "ended: closed",
        ]
    );
    assert_eq!(node.delegate.sessions(), 0);
    expect_file!["../data/machine/lifecycle.transcript"].assert_eq(&transcript);
}
