//! Semantic tokens: what colour a word deserves.

use sabir_axon::{Expr, Kind, Node, TokenKind, Tree};

use super::server::View;
use super::types::{Position, SemanticTokens};

/// In the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Colour {
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
    let parsed = sabir_axon::parse(view.text);
    let words = words(&parsed.tree);
    let mut words = words.as_slice();
    let mut data = Vec::new();
    let mut last = Position { line: 0, character: 0 };
    for token in parsed.tree.tokens() {
        let span = token.span();
        while words.first().is_some_and(|&(start, _)| start < span.start) {
            words = &words[1..];
        }
        let word = words.first().filter(|&&(start, _)| start == span.start);
        let Some(colour) = word.map(|&(_, colour)| colour).or_else(|| colour_of(token.kind)) else {
            continue;
        };
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

/// What a token is, whatever stands around it.
fn colour_of(kind: TokenKind) -> Option<Colour> {
    Some(match kind {
        TokenKind::Comment => Colour::Comment,
        TokenKind::Ref => Colour::Class,
        TokenKind::Var => Colour::Variable,
        TokenKind::Tag => Colour::Decorator,
        TokenKind::Number => Colour::Number,
        TokenKind::String | TokenKind::BadString | TokenKind::WrongQuotes => Colour::String,
        TokenKind::Underscore => Colour::EnumMember,
        TokenKind::Star => Colour::Operator,
        kind if kind.is_operator() => Colour::Operator,
        _ => return None,
    })
}

/// Where words stand whose colour depends on their place, in order.
fn words(tree: &Tree<'_>) -> Vec<(u32, Colour)> {
    let mut found = Vec::new();
    let mut todo: Vec<Node<'_>> = vec![tree.root()];
    while let Some(node) = todo.pop() {
        let colour = match node.kind() {
            Kind::Performative => Some(Colour::Keyword),
            Kind::True | Kind::False | Kind::Null => Some(Colour::EnumMember),
            Kind::Field => Some(Colour::Property),
            Kind::Call => matches!(node.expr(), Expr::Call { .. }).then_some(Colour::Function),
            _ => None,
        };
        found.extend(colour.map(|colour| (node.span().start, colour)));
        todo.extend(node.children());
    }
    // Where two nodes start together, such as a field at a bad key, the outer one was found first.
    found.sort_by_key(|&(start, _)| start);
    found.dedup_by_key(|&mut (start, _)| start);
    found
}
