//! What an exported grammar allows. The defaults allow all of AXON.

use std::fmt;

use crate::lexer::is_agent_name;
use crate::performative::Performative;
use crate::tier::Tier;

/// Narrows a grammar to what an agent may say here and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The performatives that may open a message, nested ones included. Empty means all.
    pub performatives: Vec<Performative>,
    /// Whether `X.` performatives are allowed besides them.
    pub extensions: bool,
    /// The agents that may stand in routing. Empty means any. References in the content stay free:
    /// they name more than agents.
    pub agents: Vec<AgentName>,
    /// Demands metadata with exactly the fields that the tier lists, in canonical order.
    pub tier: Option<Tier>,
    /// How deep brackets, calls and nested messages may nest. `None` means without bound.
    pub max_depth: Option<u8>,
}

/// The name of an agent without its `@`: identifiers joined by dots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(String);

/// The text is no qualified identifier, so no `@` can stand before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAgentName {
    pub name: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            performatives: Vec::new(),
            extensions: true,
            agents: Vec::new(),
            tier: None,
            max_depth: None,
        }
    }
}

impl AgentName {
    pub fn new(name: impl Into<String>) -> Result<Self, BadAgentName> {
        let name = name.into();
        if is_agent_name(&name) { Ok(Self(name)) } else { Err(BadAgentName { name }) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Such a name needs a space before `>`, because `->` is an operator wherever it stands.
    pub(super) fn ends_in_dash(&self) -> bool {
        self.0.ends_with('-')
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for BadAgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an agent name: write identifiers joined by dots", self.name)
    }
}

impl std::error::Error for BadAgentName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_names_are_qualified_identifiers() {
        for good in ["a", "web-server", "ops.db_1", "x._", "_", "T", "INF", "a-"] {
            assert!(AgentName::new(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "a.", ".a", "a..b", "1a", "@a", "a b", "_x", "é", "a>b", "*"] {
            assert!(AgentName::new(bad).is_err(), "{bad}");
        }
    }
}
