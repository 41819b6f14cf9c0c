//! What colour each token of an AXON text deserves.

use sabir_axon::{Expr, Kind, Node, TokenKind, Tree};
use sabir_base::Span;

use crate::lsp::semantic::Colour;

/// The tokens that have a colour, in order.
pub(in crate::lsp) fn coloured(text: &str) -> Vec<(Span, Colour)> {
    let parsed = sabir_axon::parse(text);
    let words = words(&parsed.tree);
    let mut words = words.as_slice();
    let mut coloured = Vec::new();
    for token in parsed.tree.tokens() {
        let span = token.span();
        while words.first().is_some_and(|&(start, _)| start < span.start) {
            words = &words[1..];
        }
        let word = words.first().filter(|&&(start, _)| start == span.start);
        let colour = word.map(|&(_, colour)| colour).or_else(|| colour_of(token.kind));
        coloured.extend(colour.map(|colour| (span, colour)));
    }
    coloured
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
