//! An audit row in words: what was wanted, what was known, which rule decided, and what would have led
//! to another decision.

use sabir_base::text::with_hidden_shown;

use crate::audit::{ApprovalMark, AuditRow};
use crate::gate::Outcome;

/// A few lines for a person.
pub fn explain(row: &AuditRow) -> String {
    let outcome = match row.outcome {
        Outcome::Allow => "allowed",
        Outcome::Ask => "asked for",
        Outcome::Deny => "refused",
    };
    let mut lines =
        vec![format!("{} was {outcome} (call {} of {})", row.subject, row.call_id, row.actor)];
    lines.push(format!("  wanted: {}", or_nothing(&row.preview)));
    lines.push(format!("  can at worst: {}", or_nothing(&row.labels.names().join(", "))));
    lines.push(format!("  the model had read: {}", seen(row)));
    for source in &row.provenance {
        let argument = source.argument.trim_start_matches('/');
        lines.push(format!("  {argument} was {}", source.provenance.in_words()));
    }
    lines.push(format!("  decided by {} ({}): {}", row.rule.code(), row.reason_code, row.reason));
    if let Some(words) = answer(row.approval) {
        lines.push(format!("  {words}"));
    }
    let remedy = match row.approval {
        ApprovalMark::Approved | ApprovalMark::ApprovedForSession => "a person's no",
        _ => row.rule.remedy(),
    };
    lines.push(format!("  what would change it: {remedy}"));
    let lines: Vec<_> =
        lines.iter().map(|line| with_hidden_shown(line).replace('\n', " ")).collect();
    lines.join("\n")
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

fn seen(row: &AuditRow) -> String {
    let list = |documents: &std::collections::BTreeSet<String>| {
        documents.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    let (untrusted, private) = (list(&row.taint.untrusted), list(&row.taint.private));
    match (untrusted.is_empty(), private.is_empty()) {
        (true, true) => "nothing that is known to be private or a stranger's".to_owned(),
        (false, true) => format!("what strangers wrote ({untrusted})"),
        (true, false) => format!("private content ({private})"),
        (false, false) => {
            format!("what strangers wrote ({untrusted}) and private content ({private})")
        }
    }
}

fn answer(mark: ApprovalMark) -> Option<&'static str> {
    match mark {
        ApprovalMark::NotNeeded => None,
        ApprovalMark::Requested => Some("a person was asked"),
        ApprovalMark::Approved => Some("a person said yes to this very action"),
        ApprovalMark::ApprovedForSession => Some("a person said yes, and for the session"),
        ApprovalMark::Denied => Some("a person said no"),
        ApprovalMark::Expired => Some("nobody answered in time"),
        ApprovalMark::Aborted => Some("the work was stopped before anybody answered"),
        ApprovalMark::Unattended => Some("nobody was there to be asked"),
    }
}
