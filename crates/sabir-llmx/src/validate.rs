//! What the tree's shape does not show: whether blocks have the fields that they need, and whether
//! values are what their fields hold.

use sabir_base::Diagnostic;

use crate::parser::{Parsed, parse};
use crate::tree::Tree;

/// Reads a document and validates it; what is found comes in the order of the text.
pub fn check(text: &str) -> Parsed<'_> {
    let mut parsed = parse(text);
    parsed.diagnostics.extend(validate(&parsed.tree));
    parsed.diagnostics.sort_by_key(|found| found.span.start);
    parsed
}

/// Everything beyond syntax that is wrong with a document.
pub fn validate(_tree: &Tree<'_>) -> Vec<Diagnostic> {
    Vec::new()
}
