//! Chunks of Chat Completions, as servers write them.

use serde_json::{Value, json};

/// Any chunk of the completion with this id.
pub fn chunk(completion_id: &str, choices: &Value, usage: &Value) -> String {
    let data = json!({
        "id": completion_id,
        "object": "chat.completion.chunk",
        "choices": choices,
        "usage": usage,
    });
    format!("data: {data}\n\n")
}

fn delta(completion_id: &str, delta: &Value) -> String {
    let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
    chunk(completion_id, &choices, &Value::Null)
}

pub fn text(completion_id: &str, text: &str) -> String {
    delta(completion_id, &json!({ "role": "assistant", "content": text }))
}

pub fn reasoning(completion_id: &str, text: &str) -> String {
    delta(completion_id, &json!({ "reasoning_content": text }))
}

/// The beginning of a call of a tool, or all of it.
pub fn call(completion_id: &str, index: u64, call_id: &str, name: &str, arguments: &str) -> String {
    let function = json!({ "name": name, "arguments": arguments });
    let call = json!({ "index": index, "id": call_id, "type": "function", "function": function });
    delta(completion_id, &json!({ "tool_calls": [call] }))
}

/// More arguments of a call.
pub fn more_arguments(completion_id: &str, index: u64, arguments: &str) -> String {
    let call = json!({ "index": index, "function": { "arguments": arguments } });
    delta(completion_id, &json!({ "tool_calls": [call] }))
}

/// `stop`, `tool_calls`, `length`, `content_filter`.
pub fn finish(completion_id: &str, reason: &str) -> String {
    let choices = json!([{ "index": 0, "delta": {}, "finish_reason": reason }]);
    chunk(completion_id, &choices, &Value::Null)
}

pub fn usage(completion_id: &str, input: u64, output: u64) -> String {
    let usage = json!({ "prompt_tokens": input, "completion_tokens": output });
    chunk(completion_id, &json!([]), &usage)
}

pub fn done() -> String {
    "data: [DONE]\n\n".to_owned()
}
