//! Finding things in an AXON text: the node under the cursor, the message that `re` names, the
//! outline.

use sabir_axon::{Field, Message, Node, Tree};

use crate::lsp::navigation::{Cursor, Linked, touches};
use crate::lsp::server::View;
use crate::lsp::types::{DocumentSymbol, symbol_kind};

/// The innermost node at `offset`, or the one that ends there: a cursor behind a word still means
/// the word.
pub(super) fn node_touching<'a>(tree: &'a Tree<'a>, offset: u32) -> Node<'a> {
    let at = tree.node_at(offset);
    let is_leaf = at.children().next().is_none() && at.span().contains(offset);
    if is_leaf || offset == 0 {
        return at;
    }
    let before = tree.node_at(offset - 1);
    if before.span().end == offset { before } else { at }
}

/// The fields of every metadata block.
pub(super) fn meta_fields<'a>(tree: &'a Tree<'a>) -> impl Iterator<Item = Field<'a>> {
    tree.messages().filter_map(Node::as_message).flat_map(Message::meta)
}

/// What carries the name in the `id` or `re` under the cursor.
pub(in crate::lsp) fn linked(tree: &Tree<'_>, offset: u32) -> Option<Linked> {
    let messages = || tree.messages().filter_map(Node::as_message);
    let mut around = messages().filter(|message| touches(message.node.span(), offset));
    let (message, cursor) = around.find_map(|message| {
        let field = message.meta().find(|field| touches(field.node.span(), offset))?;
        match field.key().as_ref() {
            "re" => Some((message, Cursor::OnUse)),
            "id" => Some((message, Cursor::OnName)),
            _ => None,
        }
    })?;
    let wanted = message.meta_str(match cursor {
        Cursor::OnUse => "re",
        Cursor::OnName => "id",
    })?;
    let carries =
        |message: &Message<'_>, key: &str| message.meta_str(key).is_some_and(|name| name == wanted);
    let span_of = |message: Message<'_>, key: &str| message.meta_value(key).map(Node::span);
    let named = messages().find(|message| carries(message, "id"));
    let users = messages().filter(|message| carries(message, "re"));
    Some(Linked {
        cursor,
        named: named.map(|message| message.node.span()),
        given: named.and_then(|message| span_of(message, "id")),
        used: users.filter_map(|message| span_of(message, "re")).collect(),
    })
}

/// One entry for each message.
pub(in crate::lsp) fn outline(view: &View<'_>) -> Vec<DocumentSymbol> {
    let parsed = sabir_axon::parse(view.text);
    let messages = parsed.tree.messages().filter_map(Node::as_message);
    let symbols = messages.map(|message| {
        let route = format!("{} > {}", message.from.text(), message.to.text());
        DocumentSymbol {
            name: crate::render::clip(&format!("{} {route}", message.word()), 80),
            detail: message.meta_str("id").map(|id| id.into_owned()),
            kind: symbol_kind::EVENT,
            range: view.lines.range(message.node.span()),
            selection_range: view.lines.range(message.performative_node().span()),
            children: Vec::new(),
        }
    });
    symbols.collect()
}
