//! Diagnostics as JSON. The shape is a contract: fields may be added, none may change.

use sabir_base::{Diagnostic, Edit};
use serde::Serialize;

use crate::place::Places;

/// What `check --json` prints for one file.
#[derive(Debug, Serialize)]
pub(crate) struct FileReport<'a> {
    pub(crate) file: String,
    /// How many messages the file holds.
    pub(crate) messages: usize,
    pub(crate) diagnostics: Vec<DiagnosticReport<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DiagnosticReport<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    /// Byte offsets.
    start: u32,
    end: u32,
    /// Of `start`, counted from one.
    line: u32,
    column: u32,
    help: Option<&'a str>,
    fixes: Vec<EditReport<'a>>,
    /// Of what is JSON: where the value at fault stands in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct EditReport<'a> {
    start: u32,
    end: u32,
    text: &'a str,
}

pub(crate) fn diagnostics<'a>(
    diagnostics: &'a [Diagnostic],
    places: &Places<'_>,
) -> Vec<DiagnosticReport<'a>> {
    diagnostics.iter().map(|diagnostic| DiagnosticReport::new(diagnostic, places)).collect()
}

/// The same with their JSON pointers, where there are any.
pub(crate) fn with_pointers<'a>(
    mut reports: Vec<DiagnosticReport<'a>>,
    pointers: &'a [String],
) -> Vec<DiagnosticReport<'a>> {
    for (report, pointer) in reports.iter_mut().zip(pointers) {
        report.pointer = Some(pointer);
    }
    reports
}

impl<'a> DiagnosticReport<'a> {
    fn new(diagnostic: &'a Diagnostic, places: &Places<'_>) -> Self {
        let place = places.of(diagnostic.span.start);
        Self {
            code: diagnostic.code.as_str(),
            severity: diagnostic.severity.as_str(),
            message: &diagnostic.message,
            start: diagnostic.span.start,
            end: diagnostic.span.end,
            line: place.line,
            column: place.column,
            help: diagnostic.help.as_deref(),
            fixes: diagnostic.fixes.iter().map(EditReport::new).collect(),
            pointer: None,
        }
    }
}

impl<'a> EditReport<'a> {
    fn new(edit: &'a Edit) -> Self {
        Self { start: edit.span.start, end: edit.span.end, text: &edit.text }
    }
}
