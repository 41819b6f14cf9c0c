//! An AXON message as data: the JSON that `sabir_axon::json` writes, one value for each message.
//!
//! Translators work on this form, so that none of them has to know how AXON is written.

use sabir_axon::json::EncodeError;
use serde_json::{Value, json};

/// One message. Equality is that of trees: order counts.
#[derive(Clone, Debug)]
pub(crate) struct Speech {
    pub(crate) value: Value,
}

impl Speech {
    /// A message that was put together here, in the one form that such a tree has. `None` when it
    /// is no AXON, or too deep for it.
    pub(crate) fn build(value: Value) -> Option<Self> {
        let text = write(&[Speech { value }])?;
        let parsed = sabir_axon::parse(&text);
        let mut speeches = read(&parsed.tree).ok()?;
        (speeches.len() == 1).then(|| speeches.pop())?
    }

    pub(crate) fn same(&self, other: &Speech) -> bool {
        same(&self.value, &other.value)
    }

    pub(crate) fn performative(&self) -> &str {
        self.value["performative"].as_str().unwrap_or_default()
    }

    pub(crate) fn content(&self) -> &Value {
        &self.value["content"]
    }

    /// The metadata, in order.
    pub(crate) fn meta(&self) -> impl Iterator<Item = (&str, &Value)> {
        let meta = self.value.get("meta").and_then(Value::as_object);
        meta.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }

    /// The content as AXON on the wire.
    pub(crate) fn content_text(&self) -> Option<String> {
        let text = write(std::slice::from_ref(self))?;
        let parsed = sabir_axon::parse(&text);
        let message = parsed.tree.messages().next()?.as_message()?;
        Some(message.content.text().to_owned())
    }
}

/// Equality with regard to the order of fields, which a map's own has not.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len() && pairs.all(|((a, x), (b, y))| a == b && same(x, y))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        _ => a == b,
    }
}

/// The messages of a tree without errors.
pub(crate) fn read(tree: &sabir_axon::Tree<'_>) -> Result<Vec<Speech>, EncodeError> {
    let mut document = sabir_axon::json::encode(tree)?;
    let messages = document["messages"].as_array_mut().map(std::mem::take).unwrap_or_default();
    Ok(messages.into_iter().map(|value| Speech { value }).collect())
}

/// AXON on the wire.
pub(crate) fn write(speeches: &[Speech]) -> Option<String> {
    let messages: Vec<&Value> = speeches.iter().map(|speech| &speech.value).collect();
    let document = json!({ "axon": 1, "messages": messages });
    sabir_axon::json::decode(&document.to_string()).ok()
}

/// The expression that `text` is, if it is one and nothing more.
pub(crate) fn expression(text: &str) -> Option<Value> {
    let document = format!("INF(*>*): {text}");
    let parsed = sabir_axon::parse(&document);
    if parsed.has_errors() {
        return None;
    }
    let mut speeches = read(&parsed.tree).ok()?;
    let one = (speeches.len() == 1).then(|| speeches.pop())??;
    Some(one.value["content"].clone())
}

/// A number as an expression: its digits, and no exponent, which AXON does not have.
pub(crate) fn number(lexeme: &str) -> Value {
    match lexeme.contains(['e', 'E']) {
        true => json!({ "call": "num", "args": [lexeme] }),
        false => json!({ "num": lexeme }),
    }
}

/// Whether a number of AXON is written as one of JSON, which has no leading zeros.
pub(crate) fn is_json_number(lexeme: &str) -> bool {
    let digits = lexeme.strip_prefix('-').unwrap_or(lexeme);
    digits == "0" || digits.starts_with("0.") || !digits.starts_with('0')
}
