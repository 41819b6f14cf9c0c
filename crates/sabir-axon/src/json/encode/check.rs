//! What in a tree cannot be encoded, found before anything is written.

use std::borrow::Cow;
use std::collections::HashSet;

use sabir_base::Span;

use super::EncodeError;
use crate::json::MAX_APPROX;
use crate::normal::{approx, operands, peel};
use crate::tree::{Kind, Tree};
use crate::view::{Expr, Field, Message, Node};

type Checked = Result<(), EncodeError>;

/// The first part that cannot be encoded is the error.
pub(super) fn document(tree: &Tree<'_>) -> Checked {
    approximations(tree)?;
    tree.root().children().try_for_each(|node| match node.as_message() {
        Some(inner) => message(inner),
        None => Err(broken(node)),
    })
}

/// There are as few as a decoder takes.
fn approximations(tree: &Tree<'_>) -> Checked {
    // As a rule the text is too short to hold too many.
    if tree.text().len() <= MAX_APPROX as usize {
        return Ok(());
    }
    let mut left = MAX_APPROX;
    let mut nodes = tree.nodes.iter().filter(|node| node.kind == Kind::Approx);
    nodes.try_for_each(|node| {
        let span = Span { start: node.start, end: node.end };
        left = left.checked_sub(node.mid).ok_or(EncodeError { span })?;
        Ok(())
    })
}

fn broken(node: Node<'_>) -> EncodeError {
    EncodeError { span: node.span() }
}

fn message(message: Message<'_>) -> Checked {
    let mut count = 4;
    if let Some(meta) = message.meta_node() {
        fields(meta)?;
        count += 1;
    }
    // What stands behind the content was not read as part of it.
    if let Some(rest) = message.node.children().nth(count) {
        return Err(broken(rest));
    }
    endpoint(message.from)?;
    endpoint(message.to)?;
    expression(message.content)
}

fn endpoint(node: Node<'_>) -> Checked {
    match node.kind() {
        Kind::Agent | Kind::Anyone => Ok(()),
        Kind::Agents => node.children().try_for_each(endpoint),
        _ => Err(broken(node)),
    }
}

/// The fields under a record or a metadata block: all of them have a key, and no two the same.
fn fields(node: Node<'_>) -> Checked {
    let mut keys = Keys::Few(node);
    for child in node.children() {
        let field = child.as_field().ok_or_else(|| broken(child))?;
        expression(field.value)?;
        if field.key_span().is_empty() || !keys.insert(field) {
            return Err(broken(child));
        }
    }
    Ok(())
}

/// Up to here it is quicker to look at all fields in front than to keep a set of keys.
const FEW: usize = 16;

/// The keys of an object.
enum Keys<'a> {
    /// Those in front, under this node.
    Few(Node<'a>),
    Many(HashSet<Cow<'a, str>>),
}

impl<'a> Keys<'a> {
    /// Whether the key of `field` is new. Asked once for each field, in order.
    fn insert(&mut self, field: Field<'a>) -> bool {
        match self {
            Keys::Few(object) => {
                let key = field.key();
                let in_front = |other: &Node<'a>| other.id() != field.node.id();
                let others = || object.children().take_while(in_front).filter_map(Node::as_field);
                let is_new = others().all(|other| other.key() != key);
                if others().count() == FEW {
                    let keys = others().map(Field::key).chain([key]).collect();
                    *self = Keys::Many(keys);
                }
                is_new
            }
            Keys::Many(keys) => keys.insert(field.key()),
        }
    }
}

fn expression(node: Node<'_>) -> Checked {
    let node = peel(node);
    // Parentheses that are still here hold nothing or several things.
    if node.kind() == Kind::Paren {
        return Err(broken(node));
    }
    match node.expr() {
        Expr::Null
        | Expr::Bool(_)
        | Expr::String(_)
        | Expr::Number(_)
        | Expr::Ref(_)
        | Expr::Var(_)
        | Expr::Name(_)
        | Expr::Tag { record: None, .. } => Ok(()),
        Expr::Tag { record: Some(record), .. } => fields(record),
        Expr::Call { mut args, .. } => args.try_for_each(|argument| match argument.as_field() {
            None => expression(argument),
            Some(field) => expression(field.value),
        }),
        Expr::List(mut elements) => elements.try_for_each(expression),
        Expr::Record(_) => fields(node),
        Expr::Approx { .. } => expression(approx(node).1),
        Expr::Range { from: left, to: right } | Expr::Compare { left, right, .. } => {
            expression(left)?;
            expression(right)
        }
        Expr::Chain { .. } => operands(node).try_for_each(expression),
        Expr::Message(inner) => message(inner),
        Expr::Error => Err(broken(node)),
    }
}
