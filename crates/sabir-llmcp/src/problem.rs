//! What is wrong with a packet, and where: a diagnostic with a JSON pointer. It knows no packet.

use sabir_base::json::{Json, JsonError, JsonFault, JsonValue};
use sabir_base::{Code, Diagnostic, Severity, Span};

use crate::codes;

/// One finding about a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A JSON pointer (RFC 6901) to the value at fault; empty for the whole packet.
    pub pointer: String,
    /// The code, how bad it is, the place in bytes, the message and what to write instead.
    pub diagnostic: Diagnostic,
}

impl Problem {
    pub fn is_error(&self) -> bool {
        self.diagnostic.is_error()
    }
}

/// What was read, and everything that is wrong with it. There is a value exactly if nothing is an
/// error.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<T> {
    pub value: Option<T>,
    pub diagnostics: Vec<Problem>,
}

impl<T> Parsed<T> {
    pub(crate) fn new(value: Option<T>, problems: Problems) -> Self {
        let diagnostics = problems.list;
        let invalid = diagnostics.iter().any(Problem::is_error);
        Self { value: value.filter(|_| !invalid), diagnostics }
    }

    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Problem::is_error)
    }

    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed { value: self.value.map(make), diagnostics: self.diagnostics }
    }
}

/// The problems so far, with a bound on how many.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    pub(crate) fn error(&mut self, value: JsonValue<'_>, code: Code, message: impl Into<String>) {
        self.add(value.span(), || value.pointer(), code, Severity::Error, message.into(), None);
    }

    pub(crate) fn error_with_help(
        &mut self,
        value: JsonValue<'_>,
        code: Code,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = Some(help.into());
        self.add(value.span(), || value.pointer(), code, Severity::Error, message.into(), help);
    }

    pub(crate) fn warning(
        &mut self,
        value: JsonValue<'_>,
        code: Code,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = Some(help.into());
        self.add(value.span(), || value.pointer(), code, Severity::Warning, message.into(), help);
    }

    /// An error at a place that somebody else found.
    pub(crate) fn error_at(&mut self, pointer: String, span: Span, code: Code, message: String) {
        self.add(span, || pointer, code, Severity::Error, message, None);
    }

    /// What the reader of JSON found.
    pub(crate) fn json(&mut self, error: JsonError) {
        self.json_as(codes::WRONG_TYPE, error);
    }

    /// What the reader of render documents found.
    pub(crate) fn document(&mut self, error: JsonError) {
        self.json_as(codes::BAD_DOCUMENT, error);
    }

    /// `shape` is the code where JSON is well-formed but not what was asked for.
    fn json_as(&mut self, shape: Code, error: JsonError) {
        let code = match error.fault {
            JsonFault::Syntax => codes::NOT_JSON,
            JsonFault::TooLarge => codes::TOO_LARGE,
            JsonFault::TooDeep => codes::TOO_DEEP,
            JsonFault::DuplicateKey => codes::DUPLICATE_KEY,
            JsonFault::Escape => codes::BAD_ESCAPE,
            JsonFault::Shape => shape,
        };
        let message = sabir_base::text::one_line(&error.message, MOST_MESSAGE);
        let pointer = error.pointer;
        self.add(error.span, || pointer, code, Severity::Error, message, error.help);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn add(
        &mut self,
        span: Span,
        pointer: impl FnOnce() -> String,
        code: Code,
        severity: Severity,
        message: String,
        help: Option<String>,
    ) {
        let full = match self.list.len() {
            count if count > MOST => return,
            count => count == MOST,
        };
        let diagnostic = match full {
            // An error, whatever is left out: what was not looked at to the end is not valid.
            true => {
                let message = format!("more than {MOST} problems; the rest is not listed");
                Diagnostic::error(codes::TOO_MANY_PROBLEMS, span, message)
            }
            false => Diagnostic { help, ..Diagnostic::new(code, severity, span, message) },
        };
        self.list.push(Problem { pointer: pointer(), diagnostic });
    }
}

/// Reads the JSON of a packet of at most `most_bytes`.
pub(crate) fn read_json<'t>(
    text: &'t str,
    most_bytes: usize,
    problems: &mut Problems,
) -> Option<Json<'t>> {
    if text.len() > most_bytes {
        let message = format!("the packet has {} bytes, the limit is {most_bytes}", text.len());
        problems.error_at(String::new(), Span::default(), codes::TOO_LARGE, message);
        return None;
    }
    Json::read(text, MAX_DEPTH).map_err(|error| problems.json(error)).ok()
}

/// Words of a stranger inside of a message: quoted, on one line, not long.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", sabir_base::text::one_line(text, MOST_QUOTED))
}

/// Room for the deepest render document. Recursion over values of this depth is safe.
pub(crate) const MAX_DEPTH: usize = sabir_document::MAX_JSON_DEPTH + 8;
/// More problems than this help nobody, and a hostile packet could make millions.
const MOST: usize = 200;
const MOST_QUOTED: usize = 60;
/// Messages of the JSON reader quote what they found.
const MOST_MESSAGE: usize = 200;
