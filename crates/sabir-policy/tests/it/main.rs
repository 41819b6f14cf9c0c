//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod bounds;
mod calls;
mod commands;
mod facts;
mod gate;
mod grants;
mod judging;
mod policy_file;
mod roots;
mod rules;
