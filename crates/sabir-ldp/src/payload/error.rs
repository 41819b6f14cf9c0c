//! Why a payload is not what its mode says. The text of the error names the mode, because that is what
//! a peer steps down from.

use std::fmt;

use crate::mode::PayloadMode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayloadError {
    /// The mode is recognised and nothing is known about it.
    NotImplemented { mode: PayloadMode },
    /// The pointer starts at the payload.
    Invalid { mode: PayloadMode, pointer: String, message: String },
    /// It is good, and the other mode or tongue has no room for it.
    Unsayable { from: PayloadMode, message: String },
}

impl PayloadError {
    pub(super) fn invalid(
        mode: PayloadMode,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::Invalid { mode, pointer: pointer.into(), message: message.into() }
    }

    pub(super) fn unsayable(from: PayloadMode, message: impl Into<String>) -> Self {
        Self::Unsayable { from, message: message.into() }
    }
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotImplemented { mode } => write!(f, "{mode} is not implemented here"),
            Self::Invalid { mode, pointer, message } if pointer.is_empty() => {
                write!(f, "{mode} validation failed: {message}")
            }
            Self::Invalid { mode, pointer, message } => {
                write!(f, "{mode} validation failed at {pointer}: {message}")
            }
            Self::Unsayable { from, message } => {
                write!(f, "this {from} cannot be said otherwise: {message}")
            }
        }
    }
}

impl std::error::Error for PayloadError {}
