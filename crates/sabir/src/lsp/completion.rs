//! What could stand at the cursor.

use std::collections::BTreeSet;

use sabir_base::Span;

use crate::notation::Notation;

use super::server::View;
use super::types::{CompletionItem, CompletionParams, TextEdit};
use super::{axon, llmx};

pub(super) fn complete(view: &View<'_>, params: &CompletionParams) -> Vec<CompletionItem> {
    // Editors learn one list of triggers for every notation; what means something in one of them
    // would only be in the way in another.
    let trigger = params.context.as_ref().and_then(|context| context.trigger_character.as_deref());
    if trigger.is_some_and(|trigger| !triggers(view.notation).contains(&trigger)) {
        return Vec::new();
    }
    let offset = view.offset(params.position);
    match view.notation {
        Notation::Axon => axon::completion::complete(view, offset),
        Notation::Llmx => llmx::completion::complete(view, offset),
    }
}

/// The triggers of every notation.
pub(super) fn all_triggers() -> BTreeSet<&'static str> {
    Notation::ALL.into_iter().flat_map(triggers).copied().collect()
}

fn triggers(notation: Notation) -> &'static [&'static str] {
    match notation {
        Notation::Axon => axon::completion::TRIGGERS,
        Notation::Llmx => llmx::completion::TRIGGERS,
    }
}

/// `label`, which would replace `span` with `new_text`.
pub(super) fn item(
    view: &View<'_>,
    span: Span,
    label: &str,
    kind: u32,
    new_text: String,
) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind,
        detail: None,
        documentation: None,
        sort_text: None,
        // Editors filter by the bytes that would be replaced, sigil included.
        filter_text: label.to_owned(),
        insert_text_format: None,
        text_edit: TextEdit { range: view.lines.range(span), new_text },
    }
}
