//! The integration tests of sabir-export, in one binary.

mod cases;
mod csv;
mod generate;
mod hostile;
mod name;
mod pdf;
mod rules;
mod same;
mod schema;
