//! What an approval is bound to: one hash over a call, its arguments and what was in the context. It
//! does not know whether anybody approved.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::call::Taint;

/// The hash of one call with all of its arguments and its taint.
#[derive(Clone, Copy, Eq)]
pub struct Binding([u8; 32]);

impl Binding {
    pub fn of(tool: &str, arguments: &Map<String, Value>, taint: &Taint) -> Self {
        let mut hash = Fields::new(BINDING_LABEL);
        hash.text(tool);
        hash.object(arguments);
        for documents in [&taint.untrusted, &taint.private] {
            hash.count(documents.len());
            documents.iter().for_each(|document| hash.text(document));
        }
        Self(hash.finish())
    }

    pub fn to_hex(&self) -> String {
        to_hex(&self.0)
    }
}

/// The hash of arguments alone, by which an audit row says what they were.
pub(crate) fn digest_of(arguments: &Map<String, Value>) -> String {
    let mut hash = Fields::new(ARGUMENTS_LABEL);
    hash.object(arguments);
    to_hex(&hash.finish())
}

/// A hash over fields, each with its kind and length in front: no two lists of fields are the same
/// bytes.
struct Fields(Sha256);

impl Fields {
    fn new(label: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.text(label);
        fields
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    /// Without recursion: how deep a value is, others decide.
    fn object(&mut self, object: &Map<String, Value>) {
        let mut steps = Vec::new();
        self.begin(object, &mut steps);
        while let Some(step) = steps.pop() {
            match step {
                Step::Key(key) => self.text(key),
                Step::Value(Value::Null) => self.0.update(b"0"),
                Step::Value(Value::Bool(true)) => self.0.update(b"t"),
                Step::Value(Value::Bool(false)) => self.0.update(b"f"),
                Step::Value(Value::Number(number)) => {
                    self.0.update(b"n");
                    self.text(&number.to_string());
                }
                Step::Value(Value::String(text)) => {
                    self.0.update(b"s");
                    self.text(text);
                }
                Step::Value(Value::Array(items)) => {
                    self.0.update(b"a");
                    self.count(items.len());
                    steps.extend(items.iter().rev().map(Step::Value));
                }
                Step::Value(Value::Object(object)) => self.begin(object, &mut steps),
            }
        }
    }

    /// What follows of an object: its members, in the order of their keys.
    fn begin<'a>(&mut self, object: &'a Map<String, Value>, steps: &mut Vec<Step<'a>>) {
        self.0.update(b"o");
        self.count(object.len());
        let mut members: Vec<(&String, &Value)> = object.iter().collect();
        members.sort_unstable_by_key(|(key, _)| *key);
        for (key, value) in members.into_iter().rev() {
            steps.push(Step::Value(value));
            steps.push(Step::Key(key));
        }
    }

    fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

enum Step<'a> {
    Key(&'a str),
    Value(&'a Value),
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// In constant time: how much of a guess was right must not be told by how long the answer takes.
impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Binding({})", self.to_hex())
    }
}

impl Serialize for Binding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Binding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_hex(&text).map(Self).ok_or_else(|| D::Error::custom("no hash of 64 hex digits"))
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(bytes)
}

const BINDING_LABEL: &str = "sabir/policy/call-binding/v1";
const ARGUMENTS_LABEL: &str = "sabir/policy/arguments/v1";
