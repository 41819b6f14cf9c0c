//! Finding things: what a name names, where it is used, the outline.

use sabir_base::Span;

use crate::notation::Notation;

use super::server::View;
use super::types::{DocumentSymbol, Location, Position, ReferenceParams};
use super::{axon, llmx};

/// A name under the cursor, and all that carries it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Linked {
    /// Whether the cursor is where the name is given or where it is used.
    pub(super) cursor: Cursor,
    /// The message or block that has the name, if it is in this text.
    pub(super) named: Option<Span>,
    /// Where the name is given to it.
    pub(super) given: Option<Span>,
    /// Where the name is used, in order.
    pub(super) used: Vec<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cursor {
    OnName,
    OnUse,
}

impl Linked {
    /// Where the cursor leads to: from a use to what is named.
    pub(super) fn target(&self) -> Option<Span> {
        self.named.filter(|_| self.cursor == Cursor::OnUse)
    }
}

/// From where a name is used to what it names.
pub(super) fn define(view: &View<'_>, position: Position) -> Option<Location> {
    let target = linked(view, position)?.target()?;
    Some(location(view, target))
}

/// Every place where the name under the cursor is used, and on demand the one where it is given.
pub(super) fn refer(view: &View<'_>, params: &ReferenceParams) -> Option<Vec<Location>> {
    let linked = linked(view, params.position)?;
    let given = linked.given.filter(|_| params.context.include_declaration);
    Some(given.into_iter().chain(linked.used).map(|span| location(view, span)).collect())
}

/// One entry for each message.
pub(super) fn outline(view: &View<'_>) -> Vec<DocumentSymbol> {
    match view.notation {
        Notation::Axon => axon::navigation::outline(view),
        Notation::Llmx => llmx::navigation::outline(view),
    }
}

fn linked(view: &View<'_>, position: Position) -> Option<Linked> {
    let offset = view.offset(position);
    match view.notation {
        Notation::Axon => axon::navigation::linked(&sabir_axon::parse(view.text).tree, offset),
        Notation::Llmx => llmx::navigation::linked(&sabir_llmx::parse(view.text).tree, offset),
    }
}

fn location(view: &View<'_>, span: Span) -> Location {
    Location { uri: view.uri.to_owned(), range: view.lines.range(span) }
}

/// Touching counts: a cursor behind a word still means the word.
pub(super) fn touches(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}
