//! What is wrong with a JSON text, and where.

use std::fmt;

/// Why a text is not JSON, or why a value is not what a decoder takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// A JSON pointer (RFC 6901) to the value at fault; empty for the whole text.
    pub pointer: String,
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl JsonError {
    /// About the text as a whole. [`JsonValue::error`](super::JsonValue::error) is about a value.
    pub fn new(message: impl Into<String>) -> Self {
        Self::at(String::new(), message)
    }

    pub(super) fn at(pointer: String, message: impl Into<String>) -> Self {
        Self { pointer, message: message.into(), help: None }
    }

    /// This error, with what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "at {}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsonError {}
