//! Reading fields out of content that is a record.

use std::borrow::Cow;

use crate::tree::Kind;
use crate::view::{Expr, Node};

/// What the content says before any `<-`: reasons come behind it.
pub(super) fn claim(content: Node<'_>) -> Node<'_> {
    let content = content.peeled();
    match content.kind() {
        Kind::Cause => content.children().next().map_or(content, Node::peeled),
        _ => content,
    }
}

/// The record that content consists of, with or without a tag.
pub(super) fn record_of(content: Node<'_>) -> Option<Node<'_>> {
    let claim = claim(content);
    match claim.kind() {
        Kind::Record => Some(claim),
        Kind::Tag => claim.children().next().filter(|node| node.kind() == Kind::Record),
        _ => None,
    }
}

pub(super) fn field<'a>(record: Node<'a>, key: &str) -> Option<Node<'a>> {
    let mut fields = record.children().filter_map(Node::as_field);
    fields.find(|field| field.key() == key).map(|field| field.value)
}

/// The word that a value stands for: `#yes`, `yes` and `"yes"` say the same.
pub(super) fn word(value: Node<'_>) -> Option<Cow<'_, str>> {
    match value.expr() {
        Expr::Tag { name, .. } | Expr::Name(name) => Some(Cow::Borrowed(name)),
        Expr::String(string) => Some(string.value()),
        Expr::Bool(true) => Some(Cow::Borrowed("T")),
        Expr::Bool(false) => Some(Cow::Borrowed("F")),
        _ => None,
    }
}

/// The text of a string.
pub(super) fn text(value: Node<'_>) -> Option<Cow<'_, str>> {
    match value.expr() {
        Expr::String(string) => Some(string.value()),
        _ => None,
    }
}

/// A whole number without a unit.
pub(super) fn count(value: Node<'_>) -> Option<u64> {
    match value.expr() {
        Expr::Number(number) if number.unit.is_none() => number.lexeme.parse().ok(),
        _ => None,
    }
}
