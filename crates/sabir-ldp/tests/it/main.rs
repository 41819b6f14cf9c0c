//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod route_choice;
mod route_evidence;
mod route_plan;
mod route_properties;
mod route_rules;
mod route_world;
