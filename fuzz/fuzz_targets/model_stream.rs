//! Whatever a model server sends, on either wire: no panic, the same events for any split, exactly
//! one last event, and what was said can be sent back with every call answered.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use sabir_engine::{Item, ModelEvent, ModelRequest, StreamDecoder, WireApi};

fuzz_target!(|bytes: &[u8]| {
    for wire in [WireApi::Responses, WireApi::Chat] {
        let whole = decode(StreamDecoder::new(wire, "f"), bytes, bytes.len().max(1));
        assert_eq!(decode(StreamDecoder::new(wire, "f"), bytes, 1), whole);
        assert_eq!(decode(StreamDecoder::new(wire, "f"), bytes, 7), whole);
        send_back(whole);
        send_back(decode(StreamDecoder::whole(wire, "f"), bytes, 64));
    }
});

fn decode(mut decoder: StreamDecoder, bytes: &[u8], size: usize) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    for piece in bytes.chunks(size) {
        decoder.push_into(piece, &mut events);
    }
    events.extend(decoder.finish());
    let is_last =
        |event: &ModelEvent| matches!(event, ModelEvent::Completed { .. } | ModelEvent::Failed(_));
    assert_eq!(events.iter().filter(|event| is_last(event)).count(), 1);
    assert!(events.last().is_some_and(is_last));
    events
}

fn send_back(events: Vec<ModelEvent>) {
    let items: Vec<Arc<Item>> = events
        .into_iter()
        .filter_map(|event| match event {
            ModelEvent::ItemDone(item) => Some(Arc::new(item)),
            _ => None,
        })
        .collect();
    let calls = items.iter().filter(|item| matches!(***item, Item::FunctionCall { .. })).count();
    let request = ModelRequest {
        model: "m".to_owned(),
        instructions: String::new(),
        items,
        answers_end: Vec::new(),
        tools: Vec::new(),
        effort: None,
        cache_key: String::new(),
        parallel_tool_calls: true,
    };
    let body = request.body(WireApi::Responses);
    let body: serde_json::Value = serde_json::from_str(&body).expect("a body is JSON");
    let input = body["input"].as_array().expect("a body has input");
    let count = |kind: &str| input.iter().filter(|item| item["type"] == kind).count();
    assert_eq!(count("function_call"), calls);
    assert_eq!(count("function_call_output"), calls);
    let body = request.body(WireApi::Chat);
    assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok());
}
