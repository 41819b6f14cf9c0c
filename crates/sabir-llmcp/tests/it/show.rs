//! What the tests of this crate share: problems as lines, and the request that everything answers.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use sabir_base::LineIndex;
use sabir_llmcp::{OutputFormat, Problem, Request};
use sabir_testkit::{Case, cases};

pub(crate) fn folder(name: &str) -> Vec<Case> {
    cases(Path::new("tests/data").join(name))
}

/// Where the expected output of a case stands; `expect_file!` wants it from the root.
pub(crate) fn expected(case: &Case) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(case.out_path())
}

/// One line for each problem: place, pointer, code, message, help.
pub(crate) fn lines(text: &str, problems: &[Problem]) -> String {
    let places = LineIndex::new(text);
    let mut out = String::new();
    for Problem { pointer, diagnostic: found } in problems {
        let at = places.line_col(text, found.span.start);
        let (severity, code, message) = (found.severity.as_str(), found.code, &found.message);
        let _ = write!(out, "{}:{} {severity} {code} {pointer:?} {message}", at.line, at.column);
        let _ = match &found.help {
            Some(help) => writeln!(out, " ({help})"),
            None => writeln!(out),
        };
    }
    out
}

/// A request that asks for Markdown or for JSON.
pub(crate) fn request(format: OutputFormat) -> Request {
    let case = folder("ok").into_iter().next().unwrap_or_else(|| panic!("no request"));
    let parsed = Request::parse(&case.text);
    let request = parsed.value.unwrap_or_else(|| panic!("not a request: {}", case.name));
    Request { format, ..request }
}
