//! What models send, decoded: recorded shapes in `tests/data/streams`, and what holds for all bytes.

use std::fmt::Write as _;

use expect_test::expect_file;
use proptest::prelude::*;
use sabir_engine::{FailureKind, ModelEvent, StreamDecoder, WireApi};
use sabir_testkit::cases;

const STREAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/streams");

fn decode<'b>(
    mut decoder: StreamDecoder,
    pieces: impl Iterator<Item = &'b [u8]>,
) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(decoder.push(piece));
        let last =
            matches!(events.last(), Some(ModelEvent::Completed { .. } | ModelEvent::Failed(_)));
        assert_eq!(decoder.is_over(), last);
    }
    events.extend(decoder.finish());
    assert!(decoder.is_over());
    assert_eq!(decoder.finish(), []);
    assert_eq!(decoder.push(b"data: {\"error\":\"late\"}\n\n"), []);
    events
}

fn transcript(events: &[ModelEvent]) -> String {
    let mut out = String::new();
    for event in events {
        let _ = match event {
            ModelEvent::TextDelta(text) => writeln!(out, "text {text:?}"),
            ModelEvent::ReasoningDelta(text) => writeln!(out, "thought {text:?}"),
            ModelEvent::ItemDone(item) => {
                writeln!(out, "item {}", serde_json::to_string(item).unwrap())
            }
            ModelEvent::Completed { response_id, usage } => {
                writeln!(out, "completed {response_id} {usage:?}")
            }
            ModelEvent::Failed(failure) => writeln!(out, "failed {failure:?}"),
        };
    }
    out
}

fn check_folder(folder: &str, new: impl Fn(&str) -> StreamDecoder) {
    for case in cases(format!("{STREAMS}/{folder}")) {
        let bytes = case.text.as_bytes();
        let decode = |size: usize| decode(new(&case.name), bytes.chunks(size));
        let events = decode(bytes.len());
        expect_file![case.out_path()].assert_eq(&transcript(&events));
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(decode(size), events, "{} in pieces of {size}", case.name);
        }
        for at in 0..bytes.len() {
            let pieces = [&bytes[..at], &bytes[at..]];
            let cut = self::decode(new(&case.name), pieces.into_iter());
            assert_eq!(cut, events, "{} cut at {at}", case.name);
        }
    }
}

#[test]
fn responses_streams() {
    check_folder("responses", |_| StreamDecoder::new(WireApi::Responses, "fallback"));
}

#[test]
fn chat_streams() {
    check_folder("chat", |_| StreamDecoder::new(WireApi::Chat, "fallback"));
}

#[test]
fn whole_answers() {
    check_folder("whole", |name| {
        let wire = if name.contains("_chat_") { WireApi::Chat } else { WireApi::Responses };
        StreamDecoder::whole(wire, "fallback")
    });
}

#[test]
fn invalid_utf8_loses_a_letter_and_not_the_delta() {
    let mut bytes =
        b"data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\xFFb\"}\n\n".to_vec();
    bytes.extend_from_slice(b"data: {\"type\":\"response.completed\"}\n\n");
    let events = decode(StreamDecoder::new(WireApi::Responses, "f"), [&bytes[..]].into_iter());
    assert_eq!(events[0], ModelEvent::TextDelta("a\u{FFFD}b".to_owned()));
    assert_eq!(events.len(), 2);
}

/// Nothing that a server sends may grow memory or work without bound.
#[test]
fn excess_is_refused() {
    let refused = |event: Option<&ModelEvent>| matches!(event, Some(ModelEvent::Failed(it)) if it.kind == FailureKind::Refused);
    let megabyte = vec![b'x'; 1 << 20];
    for mut decoder in [
        StreamDecoder::new(WireApi::Responses, "f"),
        StreamDecoder::new(WireApi::Chat, "f"),
        StreamDecoder::whole(WireApi::Chat, "f"),
    ] {
        let last = (0..20).flat_map(|_| decoder.push(&megabyte)).last();
        assert!(refused(last.as_ref()), "{last:?}");
        assert!(decoder.is_over());
    }

    let mut decoder = StreamDecoder::new(WireApi::Responses, "f");
    let mut last = None;
    for number in 0..5000 {
        let item = format!(
            "data: {{\"type\":\"response.output_item.done\",\"item\":{{\"type\":\"x\",\"n\":{number}}}}}\n\n"
        );
        last = decoder.push(item.as_bytes()).pop().or(last);
    }
    assert!(refused(last.as_ref()), "{last:?}");

    let mut decoder = StreamDecoder::new(WireApi::Chat, "f");
    let mut last = None;
    for number in 0..5000 {
        let call = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{number}}}]}}}}]}}\n\n"
        );
        last = decoder.push(call.as_bytes()).pop().or(last);
    }
    assert!(refused(last.as_ref()), "{last:?}");
}

/// Depth is refused by the reader, not by the stack.
#[test]
fn deep_nesting_is_survived() {
    let deep = format!(
        "data: {{\"type\":\"response.output_item.done\",\"item\":{}}}\n\n",
        "[".repeat(200_000)
    );
    for wire in [WireApi::Responses, WireApi::Chat] {
        let events = decode(StreamDecoder::new(wire, "f"), [deep.as_bytes()].into_iter());
        assert_eq!(events.len(), 1, "{events:?}");
    }
}

fn wire() -> impl Strategy<Value = WireApi> {
    prop_oneof![Just(WireApi::Responses), Just(WireApi::Chat)]
}

/// Streams out of pieces of real ones, with noise between.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let real: Vec<String> = ["responses", "chat"]
        .iter()
        .flat_map(|folder| cases(format!("{STREAMS}/{folder}")))
        .flat_map(|case| case.text.split_inclusive("\n\n").map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let piece = prop_oneof![
        6 => proptest::sample::select(real).prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => "[\r\n:{}\" a-z]{0,20}".prop_map(String::into_bytes),
        1 => Just(b": ping\r\n\r\n".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_events(
        wire in wire(),
        bytes in stream(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let whole = decode(StreamDecoder::new(wire, "f"), [&bytes[..]].into_iter());
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(decode(StreamDecoder::new(wire, "f"), pieces), whole);
    }

    /// Every stream has exactly one last event, and it is the last.
    #[test]
    fn arbitrary_bytes_end_in_one_last_event(
        wire in wire(),
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        for decoder in [StreamDecoder::new(wire, "f"), StreamDecoder::whole(wire, "f")] {
            let events = decode(decoder, bytes.chunks(17));
            let last = |event: &ModelEvent| {
                matches!(event, ModelEvent::Completed { .. } | ModelEvent::Failed(_))
            };
            prop_assert_eq!(events.iter().filter(|event| last(event)).count(), 1);
            prop_assert!(events.last().is_some_and(last));
        }
    }
}
