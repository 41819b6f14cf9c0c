//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod batch;
mod conversation;
mod generate;
mod grammar;
mod hostile;
mod inconsistencies;
mod json;
mod parse;
mod paths;
mod properties;
mod reply;
mod rules;
mod shortcut;
mod spec;
mod typed;
mod validate;
