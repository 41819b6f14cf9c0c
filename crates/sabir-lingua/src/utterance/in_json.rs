//! Messages as JSON: an object each, with what is said about the content before it.

use sabir_base::json::{Json, JsonKind, JsonValue};
use serde_json::Value;

use super::{Act, Content, MAX_DEPTH, Message};

/// One message is an object, several are a list.
pub(super) fn say(messages: &[Message]) -> String {
    let said: Vec<String> = messages.iter().map(object).collect();
    match said.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(",")),
    }
}

pub(super) fn unsay(text: &str) -> Option<Vec<Message>> {
    let json = Json::read(text, MAX_DEPTH + 2).ok()?;
    let top = json.top();
    match top.kind() {
        JsonKind::Array => top.children().map(message).collect(),
        _ => Some(vec![message(top)?]),
    }
}

fn object(message: &Message) -> String {
    let quote = |text: &str| Value::from(text).to_string();
    let mut out = format!("{{\"id\":{},\"at_ms\":{}", quote(&message.id), message.at_ms);
    let mut put = |key: &str, value: &str| {
        if !value.is_empty() {
            out.push_str(&format!(",\"{key}\":{}", quote(value)));
        }
    };
    put("ctx", &message.ctx);
    put("of", &message.of);
    put("act", message.act.performative());
    put("from", &message.from);
    put("to", &message.to);
    put("what", &message.what);
    out.push_str(",\"content\":");
    out.push_str(message.content.as_json());
    out.push('}');
    out
}

fn message(value: JsonValue<'_>) -> Option<Message> {
    value.only_keys(KEYS).ok()?;
    let text = |key: &str| match value.get(key) {
        Some(value) => value.string().ok().map(Into::into),
        None => Some(String::new()),
    };
    Some(Message {
        id: value.get("id")?.string().ok()?.into_owned(),
        at_ms: value.get("at_ms")?.text().parse().ok()?,
        ctx: text("ctx")?,
        of: text("of")?,
        act: Act::from_performative(&value.get("act")?.string().ok()?)?,
        from: text("from")?,
        to: text("to")?,
        what: text("what")?,
        content: Content(value.get("content")?.compact().ok()?),
    })
}

const KEYS: &[&str] = &["id", "at_ms", "ctx", "of", "act", "from", "to", "what", "content"];
