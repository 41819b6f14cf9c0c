//! Findings as the editor's squiggles.

use gen_lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location};
use sabir_axon::Rules;
use sabir_base::Severity;

use super::server::View;

/// What `sabir axon check` would find, in order.
pub(super) fn findings(text: &str) -> Vec<sabir_base::Diagnostic> {
    sabir_axon::check(text, Rules::default()).diagnostics
}

pub(super) fn collect(view: &View<'_>) -> Vec<Diagnostic> {
    findings(view.text).iter().map(|found| convert(view, found)).collect()
}

pub(super) fn convert(view: &View<'_>, found: &sabir_base::Diagnostic) -> Diagnostic {
    let message = match &found.help {
        Some(help) => format!("{}\nhelp: {help}", found.message),
        None => found.message.clone(),
    };
    let related = view.client.related && !found.labels.is_empty();
    Diagnostic {
        range: view.lines.range(found.span),
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Info => DiagnosticSeverity::Information,
        }),
        code: Some(found.code.as_str().to_owned().into()),
        source: Some("sabir".to_owned()),
        message: message.into(),
        related_information: related.then(|| {
            let labels = found.labels.iter();
            let related = labels.map(|label| DiagnosticRelatedInformation {
                location: Location { uri: view.uri.clone(), range: view.lines.range(label.span) },
                message: label.message.clone(),
            });
            related.collect()
        }),
        code_description: None,
        tags: None,
        data: None,
    }
}
