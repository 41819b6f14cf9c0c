//! The hosts that a policy file forbids, for whoever connects. What a connection is for is not known
//! here.

use super::pattern::HostPattern;

/// Hosts that are not reached. The default forbids none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeniedHosts(Vec<HostPattern>);

impl DeniedHosts {
    pub(super) fn new(patterns: Vec<HostPattern>) -> Self {
        Self(patterns)
    }

    /// Whether this host is forbidden. It is spelled as in an address, without a final dot.
    pub fn contains(&self, host: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(host))
    }
}
