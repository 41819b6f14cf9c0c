//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod commands;
mod gate;
mod grants;
mod roots;
mod rules;
