//! The integration tests of sabir-capture, in one binary.

mod pages;
