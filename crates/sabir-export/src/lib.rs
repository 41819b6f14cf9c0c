//! A document as a file to hand on: Markdown, text, JSON, CSV, PDF. It knows no folder.

mod artifact;
mod clean;
mod csv;
mod flat;
mod json;
mod markdown;
mod name;
mod pdf;
mod sheet;
mod spacing;
mod text;

pub use artifact::{Artifact, ExportError, Format, Reference, export, export_pdf};
pub use json::export_schema;
pub use name::file_name;
