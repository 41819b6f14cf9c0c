//! What programs are told about a text in AXON or LLMX: findings and changes, each with its place, and
//! no more of either than is read. Whoever tells it, the linguist or a tool, tells it like this.

use sabir_base::{Diagnostic, LineIndex, Span};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that is wrong with a text, or may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable. What is wrong with JSON has none.
    pub code: Option<String>,
    /// `error` or `warning`.
    pub severity: String,
    pub message: String,
    /// Byte offsets.
    pub start: u32,
    pub end: u32,
    /// Of `start`, counted from one; columns count characters.
    pub line: u32,
    pub column: u32,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Something that was written otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextChange {
    pub code: String,
    pub message: String,
    /// Byte offsets of the text that was given.
    pub start: u32,
    pub end: u32,
    /// Of `start`, counted from one; columns count characters.
    pub line: u32,
    pub column: u32,
    pub before: String,
    pub after: String,
}

impl Finding {
    /// An error at a place of a text.
    pub(crate) fn error(text: &str, span: Span, message: String, help: Option<String>) -> Self {
        let at = LineIndex::new(text).line_col(text, span.start);
        Self {
            code: None,
            severity: ERROR.to_owned(),
            message,
            start: span.start,
            end: span.end,
            line: at.line,
            column: at.column,
            help,
        }
    }

    pub fn is_error(&self) -> bool {
        self.severity == ERROR
    }
}

/// The first findings in a text, and how many more there are.
pub fn findings(text: &str, diagnostics: &[Diagnostic]) -> (Vec<Finding>, usize) {
    let lines = LineIndex::new(text);
    let shown = diagnostics.iter().take(MOST_FINDINGS).map(|found| {
        let at = lines.line_col(text, found.span.start);
        Finding {
            code: Some(found.code.as_str().to_owned()),
            severity: found.severity.as_str().to_owned(),
            message: found.message.clone(),
            start: found.span.start,
            end: found.span.end,
            line: at.line,
            column: at.column,
            help: found.help.clone(),
        }
    });
    let shown: Vec<Finding> = shown.collect();
    let left_out = diagnostics.len() - shown.len();
    (shown, left_out)
}

/// The first changes that made an AXON text valid, and how many more there are.
pub fn axon_changes(text: &str, repaired: &sabir_axon::Repaired) -> (Vec<TextChange>, usize) {
    let lines = LineIndex::new(text);
    let shown = repaired.changes.iter().take(MOST_FINDINGS).map(|change| {
        let at = lines.line_col(text, change.span.start);
        TextChange {
            code: change.code.as_str().to_owned(),
            message: change.message.to_string(),
            start: change.span.start,
            end: change.span.end,
            line: at.line,
            column: at.column,
            before: change.before.to_string(),
            after: change.after.to_string(),
        }
    });
    let shown: Vec<TextChange> = shown.collect();
    let left_out = repaired.changes.len() - shown.len();
    (shown, left_out)
}

/// The longest text that is looked at for somebody: counting its tokens with all vocabularies takes a
/// second for each MiB.
pub const MOST_TEXT_BYTES: usize = 1 << 20;
/// More are not mended one by one.
const MOST_FINDINGS: usize = 100;
const ERROR: &str = "error";
