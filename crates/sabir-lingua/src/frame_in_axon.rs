//! How a semantic frame is said in AXON: a request from anyone to anyone, whose content is a tag
//! named after the type of the task.
//!
//! A frame has no routing of its own, because the envelope around it has.

use sabir_axon::is_identifier;
use sabir_base::json::{Json, JsonKind, JsonValue};
use serde_json::{Map, Value, json};

use crate::speech::{Speech, number};

/// Says a frame, which is compact JSON that was checked before.
pub(crate) fn say(frame: &str) -> Option<Speech> {
    let json = Json::read(frame, MAX_DEPTH).ok()?;
    let top = json.top();
    let mut fields: Map<String, Value> =
        top.fields().map(|(key, value)| (key.to_owned(), expression(value))).collect();
    let first = top.fields().next().filter(|(key, _)| *key == "task_type");
    let tag = first.and_then(|(_, value)| value.string().ok()).filter(|name| is_tag(name));
    let tag = match tag {
        Some(name) => {
            fields.shift_remove("task_type");
            name.into_owned()
        }
        None => ANY_TASK.to_owned(),
    };
    Speech::build(json!({
        "performative": "REQ",
        "from": "*",
        "to": "*",
        "content": { "tag": tag, "record": fields },
    }))
}

/// The frame that an AXON message says, if `say` would say it so.
pub(crate) fn unsay(speech: &Speech) -> Option<String> {
    let content = speech.content();
    let tag = content["tag"].as_str()?;
    let fields = content["record"].as_object()?;
    let mut out = String::from("{");
    if tag != ANY_TASK {
        out.push_str("\"task_type\":");
        out.push_str(&Value::from(tag).to_string());
    }
    for (key, value) in fields {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        read_expression(&mut out, value)?;
    }
    out.push('}');
    let read = Json::read(&out, MAX_DEPTH).ok()?;
    check(read.top()).ok()?;
    say(&out)?.same(speech).then_some(out)
}

/// Why a value is no frame: a frame is an object with a type and an instruction.
pub(crate) fn check(value: JsonValue<'_>) -> Result<(), sabir_base::json::JsonError> {
    value.expect_kind(JsonKind::Object)?;
    for key in ["task_type", "instruction"] {
        let field = value.required(key, "a semantic frame")?;
        if field.string()?.is_empty() {
            return Err(field.error(format!("`{key}` is empty")));
        }
    }
    Ok(())
}

/// As deep as AXON goes, less the brackets around the content.
pub(crate) const MAX_DEPTH: usize = sabir_axon::MAX_DEPTH as usize - 8;

/// The tag of a frame whose type is no name or does not come first: then it is a field.
const ANY_TASK: &str = "frame";

fn is_tag(name: &str) -> bool {
    name != ANY_TASK && name.split('.').all(is_identifier)
}

/// JSON as an expression.
pub(crate) fn expression(value: JsonValue<'_>) -> Value {
    match value.kind() {
        JsonKind::Null => Value::Null,
        JsonKind::True => Value::Bool(true),
        JsonKind::False => Value::Bool(false),
        JsonKind::Number => number(value.text()),
        // An escape that names no character was refused with the frame.
        JsonKind::String => value.string().map_or(Value::Null, |text| text.into()),
        JsonKind::Array => value.children().map(expression).collect(),
        JsonKind::Object => {
            let fields = value.fields().map(|(key, value)| (key.to_owned(), expression(value)));
            json!({ "record": fields.collect::<Map<_, _>>() })
        }
    }
}

/// The JSON that an expression is, if it is one.
pub(crate) fn read_expression(out: &mut String, value: &Value) -> Option<()> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
        Value::Number(_) => return None,
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                read_expression(out, item)?;
            }
            out.push(']');
        }
        Value::Object(form) if form.len() == 1 => match (form.get("num"), form.get("record")) {
            (Some(digits), _) => out.push_str(digits.as_str()?),
            (_, Some(fields)) => {
                out.push('{');
                for (index, (key, value)) in fields.as_object()?.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    read_expression(out, value)?;
                }
                out.push('}');
            }
            _ => return None,
        },
        Value::Object(form) if form.get("call").is_some_and(|name| name == "num") => {
            out.push_str(form["args"].get(0)?.as_str()?);
        }
        Value::Object(_) => return None,
    }
    Some(())
}
