//! Any text is read as a packet and as an answer; what is accepted prints back; only a strict response
//! proposes calls.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sabir_llmcp::{Mode, OutputFormat, Packet, Request, Response, read_answer};

static REQUEST: LazyLock<Request> = LazyLock::new(|| {
    let text = include_str!("../../crates/sabir-llmcp/tests/data/ok/0001_summarize_request.json");
    match Request::parse(text).value {
        Some(request) => request,
        None => panic!("the request is not valid"),
    }
});

fuzz_target!(|text: &str| {
    if let Some(packet) = Packet::parse(text, None).value {
        let printed = match &packet {
            Packet::Request(request) => request.to_json().to_string(),
            Packet::Response(response) => response.to_json().to_string(),
        };
        assert_eq!(Packet::parse(&printed, None).value, Some(packet), "{printed}");
    }
    for format in [OutputFormat::Json, OutputFormat::Markdown] {
        let request = Request { format, ..REQUEST.clone() };
        let answer = read_answer(text, &request, &|_, _| Vec::new());
        let strict = Response::parse(text, Some(&request)).value;
        match answer.mode {
            Mode::Strict => assert!(strict.is_some()),
            Mode::Markdown | Mode::Repaired | Mode::Lenient | Mode::FallbackMarkdown => {
                assert!(answer.tool_calls.is_empty());
            }
        }
    }
});
