//! The signature of the public reference: HMAC-SHA256 with a shared secret over a few fields.
//!
//! It is here so that its clients and servers can be spoken to, and only a peer that was configured
//! with a secret is. It is weak: what a task says, its contract, its result and its provenance are
//! not covered. The fields are joined by `|` without escapes, so that ("a|b", "c") and ("a", "b|c")
//! share a signature; what was received with such a field is refused.

use std::borrow::Cow;
use std::fmt;

use sabir_base::json::{JsonKind, JsonValue};
use zeroize::Zeroizing;

use super::key::WrongSignature;
use super::session::{hmac_sign, hmac_verify};
use crate::wire::Wire;

/// A secret that two operators gave to both sides. It is wiped from memory when dropped.
#[derive(Clone)]
pub struct SharedSecret(Zeroizing<String>);

impl SharedSecret {
    pub fn new(secret: String) -> Self {
        Self(Zeroizing::new(secret))
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> String {
        hmac_sign(self.0.as_bytes(), bytes)
    }

    pub(super) fn verify(&self, bytes: &[u8], signature: &str) -> Result<(), WrongSignature> {
        hmac_verify(self.0.as_bytes(), bytes, signature)
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSecret(..)")
    }
}

/// What the reference signs of an envelope that was received.
pub(super) fn string_of_received(envelope: JsonValue<'_>) -> String {
    string_of(|path| {
        let value = path.iter().try_fold(envelope, |value, key| value.get(key))?;
        if value.kind() == JsonKind::String { value.string().ok() } else { None }
    })
}

/// What the reference signs of an envelope that we are about to send.
pub(super) fn string_of_wire(envelope: &Wire<'_>) -> String {
    string_of(|path| envelope.text_at(path).map(Cow::Borrowed))
}

/// Whether the string of a received envelope could be that of another: a field holds the separator. Of
/// a nonce that is cut off from an id, or the other way round, a replay under another id is made. Only
/// what stands last, the reason of a rejection, may hold it.
pub(super) fn is_ambiguous(envelope: JsonValue<'_>) -> bool {
    let holds = |value: Option<JsonValue<'_>>| {
        value.and_then(|value| value.string().ok()).is_some_and(|text| text.contains('|'))
    };
    let body = envelope.get("body");
    let of_body = |key| body.and_then(|body| body.get(key));
    COVERED.iter().chain(&["nonce"]).any(|key| holds(envelope.get(key)))
        || ["type", "delegate_id", "session_id", "task_id", "skill"]
            .iter()
            .any(|key| holds(of_body(key)))
}

/// `field` gives a string of the envelope by its path.
fn string_of<'a>(field: impl Fn(&[&str]) -> Option<Cow<'a, str>>) -> String {
    let text = |path: &[&str]| field(path).unwrap_or_default();
    let mut parts: Vec<Cow<'a, str>> = COVERED.map(|key| text(&[key])).into();
    // An empty nonce is one, and a null is none.
    parts.extend(field(&["nonce"]));
    let kind = text(&["body", "type"]);
    let of_body: &[&str] = match &*kind {
        "HELLO" => &["delegate_id"],
        "SESSION_ACCEPT" => &["session_id"],
        "SESSION_REJECT" => &["reason"],
        "TASK_SUBMIT" => &["task_id", "skill"],
        "TASK_UPDATE" | "TASK_RESULT" | "TASK_FAILED" | "TASK_CANCEL" => &["task_id"],
        // The others have an empty part.
        _ => &[""],
    };
    parts.extend(of_body.iter().map(|key| text(&["body", key])));
    parts.push(kind);
    parts.join("|")
}

/// What is covered of every envelope, in this order.
const COVERED: [&str; 5] = ["from", "to", "session_id", "timestamp", "message_id"];

#[cfg(test)]
mod tests {
    use sabir_base::json::Json;
    use serde_json::Value;

    use super::*;

    fn check(body: &str, nonce: &str, expected: &str) {
        let text = format!(
            r#"{{"from":"ldp:delegate:a","to":"ldp:delegate:b","session_id":"s-1","message_id":"m-1",
                "timestamp":"2026-03-15T12:00:00+00:00","nonce":{nonce},"body":{body}}}"#
        );
        let string = string_of_received(Json::read(&text, 9).unwrap().top());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(string_of_wire(&value.into()), string);
        let secret = SharedSecret::new("test-secret".to_owned());
        assert_eq!(secret.sign(string.as_bytes()), expected, "{string}");
        assert_eq!(secret.verify(string.as_bytes(), expected), Ok(()));
    }

    /// LD-S12: made with the reference's own code.
    #[test]
    fn the_signatures_of_the_reference() {
        for (body, expected) in [
            (
                r#"{"type":"HELLO","delegate_id":"ldp:delegate:a"}"#,
                "e2cff6079820235e8a7dcd811c97c82bf98b600f86e0a6d01bdd0fb7901ba932",
            ),
            (
                r#"{"type":"CAPABILITY_MANIFEST"}"#,
                "45e8196181e24361ad888c5c61aaed010d721c150afa3a31bd2c6345678bd6bc",
            ),
            (
                r#"{"type":"SESSION_PROPOSE"}"#,
                "38f8a2d12338897cbcc77fac39a4e1b428963f924889b13722e6e452b2e53b01",
            ),
            (
                r#"{"type":"SESSION_ACCEPT","session_id":"s-1"}"#,
                "29d12e2628ad5f461af47c94d32350ae8f82b5d8a67655c7d2a550b12e7eca44",
            ),
            (
                r#"{"type":"SESSION_REJECT","reason":"no"}"#,
                "921b39591064a65908c743261ed624aef51a1f2d0c340cb51b3a470e8162b32d",
            ),
            (
                r#"{"type":"TASK_SUBMIT","task_id":"t-1","skill":"echo"}"#,
                "0318b509c2c0ac3be61df1d9b38afd8e0d6aff2879ddd57ec9e23c6276b0a91b",
            ),
            (
                r#"{"type":"TASK_UPDATE","task_id":"t-1"}"#,
                "5eacf8e5bfaf8a839b568e6ad4aaa03cf43763457c3373694c407cfc95e27f7a",
            ),
            (
                r#"{"type":"TASK_FAILED","task_id":"t-1"}"#,
                "f2ca012a64abca036b1d4e27c25d172504995ecd977da8cfc4cb2b3d5947caf7",
            ),
            (
                r#"{"type":"TASK_CANCEL","task_id":"t-1"}"#,
                "c8e3f11e091bc9b002c8d74532618fd6326e9936c264e29b31dbc7783e0a045d",
            ),
            (
                r#"{"type":"ATTESTATION"}"#,
                "1ae259674cf9783c1a539febf74c71c5321557de5a137b8dd8e8182729ebc4b3",
            ),
            (
                r#"{"type":"SESSION_CLOSE"}"#,
                "69cea7cb89dfa364937b805cfafd6ef86b4f2814ba1b9b18efc207de1df01e66",
            ),
        ] {
            check(body, "null", expected);
        }
        check(
            r#"{"type":"TASK_SUBMIT","task_id":"t-1","skill":"echo"}"#,
            &format!("{:?}", "ab".repeat(16)),
            "69e71f423fdb3e1c8066272d44421451fa9552b34c62f65857f67467e63607e2",
        );
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(format!("{:?}", SharedSecret::new("hush".to_owned())), "SharedSecret(..)");
    }
}
