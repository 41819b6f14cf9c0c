//! The built program, seen from outside: by a shell, and by an editor.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

mod cli;
mod editor;
mod examples;
mod files;
mod hostile;
mod lsp;
mod lsp_llmx;
mod patch;
mod process;
mod readme;
mod sandbox;
mod tongues;
mod transports;
