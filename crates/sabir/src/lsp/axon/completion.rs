//! What could stand at the cursor of an AXON text. Decided from the tokens before it, because a text
//! that is being typed has no tree yet worth asking.

use std::collections::BTreeSet;

use sabir_axon::{MetaField, Performative, Token, TokenKind, Unit};
use sabir_base::Span;

use crate::lsp::completion::item;
use crate::lsp::server::View;
use crate::lsp::types::{CompletionItem, Markdown, SNIPPET, item_kind};

use super::hover;

/// What makes an editor ask.
pub(in crate::lsp) const TRIGGERS: &[&str] = &["@", "#", "$", "[", ","];

/// What fits at the cursor, and which bytes it would replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A message may start.
    Message(Span),
    MetaKey(Span),
    /// `@`, `#` or `$`, and the name behind it.
    Name(TokenKind, Span),
    Unit(Span),
}

pub(in crate::lsp) fn complete(view: &View<'_>, offset: u32) -> Vec<CompletionItem> {
    let Some(place) = place(view.text, offset) else { return Vec::new() };
    match place {
        Place::Message(span) => performatives(view, span),
        Place::MetaKey(span) => meta_keys(view, span),
        Place::Name(kind, span) => names(view, kind, span),
        Place::Unit(span) => units(view, span),
    }
}

fn place(text: &str, offset: u32) -> Option<Place> {
    let mut open: Vec<Bracket> = Vec::new();
    // The last token that is neither white space nor comment nor under the cursor.
    let mut before: Option<Token> = None;
    let mut after_meta = false;
    for token in sabir_axon::tokens(text) {
        let span = token.span();
        if span.start >= offset {
            break;
        }
        if span.end >= offset {
            let inside = |kind| Some(Place::Name(kind, span));
            match token.kind {
                TokenKind::Comment if span.end > offset => return None,
                TokenKind::String if span.end > offset => return None,
                TokenKind::BadString => return None,
                TokenKind::Ref | TokenKind::Var | TokenKind::Tag => return inside(token.kind),
                TokenKind::LoneSigil => {
                    let sigil = text[span.range()].chars().next();
                    return match sigil {
                        Some('@') => inside(TokenKind::Ref),
                        Some('#') => inside(TokenKind::Tag),
                        Some('$') => inside(TokenKind::Var),
                        _ => None,
                    };
                }
                TokenKind::Number | TokenKind::BadNumber => return unit_place(text, span, offset),
                TokenKind::Name => {
                    return word_place(&open, before, after_meta, span);
                }
                _ => {}
            }
        }
        match token.kind {
            TokenKind::Whitespace | TokenKind::Comment => continue,
            TokenKind::LBracket => {
                open.push(if starts_meta(&open, before) { Bracket::Meta } else { Bracket::Other });
            }
            TokenKind::LParen | TokenKind::LBrace => open.push(Bracket::Other),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                after_meta = open.pop() == Some(Bracket::Meta);
            }
            _ => after_meta = false,
        }
        before = Some(token);
    }
    word_place(&open, before, after_meta, Span::at(offset))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Meta,
    Other,
}

/// A `[` outside brackets is a list where an expression must come, and metadata everywhere else: no
/// expression is ever followed by `[`.
fn starts_meta(open: &[Bracket], before: Option<Token>) -> bool {
    open.is_empty() && before.is_none_or(|before| !wants_expression(before.kind))
}

fn wants_expression(kind: TokenKind) -> bool {
    kind == TokenKind::Colon || kind.is_operator()
}

/// Where a word, typed or not yet, stands.
fn word_place(
    open: &[Bracket],
    before: Option<Token>,
    after_meta: bool,
    span: Span,
) -> Option<Place> {
    match open.last() {
        Some(Bracket::Meta) => {
            let key = before.is_some_and(|before| {
                matches!(before.kind, TokenKind::LBracket | TokenKind::Comma)
            });
            key.then_some(Place::MetaKey(span))
        }
        Some(Bracket::Other) => None,
        None => {
            let touches = before.is_some_and(|before| before.span().end == span.start);
            let nested = before.is_some_and(|before| wants_expression(before.kind));
            (after_meta || nested || !touches).then_some(Place::Message(span))
        }
    }
}

