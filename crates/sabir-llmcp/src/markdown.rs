//! Answers that are Markdown, with or without a block of citations at their end. It knows no JSON
//! packet.

use sabir_document::{Cites, Document};

use crate::citation::Citation;

/// The document that Markdown means. Marks like `[1]` are read where such a citation exists.
pub(crate) fn document(markdown: &str, citations: &[Citation]) -> Document {
    Document::from_cited_markdown(markdown, Cites::Upto(citations.len() as u32))
}
