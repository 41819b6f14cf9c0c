//! Parts of JSON texts, with their digits and their order.

use sabir_base::json::{JsonKind, JsonValue};
use sabir_lingua::Content;

/// The text under a key; empty where there is none.
pub(super) fn text(value: JsonValue<'_>, key: &str) -> String {
    value.get(key).and_then(as_text).unwrap_or_default()
}

pub(super) fn as_text(value: JsonValue<'_>) -> Option<String> {
    (value.kind() == JsonKind::String).then(|| value.string().ok().map(Into::into))?
}

/// Whether nothing is said there.
pub(super) fn is_nothing(value: Option<JsonValue<'_>>) -> bool {
    value.is_none_or(|value| value.kind() == JsonKind::Null)
}

/// What an object says besides `told`. Nothing but words is those words.
pub(super) fn content(value: JsonValue<'_>, told: &[&str]) -> Content {
    if value.kind() != JsonKind::Object {
        return Content::read(value.text());
    }
    let rest: Vec<_> = value.fields().filter(|(key, _)| !told.contains(key)).collect();
    match rest.as_slice() {
        [] => Content::nothing(),
        [(key, only)] if WORDS.contains(key) && only.kind() == JsonKind::String => {
            Content::read(only.text())
        }
        fields => {
            let quote = |key: &str| serde_json::Value::from(key).to_string();
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{}:{}", quote(key), value.text()))
                .collect();
            Content::read(&format!("{{{}}}", fields.join(",")))
        }
    }
}

/// Fields that hold what is said in words.
const WORDS: [&str; 5] = ["message", "delta", "text", "command", "why"];
