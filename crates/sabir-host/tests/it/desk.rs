//! The specification's worked examples, all the way: packed, answered, parsed, verified, stored.

use sabir_host::{check_data, open_library};
use sabir_lingua::tokens::Tokenizer;
use sabir_llmcp::{
    CitableSource, CitationStatus, Mode, PackOptions, Request, SourceText, pack, read_answer,
    redact_packet, verify_citation,
};
use sabir_store::library::{ChatRole, NewChatEvent};
use sabir_store::library::{NewRun, Turn};
use serde_json::{Value, json};

const PAGE: &str = "# Example\n\nThe ferry leaves at nine. In winter it leaves at ten.";

/// The request of the example: one page is to be summed up.
fn request() -> Request {
    let packet = json!({
        "protocol": { "name": "laika.llmcp", "version": 1 },
        "id": "req-1", "type": "request", "created_at": "2026-01-28T12:34:56.789Z",
        "conversation": { "id": "c-1", "turn": 1 }, "sender": { "role": "agent" },
        "input": {
            "user_message": { "id": "u-1", "text": "summarize this page" },
            "task": { "name": "web.summarize", "args": { "style": "concise" } },
        },
        "context": { "documents": [{
            "doc_id": "doc:web:summary", "kind": "web.observation.summary.v1",
            "trust": "untrusted",
            "content": {
                "doc_type": "web.observation.summary.v1", "url": "https://example.com",
                "title": "Example", "markdown": PAGE,
            },
        }] },
        "output": { "format": "json" },
    });
    let parsed = Request::parse(&packet.to_string());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.value.unwrap()
}

/// What both responses have in common.
fn response(assistant: &Value) -> String {
    json!({
        "protocol": { "name": "laika.llmcp", "version": 1 },
        "id": "res-1", "type": "response", "created_at": "2026-01-28T12:34:57.123Z",
        "conversation": { "id": "c-1", "turn": 1 }, "sender": { "role": "assistant" },
        "in_reply_to": { "request_id": "req-1" },
        "assistant": assistant,
        "tool_calls": [],
    })
    .to_string()
}

fn walk(assistant: &Value, mode: Mode) {
    let request = request();
    let options = PackOptions {
        budget: 8_000,
        tokenizer: Tokenizer::O200k,
        nonce: "0123456789abcdef0123456789abcdef",
        tools: &[],
        max_tool_calls: 1,
        max_sources: 10,
    };
    let packed = pack(&request, &options).unwrap();
    assert!(packed.user.contains("The ferry leaves at nine."), "{}", packed.user);
    assert!(packed.user.contains("untrusted"));

    let text = response(assistant);
    let answer = read_answer(&text, &request, &check_data);
    assert_eq!(answer.mode, mode, "{:?}", answer.problems);
    assert!(answer.document.to_markdown().contains("nine"));
    assert!(answer.tool_calls.is_empty());

    let words = SourceText::new(PAGE);
    let hash = sabir_store::Hash::of(PAGE.as_bytes()).to_string();
    let source = CitableSource {
        id: "doc:web:summary",
        hash: &hash,
        url: Some("https://example.com"),
        text: &words,
    };
    let quote = answer.citations[0].quote.as_deref().unwrap();
    let verdict = verify_citation(quote, "doc:web:summary", &[source]);
    assert_eq!(verdict.status, CitationStatus::Verified);
    assert_eq!(&PAGE[verdict.start..verdict.end], "The ferry leaves at nine.");

    let home = tempfile::tempdir().unwrap();
    let library = open_library(home.path()).unwrap();
    let collection = library.create_collection("c", &[], 1).unwrap().id;
    let event = NewChatEvent {
        role: ChatRole::Assistant,
        turn: Turn::Next,
        markdown: answer.document.to_markdown(),
        tool_calls: None,
        tool_results: None,
        model: None,
        citations: Vec::new(),
    };
    let chat = library.append_chat(&collection, &event, 2).unwrap();
    let run = NewRun {
        kind: "web.summarize".into(),
        provider: "p".into(),
        model: "m".into(),
        collection_id: Some(collection),
        source_id: None,
        chat_id: Some(chat.id),
        artifact_id: None,
        input_tokens: Some(packed.tokens as u64),
        output_tokens: None,
        cost_usd_micros: None,
        started_at_ms: 2,
        duration_ms: 1,
        request_redacted: redact_packet(&request.to_json()).to_string(),
        response_redacted: Some(redact_packet(&serde_json::from_str(&text).unwrap()).to_string()),
        fault: None,
    };
    let id = library.record_run(&run).unwrap();
    let kept = library.run(&id).unwrap();
    // Of the page a digest and a beginning; of the answer everything.
    assert!(kept.request_redacted.contains("sha256"), "{}", kept.request_redacted);
    assert!(kept.response_redacted.unwrap().contains("The ferry leaves at nine."));
    library.verify().unwrap();
}

#[test]
fn an_answer_with_a_document_goes_all_the_way() {
    walk(
        &json!({
            "title": "Summary",
            "render": { "type": "doc", "children": [
                { "type": "paragraph", "children": [{ "type": "text", "text": "It leaves at nine." }] },
            ] },
            "citations": [{
                "doc_id": "doc:web:summary", "url": "https://example.com",
                "quote": "The ferry leaves at nine.",
            }],
        }),
        Mode::Strict,
    );
}

#[test]
fn an_answer_with_markdown_goes_all_the_way_and_is_lenient() {
    walk(
        &json!({
            "title": "Summary",
            "markdown": "## Summary\n\n- At nine.\n\n## What to verify\n\n- The winter.",
            "citations": [{
                "doc_id": "doc:web:summary", "url": "https://example.com",
                "quote": "The ferry leaves at nine.",
            }],
        }),
        Mode::Lenient,
    );
}
