//! The integration tests of sabir-ldp, in one binary.

mod replay;
mod security_rules;
mod signing;
mod signing_vectors;
mod trust;
