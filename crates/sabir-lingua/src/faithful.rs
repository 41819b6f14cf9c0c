//! JSON text to values, without recursion limits of others and without their kindness: depth is
//! bounded here, and a number that a value could not hold as written is refused.

use sabir_base::json::{Json, JsonKind, JsonValue};
use serde_json::{Map, Value};

/// The depth of AXON's JSON, and a little more.
const MAX_DEPTH: usize = 16 * sabir_axon::MAX_DEPTH as usize + 32;

/// The value that `text` is. Numbers must be small whole ones: in AXON's JSON all others are text.
pub(crate) fn value(text: &str) -> Option<Value> {
    let json = Json::read(text, MAX_DEPTH).ok()?;
    read(json.top())
}

fn read(from: JsonValue<'_>) -> Option<Value> {
    Some(match from.kind() {
        JsonKind::Null => Value::Null,
        JsonKind::True => Value::Bool(true),
        JsonKind::False => Value::Bool(false),
        JsonKind::Number => {
            let number: u32 = from.text().parse().ok()?;
            Value::from(number)
        }
        JsonKind::String => Value::String(from.string().ok()?.into_owned()),
        JsonKind::Array => Value::Array(from.children().map(read).collect::<Option<_>>()?),
        JsonKind::Object => {
            let mut map = Map::new();
            for (key, value) in from.fields() {
                map.insert(key.to_owned(), read(value)?);
            }
            Value::Object(map)
        }
    })
}
