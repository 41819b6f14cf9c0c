//! Events of the Responses API, as servers write them.

use serde_json::{Value, json};

/// Any event; its `type` is also its name.
pub fn event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

/// A comment, which keeps a connection alive and says nothing.
pub fn keep_alive() -> String {
    ": keep-alive\n\n".to_owned()
}

pub fn created(response_id: &str) -> String {
    event(&json!({
        "type": "response.created",
        "response": { "id": response_id, "status": "in_progress" },
    }))
}

pub fn text_delta(text: &str) -> String {
    event(&json!({ "type": "response.output_text.delta", "output_index": 0, "delta": text }))
}

pub fn reasoning_delta(text: &str) -> String {
    event(&json!({ "type": "response.reasoning_summary_text.delta", "delta": text }))
}

/// A finished item of any kind.
pub fn item(item: &Value) -> String {
    event(&json!({ "type": "response.output_item.done", "item": item }))
}

/// A whole message: its delta, and the finished item.
pub fn message(text: &str) -> String {
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    text_delta(text) + &item(&json!({ "type": "message", "role": "assistant", "content": content }))
}

/// A whole thought: its delta, and the finished item.
pub fn reasoning(text: &str) -> String {
    reasoning_delta(text)
        + &item(&json!({
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{ "type": "summary_text", "text": text }],
            "encrypted_content": "b3BhcXVl",
        }))
}

/// A call of a tool.
pub fn call(call_id: &str, name: &str, arguments: &Value) -> String {
    item(&json!({
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments.to_string(),
    }))
}

pub fn completed(response_id: &str) -> String {
    completed_with_usage(response_id, 10, 5)
}

pub fn completed_with_usage(response_id: &str, input: u64, output: u64) -> String {
    event(&json!({
        "type": "response.completed",
        "response": {
            "id": response_id,
            "status": "completed",
            "usage": {
                "input_tokens": input,
                "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens": output,
                "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": input + output,
            },
        },
    }))
}

pub fn failed(code: &str, message: &str) -> String {
    event(&json!({
        "type": "response.failed",
        "response": { "status": "failed", "error": { "code": code, "message": message } },
    }))
}

pub fn incomplete(reason: &str) -> String {
    event(&json!({
        "type": "response.incomplete",
        "response": { "status": "incomplete", "incomplete_details": { "reason": reason } },
    }))
}
