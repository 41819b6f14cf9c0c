//! The `sabir` program: arguments, rendering of diagnostics, exit codes, and the language server.
//!
//! It reads files and terminals so that no other crate has to. What is right or wrong about a text
//! is not decided here.
#![expect(clippy::disallowed_methods, reason = "the outermost crate reads files and environment")]

mod acp;
mod agent_args;
mod agents;
mod audit;
mod axon;
mod check;
mod cli;
mod config;
mod convert;
mod doctor;
mod exit;
mod explain;
mod fmt;
mod generate;
mod home;
mod input;
mod json;
mod llmcp;
mod llmx;
mod log;
mod lsp;
mod model_args;
mod notation;
mod output;
mod patch;
mod place;
mod policy;
mod proto;
mod render;
mod report;
mod research;
mod run;
mod sandbox;
mod sessions;
mod signals;
mod tokens;
mod tongue;

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A message is read by one thread, written down by a second and answered by a third: what one made is
/// freed by another, for which the allocators of most systems have the two wait for each other.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    // Before anything else: a helper must not have started a thread.
    match args.next() {
        Some(first) if first == sabir_host::sandbox::HELPER_ARGUMENT => {
            return sabir_host::sandbox::main(args);
        }
        Some(first) if first == sabir_host::PDF_ARGUMENT => {
            return sabir_capture::run_pdf_child(std::io::stdin().lock(), std::io::stdout().lock());
        }
        _ => {}
    }
    sabir_host::secrets::receive();
    // Without it the program works as well, only less secretly.
    let _ = sabir_host::sandbox::protect_self();
    cli::run()
}
