//! Semantic tokens: what colour a word deserves.

use sabir_base::Span;

use crate::notation::Notation;

use super::server::View;
use super::types::{Position, SemanticTokens};
use super::{axon, llmx};

/// In the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Colour {
    Keyword,
    Class,
    Decorator,
    Variable,
    Number,
    String,
    Comment,
    Operator,
    Property,
    Function,
    EnumMember,
}

/// The protocol's names for the colours, in their order.
pub(super) const LEGEND: [&str; 11] = [
    "keyword",
    "class",
    "decorator",
    "variable",
    "number",
    "string",
    "comment",
    "operator",
    "property",
    "function",
    "enumMember",
];

pub(super) fn tokens(view: &View<'_>) -> SemanticTokens {
    let coloured = match view.notation {
        Notation::Axon => axon::semantic::coloured(view.text),
        Notation::Llmx => llmx::semantic::coloured(view.text),
    };
    encode(view, &coloured)
}

/// The words in order, each as its distance from the one before.
fn encode(view: &View<'_>, coloured: &[(Span, Colour)]) -> SemanticTokens {
    let mut data = Vec::with_capacity(coloured.len() * 5);
    let mut last = Position { line: 0, character: 0 };
    for &(span, colour) in coloured {
        // A token may not go over the end of a line, so strings and comments are cut there.
        let mut start = span.start;
        for line in view.text[span.range()].split_inclusive(['\n', '\r']) {
            let length = view.client.encoding.width(line.trim_end_matches(['\n', '\r']));
            let at = view.lines.position(start);
            start += line.len() as u32;
            if length == 0 {
                continue;
            }
            let same_line = at.line == last.line;
            let behind = if same_line { last.character } else { 0 };
            let modifiers = 0;
            data.extend([
                at.line - last.line,
                at.character - behind,
                length,
                colour as u32,
                modifiers,
            ]);
            last = at;
        }
    }
    SemanticTokens { data }
}
