//! The policy file of a home, read and checked. What it means, the gate's own crate says.

use std::fmt;
use std::path::{Path, PathBuf};

use sabir_policy::{PolicyDoc, PolicyError};

/// A policy file that cannot be used. Nothing is started with one: rules that are not read are rules
/// that do not hold.
#[derive(Debug)]
pub struct PolicyFileError {
    pub path: PathBuf,
    pub fault: PolicyFault,
}

#[derive(Debug)]
pub enum PolicyFault {
    Unreadable(std::io::Error),
    Wrong(PolicyError),
}

/// Where the policy file of a home is, or would be.
pub fn policy_file(home: &Path) -> PathBuf {
    home.join("policy.toml")
}

/// What the policy file of a home says; one that is not there adds nothing.
pub fn load_policy(home: &Path) -> Result<PolicyDoc, PolicyFileError> {
    let path = policy_file(home);
    let read = match std::fs::read_to_string(&path) {
        Ok(text) => PolicyDoc::parse(&text).map_err(PolicyFault::Wrong),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(PolicyDoc::default()),
        Err(error) => Err(PolicyFault::Unreadable(error)),
    };
    read.map_err(|fault| PolicyFileError { path, fault })
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.fault {
            PolicyFault::Unreadable(error) => write!(f, "cannot be read: {error}"),
            PolicyFault::Wrong(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PolicyFileError {}
