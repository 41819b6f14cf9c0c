//! What the tests of several crates share. Never a dependency of shipped code.
//!
//! It knows folders of cases and pages of rules, and nothing of what is in them.

#![expect(clippy::disallowed_methods, reason = "fixtures are files, and only tests read them here")]

mod cases;
mod corpus;
mod rules;

pub use cases::{Case, cases};
pub use corpus::shared_corpus;
pub use rules::assert_rules_are_named;
