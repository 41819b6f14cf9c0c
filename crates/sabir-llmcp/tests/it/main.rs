//! The integration tests of sabir-llmcp, in one binary.

mod answers;
mod hostile;
mod packets;
mod rules;
mod schema;
mod show;
mod tools;
mod turns;
