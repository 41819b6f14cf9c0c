//! The integration tests of sabir-llmcp, in one binary.

mod answers;
mod calculate;
mod chunk;
mod cite;
mod cite_bench;
mod cite_context;
mod cite_hostile;
mod cite_rules;
mod contract;
mod fence;
mod fenced;
mod hostile;
mod pack;
mod packets;
mod packing_rules;
mod redact;
mod rules;
mod schema;
mod show;
mod tools;
mod turns;
