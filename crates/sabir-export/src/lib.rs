//! A document as a file to hand on: Markdown, text, JSON, CSV, PDF. It knows no folder.

mod artifact;
mod name;

pub use artifact::{Artifact, ExportError, Format, Reference, export};
pub use name::file_name;
