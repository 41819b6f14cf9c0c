//! The integration tests of sabir-capture, in one binary.

mod browser;
mod egress;
mod fetch;
mod pages;
mod rules;
mod site;
