//! The integration tests of sabir-llmcp, in one binary.

mod answers;
mod cite;
mod cite_bench;
mod cite_hostile;
mod cite_rules;
mod hostile;
mod packets;
mod rules;
mod schema;
mod show;
mod tools;
mod turns;
