//! Whether two trees say the same.

use crate::block::BlockKind;
use crate::normal::{self, Normal};
use crate::tree::{Kind, Tree};
use crate::view::{Block, Node};

/// Equality of the strict forms: white space, quotes around words, the spelling of escapes and what
/// the strict form leaves out make no difference. Number lexemes, the order of fields and whatever
/// stands in an extension do.
pub fn same(a: &Tree<'_>, b: &Tree<'_>) -> bool {
    all(a.root().children(), b.root().children(), top)
}

/// Walks both in step.
fn all<T, U>(
    a: impl Iterator<Item = T>,
    mut b: impl Iterator<Item = U>,
    equal: impl Fn(T, U) -> bool,
) -> bool {
    for left in a {
        if !b.next().is_some_and(|right| equal(left, right)) {
            return false;
        }
    }
    b.next().is_none()
}

fn top(a: Node<'_>, b: Node<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (Kind::Message, Kind::Message) => all(a.children(), b.children(), top),
        _ => match (a.as_block(), b.as_block()) {
            (Some(a), Some(b)) => block(a, b),
            (None, None) => a.text() == b.text(),
            _ => false,
        },
    }
}

fn block(a: Block<'_>, b: Block<'_>) -> bool {
    if !a.word().eq_ignore_ascii_case(b.word()) {
        return false;
    }
    if normal::is_verbatim(a) {
        return verbatim(a.body, b.body);
    }
    match (a.body.kind(), b.body.kind()) {
        (Kind::Object, Kind::Object) => {
            all(normal::block_fields(a), normal::block_fields(b), field)
        }
        (Kind::Array, Kind::Array) if a.kind() == BlockKind::Plan => {
            all(normal::items(a.body), normal::items(b.body), step)
        }
        _ => value(a.body, b.body),
    }
}

fn step(a: Node<'_>, b: Node<'_>) -> bool {
    let is_step = |node: Node<'_>| matches!(node.kind(), Kind::Object | Kind::Tuple);
    match (is_step(a), is_step(b)) {
        (true, true) => all(normal::step_fields(a), normal::step_fields(b), field),
        (false, false) => value(a, b),
        _ => false,
    }
}

fn field(a: Normal<'_>, b: Normal<'_>) -> bool {
    let equal = if a.verbatim && b.verbatim { verbatim } else { value };
    a.key == b.key && equal(a.value, b.value)
}

fn value(a: Node<'_>, b: Node<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (Kind::Array, Kind::Array) => all(normal::items(a), normal::items(b), value),
        (Kind::Object | Kind::Tuple, Kind::Object | Kind::Tuple) => {
            all(normal::object_fields(a), normal::object_fields(b), field)
        }
        _ => match (a.as_text(), b.as_text()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => a.kind() == b.kind() && a.text() == b.text(),
            _ => false,
        },
    }
}

/// As `value`, but nothing is normalised except white space and escapes.
fn verbatim(a: Node<'_>, b: Node<'_>) -> bool {
    match (a.kind(), b.kind()) {
        // Text that should have quotes gets them where it could not stand without.
        (Kind::Run, Kind::String) | (Kind::String, Kind::Run) => return a.as_text() == b.as_text(),
        (a, b) if a != b => return false,
        _ => {}
    }
    match a.kind() {
        Kind::Array | Kind::Object | Kind::Tuple => all(a.children(), b.children(), verbatim),
        Kind::Field => match (a.as_field(), b.as_field()) {
            (Some(a), Some(b)) => a.key() == b.key() && verbatim(a.value, b.value),
            _ => a.text() == b.text(),
        },
        Kind::String => a.as_text() == b.as_text(),
        _ => a.text() == b.text(),
    }
}
