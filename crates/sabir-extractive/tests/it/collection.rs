//! The pages of the tests as requests: each file is a source, its name is the source's id.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data fails")]
#![expect(clippy::disallowed_methods, reason = "the data of tests are files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sabir_extractive::Source;
use sabir_llmcp::{
    CitationStatus, PacketId, Reason, Request, Response, SourceText, Timestamp, verify_quote,
};
use serde_json::{Value, json};

/// The pages of a folder of `tests/data`, by name.
pub(crate) fn pages(collection: &str) -> Vec<(String, String)> {
    let folder = Path::new("tests/data").join(collection);
    let mut pages: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    pages.sort();
    assert!(!pages.is_empty());
    pages
}

/// A request over pages, with the documents that `extra` adds.
pub(crate) fn request(
    pages: &[(String, String)],
    task: &Value,
    question: &str,
    extra: &[Value],
) -> Request {
    let mut documents: Vec<Value> = pages
        .iter()
        .map(|(name, markdown)| {
            json!({
                "doc_id": name,
                "kind": "collection.source.v1",
                "trust": "untrusted",
                "content": {
                    "doc_type": "collection.source.v1",
                    "collection_id": "col_1",
                    "source_id": format!("src_{name}"),
                    "url": format!("https://pages.example/{name}"),
                    "title": "",
                    "markdown": markdown,
                },
            })
        })
        .collect();
    documents.extend(extra.iter().cloned());
    packet(task, question, &documents)
}

pub(crate) fn packet(task: &Value, question: &str, documents: &[Value]) -> Request {
    let packet = json!({
        "protocol": { "name": "laika.llmcp", "version": 1 },
        "id": "req-1",
        "type": "request",
        "created_at": "2026-01-28T12:34:56.789Z",
        "conversation": { "id": "c-1", "turn": 3 },
        "sender": { "role": "agent" },
        "input": { "user_message": { "id": "u-1", "text": question }, "task": task },
        "context": { "documents": documents },
    });
    let parsed = Request::parse(&packet.to_string());
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.value.unwrap()
}

/// The answer, after what must hold for every answer was checked: it passes the strict parser without
/// a word, comes back as it was, and quotes nothing that does not stand in the source that it names.
pub(crate) fn respond(request: &Request) -> Response {
    let id = PacketId::new("res-1").unwrap();
    let created_at = Timestamp::new("2026-01-28T12:34:57.123Z").unwrap();
    let response = sabir_extractive::respond(request, id, created_at);
    let text = response.to_json().to_string();
    let parsed = Response::parse(&text, Some(request));
    assert_eq!(parsed.diagnostics, [], "{text}");
    assert_eq!(parsed.value.as_ref(), Some(&response));
    assert_eq!(response.tool_calls, []);
    let mut texts: BTreeMap<&str, SourceText> = BTreeMap::new();
    for citation in &response.assistant.citations {
        let doc_id = citation.doc_id.as_ref().unwrap().as_str();
        let text = texts.entry(doc_id).or_insert_with(|| {
            let document = request.document(doc_id).unwrap();
            SourceText::new(document.content.markdown().unwrap())
        });
        let quote = citation.quote.as_ref().unwrap().as_str();
        assert!(text.plain().text().contains(quote), "not in {doc_id}: {quote:?}");
        let verdict = verify_quote(quote, text);
        let holds = match verdict.status {
            CitationStatus::Verified => true,
            // The same words may stand in several places; they are the source's own in each.
            CitationStatus::Ambiguous => true,
            // To the verifier the end of a row or an item may be a line that goes on.
            CitationStatus::Unverified => {
                let edges = [Some(Reason::CutsNumber), Some(Reason::CutsNegation)];
                edges.contains(&verdict.reason) && is_whole_line(text.plain().text(), quote)
            }
            CitationStatus::Repaired | CitationStatus::UnknownSource => false,
        };
        assert!(holds, "{verdict:?} in {doc_id}: {quote:?}");
    }
    response
}

fn is_whole_line(plain: &str, quote: &str) -> bool {
    plain.lines().any(|line| line == quote)
}

/// The sources of a request, as the model sees them.
pub(crate) fn sources(pages: &[(String, String)]) -> Vec<Source> {
    sabir_extractive::sources(&request(pages, &json!({ "name": "web.answer" }), "", &[]))
}
