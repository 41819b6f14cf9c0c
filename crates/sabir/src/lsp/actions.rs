//! Changes that the server offers: fixes of findings, repair, formatting.

use std::collections::BTreeMap;

use sabir_base::{Diagnostic, Edit, Span};

use crate::notation::Notation;

use super::diagnostics;
use super::server::View;
use super::types::{
    CodeAction, CodeActionParams, QUICK_FIX, SOURCE_FIX_ALL, TextEdit, WorkspaceEdit,
};

/// The text in its form for people, as one edit or none; `None` while the text has errors.
pub(super) fn format(view: &View<'_>) -> Option<Vec<TextEdit>> {
    let formatted = view.notation.format(view.text).ok()?.text;
    let change = (formatted != view.text).then(|| text_edit(view, &whole(view, formatted)));
    Some(change.into_iter().collect())
}

/// A quick fix for each finding in the range that has one, and a repair of everything where the
/// notation has a repair.
pub(super) fn offer(view: &View<'_>, params: &CodeActionParams) -> Vec<CodeAction> {
    let wanted = |kind: &str| {
        params.context.only.as_ref().is_none_or(|only| only.iter().any(|only| covers(only, kind)))
    };
    let asked = view.lines.span(params.range);
    let findings = view.notation.check(view.text).diagnostics;
    let mut offered = Vec::new();
    if wanted(QUICK_FIX) {
        let fixable = findings.iter().filter(|found| !found.fixes.is_empty());
        let here = fixable.filter(|found| overlaps(found.span, asked));
        offered.extend(here.map(|found| quick_fix(view, found)));
    }
    // Repairing a text that is valid would be a lot of work at every move of the cursor, for
    // nothing.
    if wanted(SOURCE_FIX_ALL) && findings.iter().any(Diagnostic::is_error) {
        offered.extend(match view.notation {
            Notation::Axon => repair_axon(view),
            // Editors apply this kind on their own when a file is saved, and a fix may delete text:
            // that takes a person, one fix at a time.
            Notation::Llmx => None,
        });
    }
    offered
}

/// Kinds are paths: `source` covers `source.fixAll`.
fn covers(wider: &str, kind: &str) -> bool {
    wider.is_empty()
        || kind.strip_prefix(wider).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn quick_fix(view: &View<'_>, found: &Diagnostic) -> CodeAction {
    CodeAction {
        title: found.help.clone().unwrap_or_else(|| format!("Fix: {}", found.message)),
        kind: QUICK_FIX,
        diagnostics: vec![diagnostics::convert(view, found)],
        is_preferred: true,
        edit: edit_of(view, &found.fixes),
    }
}

fn repair_axon(view: &View<'_>) -> Option<CodeAction> {
    let repaired = sabir_axon::repair(view.text);
    let changes = match repaired.changes.len() {
        0 => return None,
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    Some(CodeAction {
        title: format!("Repair the document ({changes})"),
        kind: SOURCE_FIX_ALL,
        diagnostics: Vec::new(),
        is_preferred: false,
        edit: edit_of(view, &[whole(view, repaired.text)]),
    })
}

/// The whole text becomes `text`.
fn whole(view: &View<'_>, text: String) -> Edit {
    Edit::replace(Span::new(0, view.text.len() as u32), text)
}

fn edit_of(view: &View<'_>, edits: &[Edit]) -> WorkspaceEdit {
    let edits = edits.iter().map(|edit| text_edit(view, edit)).collect();
    WorkspaceEdit { changes: BTreeMap::from([(view.uri.to_owned(), edits)]) }
}

fn text_edit(view: &View<'_>, edit: &Edit) -> TextEdit {
    TextEdit { range: view.lines.range(edit.span), new_text: edit.text.clone() }
}

/// Touching counts: a cursor is an empty range at the edge of what it means.
fn overlaps(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}
