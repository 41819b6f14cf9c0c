//! The `sabir` program: arguments, rendering of diagnostics, exit codes, and the language server.
//!
//! It reads files and terminals so that no other crate has to. What is right or wrong about a text
//! is not decided here.
#![expect(clippy::disallowed_methods, reason = "the outermost crate reads files and environment")]

mod axon;
mod check;
mod cli;
mod convert;
mod exit;
mod explain;
mod fmt;
mod generate;
mod home;
mod input;
mod json;
mod llmx;
mod lsp;
mod notation;
mod output;
mod patch;
mod place;
mod render;
mod report;
mod tokens;
mod tongue;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
