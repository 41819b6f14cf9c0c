//! The integration tests of sabir-llmcp, in one binary.

mod calculate;
mod chunk;
mod redact;
