//! Rich text as data: the render tree of LLMCP, from and to Markdown and JSON, and its plain text
//! with the places that it came from. It knows no files, no HTML and no model.

mod build;
mod href;
mod json;
mod markdown;
mod normal;
mod plain;
mod text;
mod tree;

pub use href::is_safe_href;
pub use json::{MAX_JSON_DEPTH, document_definitions, document_schema};
pub use markdown::Cites;
pub use plain::{PlainText, Section};
pub use tree::{Align, Block, Cell, Document, Inline, ListItem, MAX_DEPTH, Table};
