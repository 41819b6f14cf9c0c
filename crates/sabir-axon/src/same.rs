//! Whether two trees say the same.

use crate::normal::{approx, operands, peel};
use crate::tree::{Kind, Tree};
use crate::view::{Expr, Node};

/// Equality of trees, not of texts: white space, comments, redundant parentheses, the quotes of
/// keys and the spelling of escapes make no difference. Number lexemes and the order of fields do.
pub fn same(a: &Tree<'_>, b: &Tree<'_>) -> bool {
    all(a.root().children(), b.root().children(), node)
}

/// Walks both in step. Two iterators, not two lists: a chain may be very long.
fn all<'a, 'b>(
    a: impl Iterator<Item = Node<'a>>,
    mut b: impl Iterator<Item = Node<'b>>,
    equal: fn(Node<'a>, Node<'b>) -> bool,
) -> bool {
    for left in a {
        match b.next() {
            Some(right) if equal(left, right) => {}
            _ => return false,
        }
    }
    b.next().is_none()
}

fn node(a: Node<'_>, b: Node<'_>) -> bool {
    let (a, b) = (peel(a), peel(b));
    if a.kind() != b.kind() {
        return false;
    }
    let children = || all(a.children(), b.children(), node);
    match a.kind() {
        Kind::Null | Kind::True | Kind::False | Kind::Anyone => true,
        Kind::Performative
        | Kind::Agent
        | Kind::Number
        | Kind::Ref
        | Kind::Var
        | Kind::Name
        | Kind::Error => a.text() == b.text(),
        Kind::String => match (a.expr(), b.expr()) {
            (Expr::String(a), Expr::String(b)) => a.value() == b.value(),
            _ => false,
        },
        Kind::Tag => match (a.expr(), b.expr()) {
            (Expr::Tag { name: a, .. }, Expr::Tag { name: b, .. }) => a == b && children(),
            _ => false,
        },
        Kind::Call => match (a.expr(), b.expr()) {
            (Expr::Call { name: a, .. }, Expr::Call { name: b, .. }) => a == b && children(),
            _ => false,
        },
        Kind::Field => match (a.as_field(), b.as_field()) {
            (Some(a), Some(b)) => a.key() == b.key() && node(a.value, b.value),
            _ => false,
        },
        Kind::Compare => match (a.expr(), b.expr()) {
            (Expr::Compare { op: a, .. }, Expr::Compare { op: b, .. }) => a == b && children(),
            _ => false,
        },
        Kind::Approx => {
            let ((a_times, a), (b_times, b)) = (approx(a), approx(b));
            a_times == b_times && node(a, b)
        }
        Kind::Any | Kind::All | Kind::Then | Kind::Cause => all(operands(a), operands(b), node),
        Kind::Document
        | Kind::Message
        | Kind::Meta
        | Kind::Agents
        | Kind::List
        | Kind::Record
        | Kind::Range => children(),
        // Parentheses that are still here hold nothing or several things, which is an error.
        Kind::Paren => a.text() == b.text(),
    }
}
