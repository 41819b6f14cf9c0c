//! Golden messages: one of each kind at least. They are read and written without a change, and fit
//! the schema that is published.

use std::collections::BTreeSet;

use sabir_engine::{Event, Submission, schema, typescript};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn lines(file: &str) -> Vec<String> {
    let path = format!("{}/tests/data/wire/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn check<T: Serialize + DeserializeOwned>(file: &str, definition: &str, inner: &str) {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut seen = BTreeSet::new();
    for line in lines(file) {
        let message: T =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(serde_json::to_string(&message).unwrap(), line);
        let value: Value = serde_json::from_str(&line).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{line}: {error}");
        }
        seen.insert(value[inner]["type"].as_str().unwrap().to_owned());
    }
    let schema = schema();
    let kinds: BTreeSet<String> = schema["$defs"][definition]["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["properties"]["type"]["const"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(seen, kinds, "every kind has a golden message");
}

#[test]
fn submissions_are_golden() {
    check::<Submission>("submissions.jsonl", "Op", "op");
}

#[test]
fn events_are_golden() {
    check::<Event>("events.jsonl", "EventMsg", "msg");
}

#[test]
fn what_no_message_is_does_not_fit_the_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for line in [
        r#"{"id":"1","op":{"type":"dance"}}"#,
        r#"{"id":1,"op":{"type":"interrupt"}}"#,
        r#"{"id":"1","msg":{"type":"turn_complete"}}"#,
    ] {
        assert!(!validator.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
    }
}

#[test]
fn every_type_of_the_wire_is_described_in_typescript() {
    let text = typescript();
    for name in ["Submission", "Op", "Event", "EventMsg", "Item", "SandboxPolicy", "JsonValue"] {
        assert!(text.contains(&format!("export type {name} =")), "{name}");
    }
}
