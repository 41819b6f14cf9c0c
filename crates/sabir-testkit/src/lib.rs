//! What the tests of several crates share. Never a dependency of shipped code.
//!
//! It knows folders of cases and pages of rules, and nothing of what is in them; it can play a
//! model server, and it knows where the Python of the tests is.

#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are files, waits are bounded by the clock"
)]

mod cases;
mod corpus;
pub mod fake_model;
mod python;
mod rules;

pub use cases::{Case, cases};
pub use corpus::shared_corpus;
pub use python::python;
pub use rules::{assert_rules_are_named, assert_rules_are_named_in};
