//! The integration tests of sabir-llmcp, in one binary.

mod cite;
mod cite_bench;
mod cite_hostile;
mod cite_rules;
