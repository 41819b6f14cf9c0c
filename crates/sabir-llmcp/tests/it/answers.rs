//! What models write, in folders: how each text is read, and that only a strict response proposes
//! calls.

use std::fmt::Write;

use expect_test::expect_file;
use sabir_llmcp::{Answer, Mode, OutputFormat, Request, read_answer};
use sabir_testkit::Case;

use crate::show::{expected, folder, request};

pub(crate) fn read(text: &str, request: &Request) -> Answer {
    read_answer(text, request, &|_, _| Vec::new())
}

fn show(answer: &Answer) -> String {
    let mut out = format!("mode: {:?}\n", answer.mode);
    if let Some(title) = &answer.title {
        let _ = writeln!(out, "title: {title}");
    }
    for call in &answer.tool_calls {
        let _ = writeln!(out, "call: {} {}", call.call.name(), call.call.arguments());
    }
    for citation in &answer.citations {
        let id = citation.doc_id.as_ref().map(|id| id.as_str());
        let id = id.or(citation.source_id.as_ref().map(|id| id.as_str())).unwrap_or("?");
        let _ = writeln!(out, "citation: {id} {:?}", citation.quote.as_deref().unwrap_or_default());
    }
    if let Some(data) = &answer.data {
        let _ = writeln!(out, "data: {data}");
    }
    for note in &answer.notes {
        let _ = writeln!(out, "note: {note}");
    }
    let codes: Vec<&str> =
        answer.problems.iter().map(|found| found.diagnostic.code.as_str()).collect();
    if !codes.is_empty() {
        let _ = writeln!(out, "problems: {}", codes.join(" "));
    }
    let _ = write!(out, "\n{}", answer.document.to_markdown());
    out
}

fn check(case: &Case, answer: &Answer) {
    if answer.mode != Mode::Strict {
        assert_eq!(answer.tool_calls, [], "{}", case.name);
    }
    expect_file![expected(case)].assert_eq(&show(answer));
}

/// LC-P40, LC-P41, LC-P42, LC-P43, LC-P44, LC-P47, LC-P49: strict, else mended, else what can be used, else
/// Markdown.
#[test]
fn answers_to_requests_for_json() {
    let request = request(OutputFormat::Json);
    for case in folder("answers/json") {
        check(&case, &read(&case.text, &request));
    }
}

/// LC-P45, LC-P46, LC-P47, LC-P48: Markdown with its citations; JSON if it comes anyway.
#[test]
fn answers_to_requests_for_markdown() {
    let request = request(OutputFormat::Markdown);
    for case in folder("answers/markdown") {
        let answer = read(&case.text, &request);
        assert_eq!(answer.tool_calls, [], "{}", case.name);
        check(&case, &answer);
    }
}

/// LC-P42: wherever a strict response breaks off, what is left is shown and proposes nothing.
#[test]
fn a_response_may_break_off_anywhere() {
    let request = request(OutputFormat::Json);
    let case = folder("ok").into_iter().find(|case| case.name.contains("everything")).unwrap();
    let whole = case.text.trim_end();
    assert_eq!(read(whole, &request).mode, Mode::Strict);
    let mut modes = std::collections::BTreeMap::new();
    for end in (0..whole.len()).filter(|at| whole.is_char_boundary(*at)) {
        let answer = read(&whole[..end], &request);
        assert_eq!(answer.tool_calls, [], "{end}");
        assert_ne!(answer.mode, Mode::Strict, "{end}");
        *modes.entry(format!("{:?}", answer.mode)).or_insert(0) += 1;
    }
    let names: Vec<&str> = modes.keys().map(String::as_str).collect();
    assert_eq!(names, ["FallbackMarkdown", "Lenient", "Repaired"]);
}

/// LC-P9: an answer without an end is cut.
#[test]
fn a_long_answer_is_cut() {
    let request = request(OutputFormat::Markdown);
    let text = "word ".repeat(300_000);
    let answer = read(&text, &request);
    assert_eq!(answer.notes, [sabir_llmcp::Note::Cut]);
    assert!(answer.document.plain_text().len() <= sabir_llmcp::MAX_RESPONSE_BYTES);
}
