//! What every language of Sabir reports with: byte spans, diagnostics, edits, line numbers. And what
//! every language is read from besides its own text: [`json`].
//!
//! This crate knows no grammar and no renderer. It depends on nothing of ours.

mod codes;
mod diagnostic;
mod edit;
pub mod json;
mod lines;
mod span;

pub use codes::CodeInfo;
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use edit::{Edit, apply_edits};
pub use lines::{LineCol, LineIndex};
pub use span::Span;
