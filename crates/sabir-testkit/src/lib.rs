//! What the tests of several crates share. Never a dependency of shipped code.
//!
//! It knows folders of cases and pages of rules, and nothing of what is in them; it can play a
//! model server and read a stream of events, and it knows where the Python and the browser driver of the tests are.

#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are files, waits are bounded by the clock"
)]

mod browser_driver;
mod cases;
mod corpus;
mod event_stream;
pub mod fake_model;
mod python;
mod rules;

pub use browser_driver::{BrowserDriver, browser_driver};
pub use cases::{Case, cases};
pub use corpus::shared_corpus;
pub use event_stream::{EventStream, NumberedEvent};
pub use python::python;
pub use rules::{assert_rules_are_named, assert_rules_are_named_in};
