//! Tasks that go in circles, or are handed on for ever.
//!
//! It knows the path that a task came by, and nothing of the task.

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::id::DelegateId;

/// How far a task may have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PathLimits {
    /// A path as long as this is refused.
    pub most_hops: usize,
}

impl Default for PathLimits {
    fn default() -> Self {
        // People lose track of a chain long before.
        Self { most_hops: 8 }
    }
}

/// Why a task is not taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathError {
    Loop,
    TooLong { hops: usize, most_hops: usize },
    BeyondContract { handed_on: u64, depth: u64 },
}

impl PathError {
    /// The code that the sender gets; the text of the error is its message.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Loop => Refusal::LoopDetected,
            Self::TooLong { .. } | Self::BeyondContract { .. } => Refusal::DepthExceeded,
        }
    }
}

impl std::fmt::Display for PathError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loop => f.write_str("the task has been at this delegate before"),
            Self::TooLong { hops, most_hops } => {
                write!(f, "the task came by {hops} delegates; fewer than {most_hops} are allowed")
            }
            Self::BeyondContract { handed_on, depth } => {
                write!(f, "the task was handed on {handed_on} times; its contract allows {depth}")
            }
        }
    }
}

impl std::error::Error for PathError {}

/// Whether `own` may take on a task that came by `path`, the oldest first and the sender last.
/// `contract_depth` is the contract's `max_delegation_depth`.
///
/// # Errors
///
/// When we had it before, or when it was handed on too often: for us, or for the contract that it
/// comes with.
pub fn check_path(
    own: &DelegateId,
    path: &[DelegateId],
    limits: PathLimits,
    contract_depth: Option<u64>,
) -> Result<(), PathError> {
    if path.contains(own) {
        return Err(PathError::Loop);
    }
    let (hops, most_hops) = (path.len(), limits.most_hops);
    if hops >= most_hops {
        return Err(PathError::TooLong { hops, most_hops });
    }
    // The first in the path is whoever had the task to begin with: a contract counts the hops after
    // it.
    let handed_on = hops.saturating_sub(1) as u64;
    match contract_depth {
        Some(depth) if handed_on > depth => Err(PathError::BeyondContract { handed_on, depth }),
        _ => Ok(()),
    }
}

/// The path that goes with a task which `own` hands on. Those in it are not to get the task.
#[must_use]
pub fn extend_path(own: &DelegateId, path: &[DelegateId]) -> Vec<DelegateId> {
    path.iter().chain([own]).cloned().collect()
}
