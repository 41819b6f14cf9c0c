//! What every language of Sabir reports with: byte spans, diagnostics and a bounded list of them,
//! edits, line numbers, near misses. And what every language is read from besides its own text:
//! [`json`]. [`text`] makes words of strangers fit to be shown, and [`is_tracking_name`] knows what in an
//! address only counts visitors.
//!
//! This crate knows no grammar and no renderer. It depends on nothing of ours.

mod codes;
mod diagnostic;
mod edit;
mod findings;
pub mod json;
mod lines;
mod near;
mod span;
pub mod text;
mod tracking;

pub use codes::CodeInfo;
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use edit::{Edit, apply_edits};
pub use findings::Findings;
pub use lines::{LineCol, LineIndex};
pub use near::is_near;
pub use span::Span;
pub use tracking::is_tracking_name;
