//! Finding things: the node under the cursor, the message that `re` names, the outline.

use sabir_axon::{Field, Message, Node, Tree};
use sabir_base::Span;

use super::server::View;
use super::types::{DocumentSymbol, Location, Position, SYMBOL_EVENT};

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

/// The message that the `re` under the cursor names, if it is in this text.
pub(super) fn message_answered_at<'a>(tree: &'a Tree<'a>, offset: u32) -> Option<Message<'a>> {
    let touches = |span: Span| span.start <= offset && offset <= span.end;
    let messages = || tree.messages().filter_map(Node::as_message);
    let mut around = messages().filter(|message| touches(message.node.span()));
    let wanted = around.find_map(|message| {
        let field = message.meta().find(|field| field.key() == "re")?;
        touches(field.node.span()).then(|| message.meta_str("re"))?
    })?;
    messages().find(|message| message.meta_str("id").is_some_and(|id| id == wanted))
}

/// From the value of `re` to the message of that id.
pub(super) fn define(view: &View<'_>, position: Position) -> Option<Location> {
    let parsed = sabir_axon::parse(view.text);
    let message = message_answered_at(&parsed.tree, view.offset(position))?;
    Some(Location { uri: view.uri.to_owned(), range: view.lines.range(message.node.span()) })
}

/// One entry for each message.
pub(super) fn outline(view: &View<'_>) -> Vec<DocumentSymbol> {
    let parsed = sabir_axon::parse(view.text);
    let messages = parsed.tree.messages().filter_map(Node::as_message);
    let symbols = messages.map(|message| {
        let route = format!("{} > {}", message.from.text(), message.to.text());
        DocumentSymbol {
            name: crate::render::clip(&format!("{} {route}", message.word()), 80),
            detail: message.meta_str("id").map(|id| id.into_owned()),
            kind: SYMBOL_EVENT,
            range: view.lines.range(message.node.span()),
            selection_range: view.lines.range(message.performative_node().span()),
        }
    });
    symbols.collect()
}
