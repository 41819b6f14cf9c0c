//! The JSON Schemas of packets and tools, made of the same descriptions that read them. A schema
//! shows the shape; what compares values with each other is beyond it.

use serde_json::{Map, Value, json};

use crate::tool::{MAX_TOOL_CALLS, TOOLS_SCHEMA_VERSION, ToolName, call_schema};
use crate::{Request, Response};

pub fn request_schema() -> Value {
    titled(
        "LLMCP request",
        "What a model is asked, with the documents that it may use.",
        Request::wire_schema(),
    )
}

/// Of responses that may call only these tools.
pub fn response_schema(tools: &[ToolName]) -> Value {
    let about = "What a model answers: a document, its citations, and tool calls that it proposes.";
    let mut schema = titled("LLMCP response", about, Response::wire_schema());
    schema["properties"]["tool_calls"] = match tools {
        [] => json!({ "type": "array", "maxItems": 0 }),
        tools => json!({
            "type": "array",
            "items": call_schema(tools),
            "maxItems": MAX_TOOL_CALLS,
        }),
    };
    schema["$defs"] = Value::Object(sabir_document::document_definitions());
    schema
}

/// Of one tool call, any tool.
pub fn tools_schema() -> Value {
    let about = format!("A call that a model proposes. Version {TOOLS_SCHEMA_VERSION}.");
    titled("LLMCP tool call", &about, call_schema(ToolName::ALL))
}

fn titled(title: &str, about: &str, schema: Value) -> Value {
    let mut all = Map::new();
    all.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    all.insert("title".to_owned(), title.into());
    all.insert("description".to_owned(), about.into());
    if let Value::Object(keys) = schema {
        all.extend(keys);
    }
    Value::Object(all)
}
