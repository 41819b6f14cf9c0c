//! Messages as they come, before anybody answers them: those that cannot be read, and those that would
//! be read as something else than was written, have their answer here. It knows no tool.

use rmcp::model::{ClientJsonRpcMessage, RequestId};
use sabir_base::json::{Json, JsonKind, long_integer};
use sabir_base::text::one_line;
use serde_json::{Value, json};

use crate::heft::{MOST_PARTS, parts};

/// What a text is.
#[derive(Debug)]
pub(super) enum Heard {
    Message(Box<ClientJsonRpcMessage>),
    /// Nobody waits for an answer to it.
    Nothing,
    Unread(Unread),
}

/// Why a message is not read, and whose answer that is.
#[derive(Debug, PartialEq)]
pub(super) struct Unread {
    /// None if it has none that could be told.
    id: Option<RequestId>,
    code: i32,
    message: String,
}

impl Heard {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Self::Unread(Unread::new(None, PARSE_ERROR, "it is not UTF-8"));
        };
        if parts(bytes) > MOST_PARTS {
            let why = format!("a message has at most {MOST_PARTS} values");
            return Self::Unread(Unread::new(None, INVALID_REQUEST, why));
        }
        let read = serde_json::from_str::<ClientJsonRpcMessage>(text);
        let long = long_integer(text);
        if let (Ok(message), None) = (read, long) {
            return Self::Message(Box::new(message));
        }
        let json = match Json::read(text, DEEPEST) {
            Ok(json) => json,
            Err(error) => {
                let why = format!("it is no JSON that can be read: {error}");
                return Self::Unread(Unread::new(None, PARSE_ERROR, one_line(&why, MAX_CHARS)));
            }
        };
        let top = json.top();
        if top.kind() != JsonKind::Object {
            let why = "a message is an object: send each of several by itself";
            return Self::Unread(Unread::new(None, INVALID_REQUEST, why));
        }
        let has = |name| top.get(name).is_some();
        // To an answer there is none, and whoever only tells something waits for nothing.
        if !has("method") && (has("result") || has("error")) || has("method") && !has("id") {
            return Self::Nothing;
        }
        let id = top.get("id").and_then(|id| serde_json::from_str(id.text()).ok());
        Self::Unread(match long {
            // It would be kept as another number, and what it is in goes on to others.
            Some(digits) => {
                let digits = one_line(digits, 60);
                let why = format!("the integer {digits} is too long: send it as a string");
                Unread::new(id, INVALID_PARAMS, why)
            }
            None if sabir_base::json::depth(text) > DEEPEST_READ => {
                let why = format!("it nests deeper than {DEEPEST_READ} levels");
                Unread::new(id, INVALID_REQUEST, why)
            }
            None => Unread::new(id, INVALID_REQUEST, "it is no message of this protocol"),
        })
    }
}

impl Unread {
    fn new(id: Option<RequestId>, code: i32, message: impl Into<String>) -> Self {
        Self { id, code, message: message.into() }
    }

    pub(super) fn too_long(most: usize) -> Self {
        Self::new(None, INVALID_REQUEST, format!("a message has at most {most} bytes"))
    }

    /// Whether somebody knows which of their messages is meant.
    pub(super) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// As it is sent.
    pub(super) fn answer(&self) -> Value {
        let error = json!({ "code": self.code, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error })
    }
}

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;
const MAX_CHARS: usize = 200;
/// How deep a message is that is read.
const DEEPEST_READ: usize = 127;
/// How deep one is that is looked at for who sent it: far beyond what anybody means.
const DEEPEST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, input: &str) -> String {
        let params = format!(r#"{{"name":"run_task","arguments":{{"input":{input}}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    }

    /// BR-M12
    #[test]
    fn what_is_not_read_is_answered() {
        let answer = |text: &[u8]| match Heard::read(text) {
            Heard::Unread(unread) => unread.answer(),
            other => panic!("{other:?}"),
        };
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        for (text, id, code, words) in [
            (call("7", "18446744073709551616"), json!(7), -32602, "18446744073709551616"),
            (call("\"a\"", "[-9223372036854775809]"), json!("a"), -32602, "send it as a string"),
            (call("7", &nested(200)), json!(7), -32600, "deeper than 127"),
            (call("7", &nested(100_000)), Value::Null, -32700, "no JSON that can be read"),
            (call("1.5", "1"), Value::Null, -32600, "no message"),
            (
                call("7", &format!("[{}0]", "0,".repeat(600_000))),
                Value::Null,
                -32600,
                "524288 values",
            ),
            ("[]".to_owned(), Value::Null, -32600, "by itself"),
            ("null".to_owned(), Value::Null, -32600, "by itself"),
            ("ahoy".to_owned(), Value::Null, -32700, "no JSON"),
            (r#"{"jsonrpc":"#.to_owned(), Value::Null, -32700, "no JSON"),
        ] {
            let told = answer(text.as_bytes());
            assert_eq!((&told["id"], &told["error"]["code"]), (&id, &json!(code)), "{told}");
            assert!(told["error"]["message"].as_str().unwrap().contains(words), "{told}");
        }
        assert_eq!(answer(b"\xff")["error"]["code"], -32700);
        assert_eq!(answer(call("7", "1").replace("2.0", "1.0").as_bytes())["id"], 7);
        // What is in a string is no integer, and a number with an exponent is a float.
        let commas = format!("\"{}\"", ",".repeat(600_000));
        for read in
            [&commas, r#""18446744073709551616""#, "18446744073709551615", "1e30", &nested(100)]
        {
            let heard = Heard::read(call("7", read).as_bytes());
            assert!(matches!(heard, Heard::Message(_)), "{read}: {heard:?}");
        }
    }

    /// BR-M12: errors that answer errors would never end.
    #[test]
    fn nobody_is_answered_who_waits_for_nothing() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"n":18446744073709551616}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":18446744073709551616,"message":""}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"n":18446744073709551616}}"#,
        ] {
            assert!(matches!(Heard::read(text.as_bytes()), Heard::Nothing), "{text}");
        }
    }
}
