//! Golden answers: a task over a collection, and what the model says.

use std::fmt::Write as _;

use expect_test::expect_file;
use sabir_llmcp::Response;
use sabir_testkit::cases;
use serde_json::{Value, json};

use crate::collection::{packet, pages, request, respond};

/// A case names its collection, its task and its question. The output is for people: the answer as
/// Markdown, its citations, its data.
///
/// Every case shows LC-X1. By number: 01 LC-X10, LC-X11, LC-X12, LC-X13; 02 LC-X20, LC-X21, LC-X22,
/// LC-X23, LC-X24; 03 LC-X31, LC-X32, LC-X33; 04 LC-X40, LC-X41, LC-X42, LC-X43, LC-X44, LC-X45,
/// LC-X46, LC-X47, LC-X48, LC-X49.
#[test]
fn requests_are_answered_as_recorded() {
    for case in cases("tests/data/requests") {
        let asked: Value = serde_json::from_str(&case.text).unwrap();
        let only: Vec<&str> = asked["pages"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut chosen = pages(asked["collection"].as_str().unwrap());
        chosen.retain(|(name, _)| only.is_empty() || only.contains(&name.as_str()));
        let extra = asked["documents"].as_array().cloned().unwrap_or_default();
        let question = asked["question"].as_str().unwrap_or_default();
        let request = request(&chosen, &asked["task"], question, &extra);
        expect_file![std::path::absolute(case.out_path()).unwrap()]
            .assert_eq(&shown(&respond(&request)));
    }
}

fn shown(response: &Response) -> String {
    let assistant = &response.assistant;
    let mut text = String::new();
    if let Some(title) = &assistant.title {
        let _ = writeln!(text, "title: {title}\n");
    }
    let _ = writeln!(text, "{}", assistant.render.to_markdown().trim_end());
    for (number, citation) in assistant.citations.iter().enumerate() {
        let source = citation.source_id.as_ref().map_or("", |id| id.as_str());
        let quote = citation.quote.as_ref().map_or("", |quote| quote.as_str());
        let under = citation.locator.as_ref().map_or("", |locator| locator.value.as_str());
        let _ = write!(text, "\n[{}] {source} ({under}) {quote:?}", number + 1);
    }
    if let Some(data) = &assistant.data {
        let _ = write!(text, "\n\n{data:#}");
    }
    text.trim_end().to_owned() + "\n"
}

/// LC-X14, LC-X15: a page in chunks is one page, with the signals of its summary, and a missing chunk is told.
#[test]
fn chunks_of_a_page_are_cited_by_chunk() {
    let chunk = |index: u32, markdown: &str| {
        json!({
            "doc_id": format!("doc:web:chunk:{index}"),
            "kind": "web.observation.chunk.v1",
            "trust": "untrusted",
            "content": {
                "doc_type": "web.observation.chunk.v1",
                "url": "https://pages.example/long",
                "title": "Long page",
                "chunk_index": index,
                "chunk_count": 3,
                "markdown": markdown,
            },
        })
    };
    let summary = json!({
        "doc_id": "doc:web:summary",
        "kind": "web.observation.summary.v1",
        "trust": "untrusted",
        "content": {
            "doc_type": "web.observation.summary.v1",
            "url": "https://pages.example/long",
            "title": "Long page",
            "chunk_count": 3,
            "signals": ["paywall_or_login", "something_new"],
        },
    });
    let documents = [
        summary,
        chunk(1, "The harbour was dug by hand in four summers."),
        chunk(3, "The harbour closes when the ice is thicker than a hand."),
    ];
    let request = packet(&json!({ "name": "web.summarize" }), "summarize this page", &documents);
    let response = respond(&request);
    expect_test::expect![[r#"
        title: Summary: Long page

        ## Summary

        - The harbour was dug by hand in four summers. [1]
        - The harbour closes when the ice is thicker than a hand. [2]

        ## What to verify

        - The page asks for a login or a payment; what it shows may be only the beginning.
        - Only a part of the page was captured; the rest may say more.

        [1]  () "The harbour was dug by hand in four summers."
        [2]  () "The harbour closes when the ice is thicker than a hand."
    "#]]
    .assert_eq(&shown(&response));
    let cited: Vec<&str> = response
        .assistant
        .citations
        .iter()
        .filter_map(|citation| citation.doc_id.as_ref().map(|id| id.as_str()))
        .collect();
    assert_eq!(cited, ["doc:web:chunk:1", "doc:web:chunk:3"]);
}

/// LC-X2: an artifact that does not exist is refused in words.
#[test]
fn an_unknown_artifact_is_no_artifact() {
    let pages = pages("lamps");
    for task in [
        json!({ "name": "transform.run", "args": { "type": "song" } }),
        json!({ "name": "transform.run" }),
    ] {
        let response = respond(&request(&pages, &task, "", &[]));
        assert!(response.assistant.render.plain_text().contains("There is no such artifact"));
        assert_eq!(response.assistant.citations, []);
    }
}
