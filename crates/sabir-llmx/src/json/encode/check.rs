//! Whether a tree can be encoded: everything in it was read, and what was read comes back.

use super::EncodeError;
use crate::json::lexeme::{Within, is_any_key, is_number, is_run};
use crate::normal;
use crate::tree::{Kind, Tree};
use crate::view::{Block, Field, Node};

type Checked = Result<(), EncodeError>;

pub(super) fn document(tree: &Tree<'_>) -> Checked {
    tree.root().children().try_for_each(|node| match node.as_message() {
        Some(message) if message.header().is_some() => {
            message.node.children().try_for_each(|child| match child.as_block() {
                Some(parsed) => block(parsed),
                None => refuse(child),
            })
        }
        // Something that is no message, or a message that does not start with a HEADER.
        _ => refuse(node.children().next().unwrap_or(node)),
    })
}

fn refuse(node: Node<'_>) -> Checked {
    Err(EncodeError { span: node.span() })
}

fn block(block: Block<'_>) -> Checked {
    match block.body.kind() {
        Kind::Object | Kind::Array => {}
        _ => return refuse(block.node),
    }
    value(block.body, normal::is_verbatim(block), Within::Object)
}

fn value(node: Node<'_>, verbatim: bool, within: Within) -> Checked {
    match node.kind() {
        Kind::Object => fields(node, verbatim, Within::Object),
        Kind::Tuple => fields(node, verbatim, Within::Tuple),
        Kind::Array => node.children().try_for_each(|item| value(item, verbatim, Within::Array)),
        Kind::Number if is_number(node.text()) => Ok(()),
        Kind::Run if !verbatim || is_run(node.text(), within) => Ok(()),
        Kind::String | Kind::Word | Kind::True | Kind::False | Kind::Null => Ok(()),
        _ => refuse(node),
    }
}

fn fields(object: Node<'_>, verbatim: bool, within: Within) -> Checked {
    let repeated = first_duplicate(object, verbatim);
    for child in object.children() {
        let Some(field) = child.as_field() else { return refuse(child) };
        let is_repeated = repeated.is_some_and(|repeated| repeated.node.id() == child.id());
        if is_repeated || !is_any_key(field.key()) {
            return refuse(child);
        }
        value(field.value, verbatim || field.is_extension(), within)?;
    }
    Ok(())
}

/// The first field whose key stands before. Keys are equal in any case, but not in extensions.
fn first_duplicate<'a>(object: Node<'a>, verbatim: bool) -> Option<Field<'a>> {
    let same = |a: &str, b: &str| a == b || !verbatim && a.eq_ignore_ascii_case(b);
    // Few keys are compared with each other, many are sorted.
    const FEW: usize = 8;
    if object.fields().nth(FEW).is_none() {
        return object.fields().find(|field| {
            let before = object.fields().take_while(|other| other.node.id() != field.node.id());
            before.into_iter().any(|other| same(other.key(), field.key()))
        });
    }
    let folded = |field: Field<'a>| match verbatim {
        true => field.key().to_owned(),
        false => field.key().to_ascii_lowercase(),
    };
    let mut sorted: Vec<_> =
        object.fields().map(|field| (folded(field), field.node.id(), field)).collect();
    sorted.sort_unstable_by(|(a, a_id, _), (b, b_id, _)| (a, a_id).cmp(&(b, b_id)));
    let repeated = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    repeated.map(|pair| (pair[1].1, pair[1].2)).min_by_key(|(id, _)| *id).map(|(_, field)| field)
}
