//! Why a configuration is refused, and where it stands: line, column, and a caret under it.

use std::fmt;
use std::ops::Range;

/// What is wrong with a configuration text. The line is quoted, unless it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeConfigError {
    pub line: usize,
    /// In characters, from one.
    pub column: usize,
    pub why: String,
    quoted: String,
    width: usize,
}

impl NodeConfigError {
    pub(super) fn at(text: &str, span: Range<usize>, why: String) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = text.get(line_start..).unwrap_or_default();
        let quoted = rest.lines().next().unwrap_or_default();
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        let end = text.ceil_char_boundary(span.end.clamp(start, line_start + quoted.len()));
        let width = text.get(start..end).unwrap_or_default().chars().count().max(1);
        Self { line, column, why, quoted: quoted.to_owned(), width }
    }

    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        Self::at(text, span, error.message().to_owned())
    }
}

impl fmt::Display for NodeConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, why, quoted, width } = self;
        write!(f, "line {line}, column {column}: {why}")?;
        if quoted.is_empty() || quoted.chars().count() > LONGEST {
            return Ok(());
        }
        // Tabs stay tabs, so that the caret stands where the eye expects it.
        let indent: String =
            quoted.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(*width);
        let gutter = line.to_string();
        let blank = " ".repeat(gutter.len());
        write!(f, "\n {gutter} | {quoted}\n {blank} | {indent}{carets}")
    }
}

impl std::error::Error for NodeConfigError {}

/// Nobody finds a caret in a longer line.
const LONGEST: usize = 160;
