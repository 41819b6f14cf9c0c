//! The integration tests of sabir-axon, in one binary.

mod grammar;