/// Behind digits; what is there of a unit would be replaced.
fn unit_place(text: &str, span: Span, offset: u32) -> Option<Place> {
    let typed = &text[span.start as usize..offset as usize];
    let digits = typed.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    digits
        .ends_with(|c: char| c.is_ascii_digit())
        .then(|| Place::Unit(Span::new(span.start + digits.len() as u32, span.end)))
}

fn performatives(view: &View<'_>, span: Span) -> Vec<CompletionItem> {
    let items = Performative::ALL.into_iter().map(|performative| {
        let info = performative.info();
        let text = if view.client.snippets {
            format!("{}(@${{1:from}}>@${{2:to}}): $0", info.word)
        } else {
            info.word.to_owned()
        };
        let mut item = item(view, span, info.word, item_kind::KEYWORD, text);
        item.detail = Some(info.name.to_owned());
        item.documentation = Some(Markdown::new(hover::describe_performative(performative)));
        item.insert_text_format = view.client.snippets.then_some(SNIPPET);
        item
    });
    items.collect()
}

fn meta_keys(view: &View<'_>, span: Span) -> Vec<CompletionItem> {
    // In canonical order, which is also the order of use.
    let items = MetaField::ALL.iter().enumerate().map(|(order, field)| {
        let text = format!("{}:", field.key);
        let mut item = item(view, span, field.key, item_kind::PROPERTY, text);
        item.detail = Some(hover::field_meaning(field.key).to_owned());
        item.documentation = Some(Markdown::new(hover::describe_field(field)));
        item.sort_text = Some(format!("{order:02}"));
        item
    });
    items.collect()
}

/// Names of one kind that stand elsewhere in the text.
fn names(view: &View<'_>, kind: TokenKind, span: Span) -> Vec<CompletionItem> {
    let seen: BTreeSet<&str> = sabir_axon::tokens(view.text)
        .filter(|token| token.kind == kind && token.span() != span)
        .map(|token| &view.text[token.span().range()])
        .collect();
    let name_kind = match kind {
        TokenKind::Ref => item_kind::CLASS,
        TokenKind::Tag => item_kind::ENUM_MEMBER,
        _ => item_kind::VARIABLE,
    };
    seen.into_iter().map(|name| item(view, span, name, name_kind, name.to_owned())).collect()
}

fn units(view: &View<'_>, span: Span) -> Vec<CompletionItem> {
    let items = Unit::ALL.into_iter().map(|unit| {
        let text = unit.text().to_owned();
        let mut item = item(view, span, unit.text(), item_kind::UNIT, text);
        item.detail = Some(hover::unit_name(unit).to_owned());
        item
    });
    items.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|` in `text` is the cursor; `expected` names the place and what would be replaced.
    fn check(text: &str, expected: &str) {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let found = match place(&text, offset as u32) {
            None => "nothing".to_owned(),
            Some(Place::Message(span)) => format!("message {:?}", &text[span.range()]),
            Some(Place::MetaKey(span)) => format!("key {:?}", &text[span.range()]),
            Some(Place::Name(kind, span)) => format!("{kind:?} {:?}", &text[span.range()]),
            Some(Place::Unit(span)) => format!("unit {:?}", &text[span.range()]),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_place_is_told_from_the_tokens_before() {
        check("|", "message \"\"");
        check("IN|", "message \"IN\"");
        check("INF(@a>@b): x\n|", "message \"\"");
        check("INF(@a>@b): x\nQ|", "message \"Q\"");
        check("INF(@a>@b): |", "message \"\"");
        check("INF(@a>@b): RE|", "message \"RE\"");
        check("[id:\"x\"] |", "message \"\"");
        check("[|", "key \"\"");
        check("[id:\"x\", t|", "key \"t\"");
        check("[id:|", "nothing");
        check("INF(@a>@b): [x, |", "nothing");
        check("INF(@a>@b): x\n[|", "key \"\"");
        check("INF(@|", "Ref \"@\"");
        check("INF(@a>@w|): x", "Ref \"@w\"");
        check("INF(@a>@b): #|", "Tag \"#\"");
        check("INF(@a>@b): $u|", "Var \"$u\"");
        check("INF(@a>@b): 5|", "unit \"\"");
        check("INF(@a>@b): 5m|", "unit \"m\"");
        check("INF(@a>@b): \"a |b\"", "nothing");
        check("(* a | b *)", "nothing");
        check("INF(@a>@b): f(|", "nothing");
    }
}
