//! Rich text as data: the render tree of LLMCP, from and to Markdown, and its plain text with the
//! places that it came from. It knows no files, no HTML and no model.

mod tree;

pub use tree::{Align, Block, Cell, Document, Inline, ListItem, Table};
