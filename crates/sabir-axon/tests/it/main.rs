//! The integration tests of sabir-axon, in one binary.

mod dump;
mod grammar;
mod hostile;
mod parse;
mod repair;
mod validate;
