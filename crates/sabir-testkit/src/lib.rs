//! What the tests of several crates share. Never a dependency of shipped code.
//!
//! It knows folders of cases and nothing of what is in them.

#![expect(clippy::disallowed_methods, reason = "fixtures are files, and only tests read them here")]

mod cases;
mod corpus;

pub use cases::{Case, cases};
pub use corpus::shared_corpus;
