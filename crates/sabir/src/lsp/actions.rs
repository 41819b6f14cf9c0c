//! Changes that the server offers: fixes of findings, repair, formatting.

use std::collections::HashMap;

use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionParams, TextEdit, WorkspaceEdit};
use sabir_axon::Style;
use sabir_base::{Diagnostic, Edit, Span};

use super::diagnostics;
use super::server::View;

/// The text in its pretty form, as one edit or none; `None` while the text has errors.
pub(super) fn format(view: &View<'_>) -> Option<Vec<TextEdit>> {
    let parsed = sabir_axon::parse(view.text);
    if parsed.has_errors() {
        return None;
    }
    let formatted = sabir_axon::print(&parsed.tree, Style::Pretty);
    let change = (formatted != view.text).then(|| text_edit(view, &whole(view, formatted)));
    Some(change.into_iter().collect())
}

/// A quick fix for each finding in the range that has one, and a repair of everything.
pub(super) fn offer(view: &View<'_>, params: &CodeActionParams) -> Vec<CodeAction> {
    let wanted = |kind: &CodeActionKind| {
        params.context.only.as_ref().is_none_or(|only| only.iter().any(|only| covers(only, kind)))
    };
    let asked = view.lines.span(params.range);
    let findings = diagnostics::findings(view.text);
    let mut offered = Vec::new();
    if wanted(&CodeActionKind::QuickFix) {
        let fixable = findings.iter().filter(|found| !found.fixes.is_empty());
        let here = fixable.filter(|found| overlaps(found.span, asked));
        offered.extend(here.map(|found| quick_fix(view, found)));
    }
    // Repairing a text that is valid would be a lot of work at every move of the cursor, for
    // nothing.
    if wanted(&CodeActionKind::SourceFixAll) && findings.iter().any(Diagnostic::is_error) {
        offered.extend(repair(view));
    }
    offered
}

/// Kinds are paths: `source` covers `source.fixAll`.
fn covers(wider: &CodeActionKind, kind: &CodeActionKind) -> bool {
    let (wider, kind) = (wider.to_string(), kind.to_string());
    wider.is_empty()
        || kind.strip_prefix(&wider).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn quick_fix(view: &View<'_>, found: &Diagnostic) -> CodeAction {
    CodeAction {
        title: found.help.clone().unwrap_or_else(|| format!("Fix: {}", found.message)),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostics::convert(view, found)]),
        is_preferred: Some(true),
        edit: Some(edit_of(view, &found.fixes)),
        ..CodeAction::default()
    }
}

fn repair(view: &View<'_>) -> Option<CodeAction> {
    let repaired = sabir_axon::repair(view.text);
    let changes = match repaired.changes.len() {
        0 => return None,
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    Some(CodeAction {
        title: format!("Repair the document ({changes})"),
        kind: Some(CodeActionKind::SourceFixAll),
        edit: Some(edit_of(view, &[whole(view, repaired.text)])),
        ..CodeAction::default()
    })
}

/// The whole text becomes `text`.
fn whole(view: &View<'_>, text: String) -> Edit {
    Edit::replace(Span::new(0, view.text.len() as u32), text)
}

fn edit_of(view: &View<'_>, edits: &[Edit]) -> WorkspaceEdit {
    let edits = edits.iter().map(|edit| text_edit(view, edit)).collect();
    WorkspaceEdit {
        changes: Some(HashMap::from([(view.uri.clone(), edits)])),
        ..WorkspaceEdit::default()
    }
}

fn text_edit(view: &View<'_>, edit: &Edit) -> TextEdit {
    TextEdit { range: view.lines.range(edit.span), new_text: edit.text.clone() }
}

/// Touching counts: a cursor is an empty range at the edge of what it means.
fn overlaps(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}
