//! Semantic frames: an object with the type of the task and an instruction. What else is in it belongs
//! to the task.

use serde_json::{Map, Value};

use super::PayloadError;
use crate::mode::PayloadMode;

#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    fields: Map<String, Value>,
}

impl Frame {
    /// A frame without further fields. An error if either text is empty.
    pub fn new(task_type: &str, instruction: &str) -> Result<Self, PayloadError> {
        let mut fields = Map::new();
        fields.insert(TASK_TYPE.to_owned(), task_type.into());
        fields.insert(INSTRUCTION.to_owned(), instruction.into());
        Self::of_fields(fields)
    }

    pub(crate) fn check(value: &Value) -> Result<Self, PayloadError> {
        match value {
            Value::Object(fields) => Self::of_fields(fields.clone()),
            _ => Err(invalid("", "expected an object")),
        }
    }

    pub(super) fn of_fields(fields: Map<String, Value>) -> Result<Self, PayloadError> {
        for key in [TASK_TYPE, INSTRUCTION] {
            match fields.get(key) {
                None | Some(Value::Null) => {
                    return Err(invalid("", format!("the key {key:?} is missing")));
                }
                Some(Value::String(text)) if !text.trim().is_empty() => {}
                Some(Value::String(_)) => {
                    return Err(invalid(format!("/{key}"), "expected a text that is not empty"));
                }
                Some(_) => return Err(invalid(format!("/{key}"), "expected a string")),
            }
        }
        Ok(Self { fields })
    }

    pub fn task_type(&self) -> &str {
        self.text(TASK_TYPE)
    }

    pub fn instruction(&self) -> &str {
        self.text(INSTRUCTION)
    }

    fn text(&self, key: &str) -> &str {
        self.fields.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Every field, in the order in which they were written.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// The fields that belong to the task.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.fields.iter().filter(|(key, _)| *key != TASK_TYPE && *key != INSTRUCTION)
    }

    pub fn to_value(&self) -> Value {
        Value::Object(self.fields.clone())
    }
}

fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> PayloadError {
    PayloadError::invalid(PayloadMode::SemanticFrame, pointer, message)
}

pub(super) const TASK_TYPE: &str = "task_type";
pub(super) const INSTRUCTION: &str = "instruction";
