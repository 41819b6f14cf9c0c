//! What a person forbids. Who that is and where they wrote it down is not known here.

use std::fmt;

/// Hosts that are not reached, whoever names them.
pub trait Denials: fmt::Debug + Send + Sync {
    /// Whether this host is forbidden: a name without a final dot, or an address as it stands in a
    /// URL, also one that a name resolves to.
    fn denies(&self, host: &str) -> bool;
}
