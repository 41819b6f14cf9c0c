//! The integration tests of sabir-extractive, in one binary.

mod collection;
mod hostile;
mod properties;
mod questions;
mod requests;
mod rules;
mod schema;
