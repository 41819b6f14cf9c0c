//! The specification's diagram of negotiation and fallback, message for message.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use expect_test::expect_file;
use sabir_ldp::{InitiatorInput, PayloadMode, Received, Signing};
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
    for name in ["supported_modes", "negotiated_mode", "fallback_chain"] {
        show(name, &body[name]);
    }
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

/// LD-M14, LD-M25, LD-M39
#[test]
fn the_diagram_of_the_specification() {
    let mut node = Node::new();
    let mut client = Client::with(CALLER, Signing::Unsigned, |settings| {
        settings.modes =
            vec![PayloadMode::SemanticGraph, PayloadMode::SemanticFrame, PayloadMode::Text];
    });
    let frame = json!({ "task_type": "greeting", "instruction": "say hello" });
    client.handle(InitiatorInput::Begin, START);
    client.handle(request("t-1", &frame), START);
    let mut transcript = String::new();
    while !client.outbox.is_empty() {
        let (exchange, text) = client.outbox.remove(0);
        let mut message: Value = serde_json::from_str(&text).unwrap();
        if message["payload_mode"] == "semantic_frame" && message["body"]["type"] == "TASK_SUBMIT" {
            // The diagram does not say why the frame fails: here it loses its instruction on the way.
            message["body"]["input"].as_object_mut().unwrap().remove("instruction");
        }
        writeln!(transcript, "I->>R: {}", shown(&message)).unwrap();
        let asked = node.post(&message);
        if node.is_waiting(asked) {
            node.finish(&key(CALLER, "t-1"), json!("hello"));
        }
        let reply = node.replies[&asked].clone();
        writeln!(transcript, "R-->>I: {}", shown(&reply)).unwrap();
        assert!(Received::read(&reply.to_string()).is_ok());
        client.take(exchange, &reply.to_string(), START);
    }
    assert_eq!(client.reports["t-1"], [Ok(json!("hello"))]);
    expect_file!["../data/machine/negotiation.transcript"].assert_eq(&transcript);
}
