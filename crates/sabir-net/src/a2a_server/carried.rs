//! What the types of the protocol carry as it is: they are those of protobuf, where every number is a
//! double and nothing nests deeper than its readers go.

use serde_json::{Number, Value};

/// Why a value would not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Loss {
    /// It would be another number.
    Digits(String),
    /// Nobody could read it.
    Depth,
}

/// The first thing about a value that would be lost on the way.
pub(super) fn loss(value: &Value) -> Option<Loss> {
    lost(value, MOST_LEVELS)
}

fn lost(value: &Value, levels: usize) -> Option<Loss> {
    // A value in a list is in a list of values; one in an object is in an entry of its fields.
    let (own, items): (usize, Box<dyn Iterator<Item = &Value> + '_>) = match value {
        Value::Null | Value::Bool(_) | Value::String(_) => (1, Box::new(std::iter::empty())),
        Value::Number(number) if is_double(number) => (1, Box::new(std::iter::empty())),
        Value::Number(number) => return Some(Loss::Digits(number.to_string())),
        Value::Array(items) => (2, Box::new(items.iter())),
        Value::Object(fields) => (3, Box::new(fields.values())),
    };
    let Some(levels) = levels.checked_sub(own) else { return Some(Loss::Depth) };
    items.into_iter().find_map(|item| lost(item, levels))
}

/// Whether an integer is the same when it was a double.
fn is_double(number: &Number) -> bool {
    let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    // Up to 64 bits nothing is lost in between.
    whole.is_none_or(|whole| (whole as f64) as i128 == whole)
}

/// Readers go a hundred levels deep; a task in a stream, its history, a message and a part come first.
const MOST_LEVELS: usize = 95;

#[cfg(test)]
mod tests {
    use a2a::{Message, Part, Role, StreamResponse, Task, TaskState, TaskStatus};
    use a2a_pb::protojson_conv;
    use serde_json::json;

    use super::*;

    /// As it is when it was sent to somebody.
    fn sent(value: Value) -> Option<Value> {
        let status = TaskStatus { state: TaskState::Working, message: None, timestamp: None };
        let message = Message::new(Role::User, vec![Part::data(value)]);
        let task = Task {
            id: "order-1".to_owned(),
            context_id: "c".to_owned(),
            status,
            artifacts: None,
            history: Some(vec![message]),
            metadata: None,
        };
        let sent = protojson_conv::to_value(&StreamResponse::Task(task)).ok()?;
        Some(sent.pointer("/task/history/0/parts/0/data")?.clone())
    }

    /// BR-A16
    #[test]
    fn what_is_said_to_be_carried_arrives() {
        type Wrap = fn(Value) -> Value;
        let wraps: [Wrap; 3] =
            [|it| json!([it]), |it| json!({ "a": it }), |it| json!([{ "a": [it, "y"] }, true])];
        for wrap in wraps {
            let mut value = json!("x");
            while loss(&value).is_none() {
                assert_eq!(sent(value.clone()), Some(value.clone()));
                value = wrap(value);
            }
            assert_eq!(loss(&value), Some(Loss::Depth));
        }
        for digits in ["9007199254740993", "-9007199254740993", "18446744073709551615"] {
            let value: Value = serde_json::from_str(&format!("[{{\"n\":{digits}}}]")).unwrap();
            assert_eq!(loss(&value), Some(Loss::Digits(digits.to_owned())));
        }
        for exact in ["9007199254740992", "-9223372036854775808", "0.1", "-0.0", "1e300"] {
            assert_eq!(loss(&serde_json::from_str(exact).unwrap()), None, "{exact}");
        }
    }
}
