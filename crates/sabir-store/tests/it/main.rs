//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

mod append;
mod child;
mod crash;
mod failure;
mod home;
mod library;
mod migrate;
mod model;
mod reading;
mod rules;
mod sample;
mod tamper;
mod vectors;
