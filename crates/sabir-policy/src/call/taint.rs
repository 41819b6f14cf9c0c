//! What entered the context that a model answered from, by document. Taint only grows: an answer from
//! a tainted context carries it into the next turn.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The documents whose content the model has seen, as far as they matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Taint {
    /// Documents of strangers: pages, results of tools that reach out, messages of other agents.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub untrusted: BTreeSet<String>,
    /// Documents of the user's own: notes, files, pages behind a login.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub private: BTreeSet<String>,
}

impl Taint {
    pub fn add(&mut self, other: &Self) {
        self.untrusted.extend(other.untrusted.iter().cloned());
        self.private.extend(other.private.iter().cloned());
    }
}
