//! The integration tests of the crate, one binary.

mod validate;
