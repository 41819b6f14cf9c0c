//! Findings as the editor's squiggles.

use sabir_base::Severity;

use super::server::View;
use super::types::{Diagnostic, Location, RelatedInformation, severity};

pub(super) fn collect(view: &View<'_>) -> Vec<Diagnostic> {
    let findings = view.notation.check(view.text);
    findings.diagnostics.iter().map(|found| convert(view, found)).collect()
}

pub(super) fn convert(view: &View<'_>, found: &sabir_base::Diagnostic) -> Diagnostic {
    let message = match &found.help {
        Some(help) => format!("{}\nhelp: {help}", found.message),
        None => found.message.clone(),
    };
    let labels = if view.client.related { found.labels.as_slice() } else { &[] };
    let related = labels.iter().map(|label| RelatedInformation {
        location: Location { uri: view.uri.to_owned(), range: view.lines.range(label.span) },
        message: label.message.clone(),
    });
    Diagnostic {
        range: view.lines.range(found.span),
        severity: match found.severity {
            Severity::Error => severity::ERROR,
            Severity::Warning => severity::WARNING,
            Severity::Info => severity::INFORMATION,
        },
        code: found.code.as_str(),
        source: "sabir",
        message,
        related_information: related.collect(),
    }
}
