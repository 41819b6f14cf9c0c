//! Why an engine cannot be opened.

use std::fmt;

use sabir_store::StoreError;

use crate::files::ApplyError;
use crate::policy::PolicyFileError;

#[derive(Debug)]
pub enum HostError {
    Store(StoreError),
    /// A half-done patch could not be taken back.
    Recovery(ApplyError),
    Policy(PolicyFileError),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Policy(error) => error.fmt(f),
            Self::Recovery(error) => {
                write!(f, "a patch that a crash left half done cannot be taken back: {error}")
            }
        }
    }
}

impl std::error::Error for HostError {}

impl From<StoreError> for HostError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ApplyError> for HostError {
    fn from(error: ApplyError) -> Self {
        Self::Recovery(error)
    }
}

impl From<PolicyFileError> for HostError {
    fn from(error: PolicyFileError) -> Self {
        Self::Policy(error)
    }
}
