//! Embedding hints: a text, and vectors that say where in some model's space it lies. A vector without
//! its model says nothing, so that each names its model and its dimension.

use serde_json::{Value, json};

use super::PayloadError;
use crate::mode::PayloadMode;

/// More kinds of vectors than anybody makes of one text.
pub const MAX_HINTS: usize = 32;
/// Four times what the largest embedding models give.
pub const MAX_DIMENSION: usize = 16_384;

#[derive(Clone, Debug, PartialEq)]
pub struct Hints {
    text: String,
    hints: Vec<Hint>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    name: String,
    model: String,
    vector: Vec<f64>,
}

impl Hints {
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), hints: Vec::new() }
    }

    pub(crate) fn check(value: &Value) -> Result<Self, PayloadError> {
        let Value::Object(fields) = value else { return Err(invalid("", "expected an object")) };
        let Some(Value::String(text)) = fields.get("text") else {
            return Err(invalid("", "the key \"text\" is missing or no string"));
        };
        let given: &[Value] = match fields.get("hints") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(hints)) => hints,
            Some(_) => return Err(invalid("/hints", "expected an array")),
        };
        if given.len() > MAX_HINTS {
            return Err(invalid("/hints", format!("expected at most {MAX_HINTS} hints")));
        }
        let mut hints: Vec<Hint> = Vec::new();
        for (index, value) in given.iter().enumerate() {
            let hint = Hint::check(value, &format!("/hints/{index}"))?;
            if hints.iter().any(|other| other.name == hint.name) {
                return Err(invalid(format!("/hints/{index}/name"), "the name stands twice"));
            }
            hints.push(hint);
        }
        Ok(Self { text: text.clone(), hints })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    pub fn to_value(&self) -> Value {
        let hints: Vec<Value> = self.hints.iter().map(Hint::to_value).collect();
        json!({ "text": self.text, "hints": hints })
    }
}

impl Hint {
    fn check(value: &Value, pointer: &str) -> Result<Self, PayloadError> {
        let Value::Object(fields) = value else {
            return Err(invalid(pointer, "expected an object"));
        };
        let text = |key: &str| match fields.get(key) {
            Some(Value::String(text)) if !text.is_empty() && text.len() <= MAX_NAME => {
                Ok(text.clone())
            }
            _ => Err(invalid(pointer, format!("the key {key:?} is missing or no short string"))),
        };
        let (name, model) = (text("name")?, text("model")?);
        let Some(Value::Array(numbers)) = fields.get("vector") else {
            return Err(invalid(pointer, "the key \"vector\" is missing or no array"));
        };
        if numbers.is_empty() || numbers.len() > MAX_DIMENSION {
            let message = format!("expected 1 to {MAX_DIMENSION} numbers");
            return Err(invalid(format!("{pointer}/vector"), message));
        }
        let dimension = fields.get("dimension").and_then(Value::as_u64);
        if dimension != u64::try_from(numbers.len()).ok() {
            let message = format!("expected the length of the vector, {}", numbers.len());
            return Err(invalid(format!("{pointer}/dimension"), message));
        }
        let mut vector = Vec::with_capacity(numbers.len());
        for (index, number) in numbers.iter().enumerate() {
            match number.as_f64().filter(|number| number.is_finite()) {
                Some(number) => vector.push(number),
                None => {
                    let place = format!("{pointer}/vector/{index}");
                    return Err(invalid(place, "expected a finite number"));
                }
            }
        }
        Ok(Self { name, model, vector })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model that made the vector.
    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn vector(&self) -> &[f64] {
        &self.vector
    }

    fn to_value(&self) -> Value {
        json!({
            "name": self.name,
            "model": self.model,
            "dimension": self.vector.len(),
            "vector": self.vector,
        })
    }
}

const MAX_NAME: usize = 256;

fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> PayloadError {
    PayloadError::invalid(PayloadMode::EmbeddingHints, pointer, message)
}
