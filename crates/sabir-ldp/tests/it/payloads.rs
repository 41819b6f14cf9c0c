//! Payloads of every mode: what is good, what it becomes in the other modes and in AXON, and what is
//! refused.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;

use expect_test::expect_file;
use proptest::prelude::*;
use sabir_ldp::{Frame, Graph, Payload, PayloadError, PayloadMode};
use sabir_testkit::{Case, cases};
use serde_json::{Map, Value, json};

use crate::made::{any_json, data};

fn read(case: &Case) -> (PayloadMode, Value) {
    let mut file: Value = serde_json::from_str(&case.text).unwrap();
    let mode = PayloadMode::from_wire(file["mode"].as_str().unwrap()).unwrap();
    (mode, file["payload"].take())
}

/// LD-W31, LD-W32, LD-W33, LD-W34, LD-W35 and LD-W36: each payload in every mode and in AXON.
#[test]
fn payloads_in_every_mode() {
    for case in cases(data("payloads/ok")) {
        let (mode, value) = read(&case);
        let payload =
            Payload::check(mode, &value).unwrap_or_else(|why| panic!("{}: {why}", case.name));
        assert_eq!(payload.mode(), mode);
        assert_eq!(Payload::check(mode, &payload.to_value()).unwrap(), payload, "{}", case.name);
        let mut out = String::new();
        for other in PayloadMode::IMPLEMENTED {
            let said = payload.to_mode(other).unwrap();
            assert_eq!(Payload::check(other, &said.to_value()).unwrap(), said, "{}", case.name);
            writeln!(out, "== {other}\n{:#}", said.to_value()).unwrap();
        }
        let axon = payload.to_axon().unwrap();
        writeln!(out, "== axon\n{axon}").unwrap();
        expect_file![case.out_path()].assert_eq(&out);
        assert_eq!(Frame::from_axon(&axon).unwrap(), payload.to_frame().unwrap(), "{}", case.name);
    }
}

/// LD-W31, LD-W32, LD-W33, LD-W28: what is not what its mode says is refused, and the text names the mode.
#[test]
fn bad_payloads_are_refused() {
    for case in cases(data("payloads/err")) {
        let (mode, value) = read(&case);
        let error = Payload::check(mode, &value).expect_err(&case.name).to_string();
        assert!(error.contains(mode.wire_name()), "{}: {error}", case.name);
        expect_file![case.out_path()].assert_eq(&format!("{error}\n"));
    }
}

/// LD-W32, LD-W33: there are bounds.
#[test]
fn payloads_are_bounded() {
    let check = |mode, value: Value| Payload::check(mode, &value).map(drop);
    let vector = |length: usize| {
        let vector = vec![0.5; length];
        json!({ "text": "t", "hints": [
            { "name": "a", "model": "m", "dimension": length, "vector": vector },
        ] })
    };
    assert_eq!(check(PayloadMode::EmbeddingHints, vector(16_384)), Ok(()));
    assert!(check(PayloadMode::EmbeddingHints, vector(16_385)).is_err());
    let hints = |count: usize| {
        let hint = |index: usize| json!({ "name": index.to_string(), "model": "m", "dimension": 1, "vector": [1] });
        json!({ "text": "t", "hints": (0..count).map(hint).collect::<Vec<_>>() })
    };
    assert_eq!(check(PayloadMode::EmbeddingHints, hints(32)), Ok(()));
    assert!(check(PayloadMode::EmbeddingHints, hints(33)).is_err());
    let graph = |nodes: usize, edges: usize| {
        let nodes: Vec<_> =
            (0..nodes).map(|index| json!({ "id": index.to_string(), "type": "n" })).collect();
        let edges = vec![json!({ "from": "0", "to": "0", "type": "e" }); edges];
        json!({ "nodes": nodes, "edges": edges })
    };
    assert_eq!(check(PayloadMode::SemanticGraph, graph(4096, 16_384)), Ok(()));
    assert!(check(PayloadMode::SemanticGraph, graph(4097, 0)).is_err());
    assert!(check(PayloadMode::SemanticGraph, graph(1, 16_385)).is_err());
}

/// LD-W36: a text makes a frame and comes back; an empty one makes none.
#[test]
fn text_becomes_a_frame_and_comes_back() {
    let frame = Frame::from_text("Say hello.\n").unwrap();
    assert_eq!(frame.to_value(), json!({ "task_type": "text", "instruction": "Say hello.\n" }));
    assert_eq!(frame.to_text(), "Say hello.\n");
    assert!(Frame::from_text(" ").is_err());
}

