//! A line of the wire, read. What cannot be read is answered, never fatal: the words name the
//! culprit, and the id is the sender's own wherever one can be found.

use std::fmt;

use sabir_base::json::depth;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::op::{Op, Submission};

/// Why a line is no submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The sender's id, or nothing if the line has none.
    pub id: String,
    pub message: String,
}

/// A submission, and the names in it that nobody reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    pub submission: Submission,
    /// Paths like `op.sandbox`. A misspelled setting that is silently dropped could be the one
    /// that was meant to keep something safe.
    pub unknown: Vec<String>,
}

/// The longest line that is read. Longer than any patch or picture, short enough to hold.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Deep enough for every submission.
const MAX_DEPTH: usize = 64;

/// Reads one line, without its end.
pub fn decode(line: &[u8]) -> Result<Decoded, Refusal> {
    let refuse = |id: &str, message: String| Err(Refusal { id: id.to_owned(), message });
    if line.len() > MAX_LINE_BYTES {
        return refuse("", too_long());
    }
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let id = find_id(&String::from_utf8_lossy(line));
            return refuse(
                &id,
                format!("the line is not UTF-8, from byte {} on", error.valid_up_to()),
            );
        }
    };
    if depth(text) > MAX_DEPTH {
        return refuse(&find_id(text), format!("the line nests deeper than {MAX_DEPTH} levels"));
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return refuse(&find_id(text), format!("the line is not JSON: {error}")),
    };
    let id = match &value["id"] {
        Value::String(id) => id.clone(),
        Value::Null => {
            return refuse(
                "",
                "the submission has no id: it wants {\"id\":\"1\",\"op\":{...}}".to_owned(),
            );
        }
        _ => return refuse("", "the id of a submission must be a string".to_owned()),
    };
    let op = &value["op"];
    let Value::String(kind) = &op["type"] else {
        return refuse(&id, "the submission has no op with a type".to_owned());
    };
    match serde_json::from_value::<Op>(op.clone()) {
        Ok(op_read) => {
            let mut unknown = Vec::new();
            if let Value::Object(fields) = &value {
                unknown.extend(
                    fields.keys().filter(|key| !matches!(key.as_str(), "id" | "op")).cloned(),
                );
            }
            if let Ok(known) = serde_json::to_value(&op_read) {
                collect_unknown(op, &known, "op", &mut unknown);
            }
            Ok(Decoded { submission: Submission { id, op: op_read }, unknown })
        }
        Err(error) => refuse(&id, format!("the op {kind:?} cannot be read: {error}")),
    }
}

/// The id in a line that cannot be read as a whole; nothing if it cannot be told.
fn find_id(text: &str) -> String {
    let mut id = String::new();
    // Whatever is wrong behind the id does not matter here.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(IdVisitor(&mut id));
    if id.contains(char::REPLACEMENT_CHARACTER) { String::new() } else { id }
}

/// Skips everything else, however deep it is.
struct IdVisitor<'i>(&'i mut String);

impl<'de> Visitor<'de> for IdVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a submission")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => *self.0 = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// What a line that was too long to read is answered.
pub fn too_long() -> String {
    format!("the line is longer than {} MiB and was passed over", MAX_LINE_BYTES / (1024 * 1024))
}

/// Names that are in what came and not in what was understood of it.
fn collect_unknown(came: &Value, known: &Value, path: &str, unknown: &mut Vec<String>) {
    match (came, known) {
        (Value::Object(came), Value::Object(known)) => {
            for (key, value) in came {
                let path = format!("{path}.{key}");
                match known.get(key) {
                    Some(known) => collect_unknown(value, known, &path, unknown),
                    None => unknown.push(path),
                }
            }
        }
        (Value::Array(came), Value::Array(known)) => {
            for (index, (came, known)) in came.iter().zip(known).enumerate() {
                collect_unknown(came, known, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(line: &[u8], expect: Expect) {
        expect.assert_eq(&match decode(line) {
            Ok(Decoded { submission, unknown }) => format!("{:?} {unknown:?}", submission.op),
            Err(Refusal { id, message }) => format!("{id:?}: {message}"),
        });
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_id_it_has() {
        check(
            b"{",
            expect![[
                r#""": the line is not JSON: EOF while parsing an object at line 1 column 1"#
            ]],
        );
        check(b"\xff", expect![[r#""": the line is not UTF-8, from byte 0 on"#]]);
        check(
            b"{\"op\":{\"type\":\"\xff\"},\"id\":\"q5\"}",
            expect![[r#""q5": the line is not UTF-8, from byte 15 on"#]],
        );
        check(b"{\"id\":\"q\xff\"}", expect![[r#""": the line is not UTF-8, from byte 8 on"#]]);
        check(
            br#"{"id":"q5","op":{"type":"#,
            expect![[
                r#""q5": the line is not JSON: EOF while parsing a value at line 1 column 24"#
            ]],
        );
        check(
            br#"{"op":{"type":"interrupt"}}"#,
            expect![[r#""": the submission has no id: it wants {"id":"1","op":{...}}"#]],
        );
        check(
            br#"{"id":7,"op":{"type":"interrupt"}}"#,
            expect![[r#""": the id of a submission must be a string"#]],
        );
        check(br#"{"id":"7"}"#, expect![[r#""7": the submission has no op with a type"#]]);
        check(
            br#"{"id":"7","op":{"type":"dance"}}"#,
            expect![[
                r#""7": the op "dance" cannot be read: unknown variant `dance`, expected one of `configure_session`, `user_input`, `interrupt`, `exec_approval`, `patch_approval`, `override_turn_context`, `compact`, `undo`, `review`, `run_user_shell_command`, `list_tools`, `list_approvals`, `revoke_approval`, `get_history`, `shutdown`"#
            ]],
        );
        check(
            br#"{"id":"7","op":{"type":"exec_approval","call_id":"c"}}"#,
            expect![[r#""7": the op "exec_approval" cannot be read: missing field `decision`"#]],
        );
    }

    #[test]
    fn names_that_nobody_reads_are_told() {
        check(
            br#"{"id":"7","op":{"type":"interrupt"},"now":1}"#,
            expect![[r#"Interrupt ["now"]"#]],
        );
        check(
            br#"{"id":"7","op":{"type":"configure_session","sandbox":{"mode":"read-only"},"provider":{"url":"x"}}}"#,
            expect![[r#"ConfigureSession(ConfigureSession { session_id: None, model: None, provider: Some(ProviderSettings { name: None, base_url: None, wire_api: None, env_key: None, request_max_retries: None, stream_max_retries: None, stream_idle_timeout_ms: None }), cwd: None, approval_policy: None, sandbox_policy: None, instructions: None, effort: None, approval_timeout_ms: None, context_window: None }) ["op.sandbox", "op.provider.url"]"#]],
        );
    }

    #[test]
    fn depth_is_bounded() {
        let line = format!(r#"{{"id":"7","op":{}1{}}}"#, "[".repeat(100), "]".repeat(100));
        check(line.as_bytes(), expect![[r#""7": the line nests deeper than 64 levels"#]]);
    }
}
