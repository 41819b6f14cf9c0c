//! The library: one module for each concern. `docs/protocol/library.md` has the rules.

mod approvals;
mod artifacts;
mod audit;
mod chat;
pub(crate) mod child;
mod citations;
mod collections;
mod crash;
mod files;
mod jobs;
mod plans;
mod rules;
mod runs;
mod sample;
mod search;
mod sources;
mod step;
mod verify;
