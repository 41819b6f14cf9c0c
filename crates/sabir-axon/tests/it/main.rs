//! The integration tests of sabir-axon, in one binary.

mod dump;
mod generate;
mod grammar;
mod hostile;
mod json;
mod parse;
mod print;
mod repair;
mod rules;
mod validate;
