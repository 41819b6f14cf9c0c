//! What is wrong with a JSON text, and where.

use std::fmt;

use crate::Span;

/// Why a text is not JSON, or why a value is not what a decoder takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// A JSON pointer (RFC 6901) to the value at fault; empty for the whole text.
    pub pointer: String,
    /// Where that value stands in the text; empty where no place is known.
    pub span: Span,
    pub fault: JsonFault,
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// The text is not JSON.
    Syntax,
    /// It is longer than offsets reach.
    TooLarge,
    TooDeep,
    DuplicateKey,
    /// An escape names no character.
    Escape,
    /// A value is JSON, but not what the decoder takes.
    Shape,
}

impl JsonError {
    /// About the text as a whole. [`JsonValue::error`](super::JsonValue::error) is about a value.
    pub fn new(message: impl Into<String>) -> Self {
        Self::at(String::new(), Span::default(), message)
    }

    pub(super) fn at(pointer: String, span: Span, message: impl Into<String>) -> Self {
        Self { pointer, span, fault: JsonFault::Shape, message: message.into(), help: None }
    }

    #[must_use]
    pub(super) fn fault(mut self, fault: JsonFault) -> Self {
        self.fault = fault;
        self
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
