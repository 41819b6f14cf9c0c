//! The integration tests of sabir-llmcp, in one binary.

mod calculate;
mod chunk;
mod contract;
mod fence;
mod fenced;
mod pack;
mod packing_rules;
mod redact;
mod answers;
mod hostile;
mod packets;
mod rules;
mod schema;
mod show;
mod tools;
mod turns;
