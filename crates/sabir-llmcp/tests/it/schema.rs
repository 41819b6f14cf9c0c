//! The committed schemas against the same files that the reader is tested with.
#![expect(clippy::disallowed_methods, reason = "tests read the committed files")]

use std::path::Path;

use jsonschema::Validator;
use sabir_llmcp::{Packet, ToolName, request_schema, response_schema, tools_schema};
use serde_json::Value;

use crate::show::folder;

fn committed(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/schema").join(name);
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let schema = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// LC-P35: schemas say what readers do.
#[test]
fn the_schemas_accept_what_the_reader_accepts() {
    let request = committed("llmcp-request.schema.json");
    let response = committed("llmcp-response.schema.json");
    for case in folder("ok") {
        let value: Value = serde_json::from_str(&case.text).unwrap();
        let schema = match Packet::parse(&case.text, None).value.unwrap() {
            Packet::Request(_) => &request,
            Packet::Response(_) => &response,
        };
        let errors: Vec<String> = schema.iter_errors(&value).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", case.name);
    }
    let tools = committed("llmcp-tools.schema.json");
    for case in folder("tools/ok") {
        let value: Value = serde_json::from_str(&case.text).unwrap();
        assert!(tools.is_valid(&value), "{}", case.name);
    }
}

/// LC-P35: and refuse what has the wrong shape. Listed is what a schema cannot see.
#[test]
fn the_schemas_refuse_what_the_reader_refuses() {
    const BEYOND: &[&str] = &[
        // The syntax, and keys that stand twice, are gone when a schema looks.
        "not_json",
        "trailing_comma",
        "text_before",
        "duplicate_key",
        "duplicate_key_deep",
        "lone_surrogate",
        "number_too_great",
        // These compare two values with each other.
        "request_from_assistant",
        "response_from_tool",
        "trusted_page",
        "trusted_search_result",
        "trusted_answer",
        "kind_differs",
        "same_doc_id",
        "chunks_backwards",
        "chunk_beyond_count",
        "chunk_counts_differ",
        "same_call_id",
        // A pattern knows no calendar.
        "no_such_day",
        "leap_second_at_noon",
        // What nobody sees is no white space to a pattern.
        "unseen_id",
    ];
    let request = committed("llmcp-request.schema.json");
    let response = committed("llmcp-response.schema.json");
    let tools = committed("llmcp-tools.schema.json");
    let mut accepted = Vec::new();
    for case in folder("err") {
        let Ok(value) = serde_json::from_str::<Value>(&case.text) else {
            accepted.push(case.name);
            continue;
        };
        if request.is_valid(&value) || response.is_valid(&value) {
            accepted.push(case.name);
        }
    }
    for case in folder("tools/err") {
        match serde_json::from_str::<Value>(&case.text) {
            Ok(value) if !tools.is_valid(&value) => {}
            _ => accepted.push(case.name),
        }
    }
    for name in &accepted {
        assert!(BEYOND.iter().any(|beyond| name.ends_with(beyond)), "a schema accepts {name}");
    }
}

/// The contract with a model names only tools that are enabled.
#[test]
fn a_response_schema_knows_only_the_tools_given() {
    let case = folder("ok").into_iter().find(|case| case.name.contains("everything")).unwrap();
    let value: Value = serde_json::from_str(&case.text).unwrap();
    let accepts = |tools: &[ToolName]| {
        jsonschema::validator_for(&response_schema(tools)).unwrap().is_valid(&value)
    };
    assert!(accepts(&[ToolName::Click, ToolName::Back]));
    assert!(!accepts(&[ToolName::Click]));
    assert!(!accepts(&[]));
}

/// LC-P35: what is committed is what the code says.
#[test]
fn the_committed_schemas_are_current() {
    for (name, schema) in [
        ("llmcp-request.schema.json", request_schema()),
        ("llmcp-response.schema.json", response_schema(ToolName::ALL)),
        ("llmcp-tools.schema.json", tools_schema()),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/schema").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text == format!("{schema:#}\n"), "{name} differs: run `cargo xtask schema`");
    }
}
