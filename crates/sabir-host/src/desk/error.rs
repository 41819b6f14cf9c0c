//! What can go wrong at the desk, and whose fault it is.

use std::fmt;

use sabir_capture::{FetchError, PageError};
use sabir_store::library::LibraryError;

use super::input::InputError;

#[derive(Debug)]
pub enum DeskError {
    Library(LibraryError),
    Input(InputError),
    /// The model could not be asked.
    Model {
        reason: String,
    },
    /// What the model answered cannot be used for what was asked.
    Unreadable {
        reason: String,
    },
    /// The model answered with nothing at all.
    NoAnswer,
    /// What was asked for makes no sense here.
    Refused {
        reason: String,
    },
    /// A document cannot be written in that form.
    Export {
        reason: String,
    },
    Browser {
        reason: String,
    },
    Random {
        reason: String,
    },
    /// Somebody said stop.
    Stopped,
}

impl DeskError {
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }

    /// Stable, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Library(_) => "library",
            Self::Input(error) => error.code(),
            Self::Model { .. } => "model",
            Self::Unreadable { .. } => "unreadable_answer",
            Self::NoAnswer => "no_answer",
            Self::Refused { .. } => "refused",
            Self::Export { .. } => "export",
            Self::Browser { .. } => "browser",
            Self::Random { .. } => "random",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for DeskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => write!(f, "{error}"),
            Self::Input(error) => write!(f, "{error}"),
            Self::Model { reason } => write!(f, "the model did not answer: {reason}"),
            Self::Unreadable { reason } => write!(f, "the answer cannot be read: {reason}"),
            Self::NoAnswer => f.write_str("the model gave no answer"),
            Self::Refused { reason } | Self::Browser { reason } => f.write_str(reason),
            Self::Export { reason } => write!(f, "it cannot be written in that form: {reason}"),
            Self::Random { reason } => write!(f, "there are no random numbers: {reason}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for DeskError {}

impl From<LibraryError> for DeskError {
    fn from(error: LibraryError) -> Self {
        Self::Library(error)
    }
}

impl From<InputError> for DeskError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<FetchError> for DeskError {
    fn from(error: FetchError) -> Self {
        Self::Input(error.into())
    }
}

impl From<PageError> for DeskError {
    fn from(error: PageError) -> Self {
        Self::Input(error.into())
    }
}
