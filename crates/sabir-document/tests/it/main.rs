//! The integration tests of sabir-document, in one binary.

mod generate;
mod hostile;
mod json;
mod markdown;
mod plain;
mod rules;
