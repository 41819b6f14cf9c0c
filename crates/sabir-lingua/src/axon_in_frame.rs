//! How an AXON message is said as a semantic frame: the performative is the type of the task, the
//! content its instruction, and the rest travels in the field `axon`.

use sabir_base::json::Json;
use serde_json::{Map, Value, json};

use crate::faithful;
use crate::frame_in_axon::{self, MAX_DEPTH};
use crate::speech::{Speech, expression};

/// Says a message as compact JSON.
pub(crate) fn say(speech: &Speech) -> Option<String> {
    let (instruction, is_expression) = match speech.content() {
        Value::String(text) if !text.is_empty() => (text.clone(), false),
        _ => (speech.content_text()?, true),
    };
    let mut axon = Map::new();
    axon.insert("from".to_owned(), speech.value["from"].clone());
    axon.insert("to".to_owned(), speech.value["to"].clone());
    if let Some(meta) = speech.value.get("meta") {
        // Very deep metadata goes as text: a frame goes less deep than AXON's structure may.
        let meta = if is_deep(meta, 64) { Value::String(meta.to_string()) } else { meta.clone() };
        axon.insert("meta".to_owned(), meta);
    }
    if is_expression {
        axon.insert("expression".to_owned(), Value::Bool(true));
    }
    let frame = json!({
        "task_type": speech.performative(),
        "instruction": instruction,
        "axon": axon,
    });
    Some(frame.to_string())
}

/// The AXON message that a frame says, if `say` would say it so.
pub(crate) fn unsay(frame: &str) -> Option<Speech> {
    let json = Json::read(frame, MAX_DEPTH).ok()?;
    frame_in_axon::check(json.top()).ok()?;
    let frame_value = faithful::value(frame)?;
    let axon = frame_value["axon"].as_object()?;
    let instruction = frame_value["instruction"].as_str()?;
    let content = match axon.get("expression") {
        Some(_) => expression(instruction)?,
        None => Value::String(instruction.to_owned()),
    };
    let mut value = Map::new();
    if let Some(meta) = axon.get("meta") {
        let meta = match meta {
            Value::String(text) => faithful::value(text)?,
            meta => meta.clone(),
        };
        value.insert("meta".to_owned(), meta);
    }
    value.insert("performative".to_owned(), frame_value["task_type"].clone());
    value.insert("from".to_owned(), axon.get("from")?.clone());
    value.insert("to".to_owned(), axon.get("to")?.clone());
    value.insert("content".to_owned(), content);
    let speech = Speech::build(Value::Object(value))?;
    (say(&speech)? == frame).then_some(speech)
}

fn is_deep(value: &Value, levels: usize) -> bool {
    match value {
        _ if levels == 0 => true,
        Value::Array(items) => items.iter().any(|item| is_deep(item, levels - 1)),
        Value::Object(fields) => fields.values().any(|field| is_deep(field, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
