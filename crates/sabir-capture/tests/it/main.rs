//! The integration tests of sabir-capture, in one binary.

mod hostile;
mod pages;
mod pdf;
mod render;
mod rules;
