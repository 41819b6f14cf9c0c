//! To which other hosts a fetch may be led. Why is not known here.

use std::fmt;

/// Decides about redirects, beside the guard.
pub trait Redirects: fmt::Debug + Send + Sync {
    /// Whether a fetch that began at the host `first` may go on at `next`, which can be the same.
    fn follows(&self, first: &str, next: &str) -> bool;
}
