//! Tasks that go in circles, or are handed on for ever.
//!
//! It knows the path that a task came by, and nothing of the task.

use serde::{Deserialize, Serialize};

use crate::error::{LdpError, Refusal};
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

/// Whether `own` may take on a task that came by `path`, the oldest first and the sender last.
/// `contract_depth` is the contract's `max_delegation_depth`.
///
/// # Errors
///
/// LOOP_DETECTED when we had it before, DEPTH_EXCEEDED when it was handed on too often: for us, or for
/// the contract that it comes with.
pub fn check_path(
    own: &DelegateId,
    path: &[DelegateId],
    limits: PathLimits,
    contract_depth: Option<u64>,
) -> Result<(), LdpError> {
    if path.contains(own) {
        return Err(Refusal::LoopDetected.error(format!("the task has been at {own} before")));
    }
    if path.len() >= limits.most_hops {
        let most = limits.most_hops;
        let message =
            format!("the task came by {} delegates; {own} allows fewer than {most}", path.len());
        return Err(Refusal::DepthExceeded.error(message));
    }
    // The first in the path is whoever had the task to begin with: a contract counts the hops after it.
    let handed_on = path.len().saturating_sub(1) as u64;
    match contract_depth {
        Some(depth) if handed_on > depth => {
            let message =
                format!("the task was handed on {handed_on} times; its contract allows {depth}");
            Err(Refusal::DepthExceeded.error(message))
        }
        _ => Ok(()),
    }
}

/// The path that goes with a task which `own` hands on. Those in it are not to get the task.
#[must_use]
pub fn extend_path(own: &DelegateId, path: &[DelegateId]) -> Vec<DelegateId> {
    path.iter().chain([own]).cloned().collect()
}
