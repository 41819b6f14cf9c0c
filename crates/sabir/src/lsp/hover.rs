//! What the word under the cursor means.

use crate::notation::Notation;

use super::server::View;
use super::types::{Hover, Markdown, Position};
use super::{axon, llmx};

pub(super) fn hover(view: &View<'_>, position: Position) -> Option<Hover> {
    let offset = view.offset(position);
    let (span, value) = match view.notation {
        Notation::Axon => axon::hover::explain(&sabir_axon::parse(view.text).tree, offset),
        Notation::Llmx => llmx::hover::explain(&sabir_llmx::parse(view.text).tree, offset),
    }?;
    Some(Hover { contents: Markdown::new(value), range: view.lines.range(span) })
}

/// Enough of a message or a block to recognise it, as a piece of code.
pub(super) fn quote(notation: Notation, text: &str) -> String {
    const MAX: usize = 200;
    let line = crate::render::clip(text.lines().next().unwrap_or_default(), MAX);
    format!("```{}\n{line}\n```", notation.word())
}