/// LD-W35: what looks like a graph in a frame, or a frame in a graph, goes there and back as well:
/// the carrier of a graph that is said as a frame of its own, and the spread of a carrier.
#[test]
fn look_alikes_stay_what_they_are() {
    let plain = Frame::new("echo", "hi").unwrap();
    let spread = plain.to_graph().unwrap();
    let words = "A graph.\ntask is a task with task_type: \"echo\", instruction: \"hi\"\n";
    let carrier = carrier(words, &spread.to_value());
    assert_eq!(spread.to_frame().unwrap(), plain);
    assert_ne!(carrier.to_graph().unwrap(), spread);
    assert_eq!(carrier.to_graph().unwrap().to_frame().unwrap(), carrier);

    let nodes = json!([{ "id": "a", "type": "x" }]);
    let inner = json!({ "nodes": nodes, "edges": [] });
    let words = "A graph.\na is a x\n";
    let carrier = self::carrier(words, &inner);
    assert_eq!(carrier.to_graph().unwrap().to_value(), inner);
    let by_hand = json!({
        "nodes": [
            { "id": "task", "type": "task", "task_type": "semantic_graph", "instruction": words },
            { "id": "field-1", "type": "field", "value": nodes },
            { "id": "field-2", "type": "field", "value": [] },
        ],
        "edges": [
            { "from": "task", "to": "field-1", "type": "nodes" },
            { "from": "task", "to": "field-2", "type": "edges" },
        ],
    });
    let by_hand = Payload::check(PayloadMode::SemanticGraph, &by_hand).unwrap();
    let frame = by_hand.to_frame().unwrap();
    assert_ne!(frame, carrier);
    assert_eq!(Payload::Graph(frame.to_graph().unwrap()), by_hand);
}

fn carrier(words: &str, graph: &Value) -> Frame {
    let mut fields = Map::new();
    fields.insert("task_type".to_owned(), "semantic_graph".into());
    fields.insert("instruction".to_owned(), words.into());
    fields.extend(graph.as_object().unwrap().clone());
    let payload = Payload::check(PayloadMode::SemanticFrame, &Value::Object(fields)).unwrap();
    payload.to_frame().unwrap()
}

/// LD-W35: carriers in carriers, as deep as a message goes, end.
#[test]
fn nested_carriers_end() {
    let mut graph = Frame::new("echo", "hi").unwrap().to_graph().unwrap();
    for round in 0..12 {
        let wrapped = carrier("A graph.\n", &graph.to_value());
        graph = wrapped.to_graph().unwrap();
        assert_eq!(graph.to_frame().unwrap(), wrapped, "round {round}");
    }
}

/// LD-W35: a graph that no frame can carry is refused, and says why.
#[test]
fn some_graphs_cannot_be_said() {
    let value = json!({ "nodes": [{ "id": "a", "type": "x" }], "task_type": "mine" });
    let payload = Payload::check(PayloadMode::SemanticGraph, &value).unwrap();
    let error = payload.to_frame().unwrap_err();
    assert!(matches!(error, PayloadError::Unsayable { from: PayloadMode::SemanticGraph, .. }));
    assert!(payload.to_text().contains("a is a x"));
    // A frame with a field that has no name has no edge for it.
    let value = json!({ "task_type": "a", "instruction": "b", "": 1 });
    let payload = Payload::check(PayloadMode::SemanticFrame, &value).unwrap();
    let error = payload.to_mode(PayloadMode::SemanticGraph).unwrap_err();
    assert!(matches!(error, PayloadError::Unsayable { from: PayloadMode::SemanticFrame, .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// LD-W35: graphs go through frames and AXON and come back, and frames through graphs.
    #[test]
    fn graphs_and_frames_come_back(
        count in 1_usize..5,
        ends in prop::collection::vec((0_usize..5, 0_usize..5), 0..6),
        extra in any_json(),
        keys in prop::collection::btree_set("[a-z_ ]{1,6}", 0..4),
    ) {
        let nodes: Vec<Value> = (0..count)
            .map(|index| json!({ "id": format!("n{index}"), "type": "t", "extra": extra }))
            .collect();
        let edges: Vec<Value> = ends
            .iter()
            .map(|(from, to)| {
                let (from, to) = (format!("n{}", from % count), format!("n{}", to % count));
                json!({ "from": from, "to": to, "type": "e" })
            })
            .collect();
        let graph = Payload::check(
            PayloadMode::SemanticGraph, &json!({ "nodes": nodes, "edges": edges }),
        ).unwrap();
        let frame = graph.to_mode(PayloadMode::SemanticFrame).unwrap();
        prop_assert_eq!(&frame.to_mode(PayloadMode::SemanticGraph).unwrap(), &graph);
        let axon = graph.to_axon().unwrap();
        prop_assert_eq!(&Payload::Graph(Graph::from_axon(&axon).unwrap()), &graph);

        let mut fields = Map::new();
        fields.insert("task_type".to_owned(), "a.b".into());
        fields.insert("instruction".to_owned(), "do".into());
        fields.extend(keys.into_iter().map(|key| (key, extra.clone())));
        let frame = Payload::check(PayloadMode::SemanticFrame, &Value::Object(fields)).unwrap();
        let spread = frame.to_mode(PayloadMode::SemanticGraph).unwrap();
        prop_assert_eq!(spread.to_mode(PayloadMode::SemanticFrame).unwrap(), frame);
    }

    /// LD-W31, LD-W32, LD-W33, LD-W34, LD-W35, LD-W36: whatever is sent, checking and converting end with an answer.
    #[test]
    fn any_payload_gets_an_answer(value in any_json(), mode in 0_usize..6) {
        if let Ok(payload) = Payload::check(PayloadMode::ALL[mode], &value) {
            for other in PayloadMode::ALL {
                if let Ok(said) = payload.to_mode(other) {
                    prop_assert_eq!(said.mode(), other);
                }
            }
            let _ = payload.to_axon();
        }
    }
}
