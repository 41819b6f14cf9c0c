//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

mod append;
mod browsing;
mod child;
mod commits;
mod crash;
mod delegate_behind;
mod delegate_crash;
mod delegate_node;
mod delegate_reading;
mod delegate_restore;
mod delegate_rows;
mod failure;
mod home;
mod library;
mod migrate;
mod model;
mod node_key;
mod peers;
mod reading;
mod rules;
mod sample;
mod tamper;
mod vectors;
