//! The built program, seen from outside: by a shell, and by an editor.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

mod acp;
mod agents;
mod audit;
mod bridges;
mod cli;
mod console;
mod driven;
mod editor;
mod engine;
mod examples;
mod files;
mod hostile;
mod kill;
mod llmcp_check;
mod llmx_run;
mod lsp;
mod lsp_llmx;
mod mcp;
mod observed;
mod packaging;
mod patch;
mod policy;
mod process;
mod readme;
mod record;
mod research;
mod sandbox;
mod setup;
mod slow_reader;
mod tongues;
mod transports;
