//! Trees as JSON: what goes over the wire. Markdown is not known here.

mod read;
mod schema;
mod write;

use crate::MAX_DEPTH;

pub use schema::{document_definitions, document_schema};

/// How deep JSON nests that holds a document of [`MAX_DEPTH`]: four levels for a list in a list, two
/// for a mark in a mark, and the rest for the document, a block and a cell.
pub const MAX_JSON_DEPTH: usize = MAX_DEPTH * 6 + 8;
