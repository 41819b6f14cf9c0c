//! Whatever comes in, reading ends, in time that grows with the length, and proposes nothing that a
//! strict response does not.

use proptest::prelude::*;
use sabir_llmcp::{Mode, OutputFormat, Packet, Response, Tool};
use serde_json::{Map, Value, json};

use crate::answers::read;
use crate::show::{folder, request};

/// Any JSON, not deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Keys that mean something here, and others.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "type",
            "id",
            "name",
            "arguments",
            "assistant",
            "render",
            "markdown",
            "citations",
            "tool_calls",
            "children",
            "text",
            "doc_id",
            "quote",
            "content",
            "doc_type",
            "trust",
        ])
        .prop_map(str::to_owned),
        ".{0,6}",
    ]
}

/// A valid packet in which one value has been replaced by any JSON.
fn damaged_packet() -> impl Strategy<Value = String> {
    let packets: Vec<Value> = folder("ok")
        .iter()
        .map(|case| serde_json::from_str(&case.text).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    (prop::sample::select(packets), any::<prop::sample::Index>(), any_json()).prop_map(
        |(mut packet, index, value)| {
            let mut pointers = Vec::new();
            collect_pointers(&packet, String::new(), &mut pointers);
            let pointer = index.get(&pointers);
            if let Some(place) = packet.pointer_mut(pointer) {
                *place = value;
            }
            packet.to_string()
        },
    )
}

fn collect_pointers(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                collect_pointers(inner, format!("{at}/{key}"), out);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                collect_pointers(inner, format!("{at}/{index}"), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

proptest! {
    /// LC-P6: a reader never fails but by telling; what it accepts prints back to what it was.
    #[test]
    fn reading_is_total_and_prints_back(text in prop_oneof![damaged_packet(), ".{0,200}"]) {
        let parsed = Packet::parse(&text, None);
        for found in &parsed.diagnostics {
            let span = found.diagnostic.span;
            prop_assert!(text.get(span.range()).is_some(), "{span:?}");
        }
        prop_assert_eq!(parsed.value.is_none(), parsed.has_errors());
        if let Some(packet) = parsed.value {
            let printed = match &packet {
                Packet::Request(request) => request.to_json().to_string(),
                Packet::Response(response) => response.to_json().to_string(),
            };
            prop_assert_eq!(Packet::parse(&printed, None).value, Some(packet));
        }
    }

    /// LC-P40: only a strict response proposes calls, however it is wrapped and cut.
    #[test]
    fn only_strict_responses_propose_calls(
        text in prop_oneof![damaged_packet(), "[{}\\[\\]\",:a-z \\\\\n]{0,80}"],
        before in "(|```json\n|<think>|</think>|Sure: |\\{|\u{feff})",
        after in "(|\n```|\\}|,|---END CITATIONS---)",
        cut in any::<prop::sample::Index>(),
    ) {
        let mut text = format!("{before}{text}{after}");
        text.truncate(text.floor_char_boundary(cut.index(text.len() + 1)));
        for format in [OutputFormat::Json, OutputFormat::Markdown] {
            let request = request(format);
            let answer = read(&text, &request);
            let strict = Response::parse(&text, Some(&request)).value.is_some();
            if answer.mode == Mode::Strict {
                prop_assert!(strict, "{}", text);
            } else {
                prop_assert!(answer.tool_calls.is_empty(), "{}", text);
            }
        }
    }
}

/// LC-P9: texts that are made to be slow. Quadratic work on them would take minutes.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let size = 1 << 18;
    let pieces = [
        "{",
        "[",
        "{\"",
        "{\"a\":",
        "{\"assistant\":{",
        "\"",
        "\\",
        "\\u",
        ",",
        "---CITATIONS---",
        "---CITATIONS---\n",
        "\n---END CITATIONS---",
        "<think>",
        "```\n",
        "~~~",
        "{ ",
        "[1](",
        "{\"assistant\":{\"citations\":[",
    ];
    for format in [OutputFormat::Json, OutputFormat::Markdown] {
        let request = request(format);
        for piece in pieces {
            let text = piece.repeat(size / piece.len());
            assert_eq!(read(&text, &request).tool_calls, []);
            let closed = format!("{text}\n---END CITATIONS---");
            assert_eq!(read(&closed, &request).tool_calls, []);
            let inside = json!({ "type": "response", "assistant": { "markdown": text } });
            assert_eq!(read(&inside.to_string(), &request).tool_calls, []);
        }
    }
}

/// A thousand unknown keys, calls and citations cost no more than they are long.
#[test]
fn wide_packets_are_read_in_linear_time() {
    let keys: Map<String, Value> = (0..60_000).map(|at| (format!("k{at}"), json!(at))).collect();
    let calls = vec![json!({ "name": "x" }); 50_000];
    let citations = vec![json!({ "doc_id": 1 }); 50_000];
    for packet in [
        json!({ "type": "response", "assistant": keys }),
        json!({ "type": "response", "tool_calls": calls }),
        json!({ "type": "response", "assistant": { "markdown": "x", "citations": citations } }),
    ] {
        assert!(Packet::parse(&packet.to_string(), None).has_errors());
        let answer = read(&packet.to_string(), &request(OutputFormat::Json));
        assert_eq!(answer.tool_calls, []);
    }
}

/// Whoever adds a tool thinks of its golden file: this does not compile without it.
#[test]
fn arguments_are_typed() {
    let case = folder("tools/ok").into_iter().find(|case| case.name.contains("click")).unwrap();
    let packet = folder("ok").into_iter().find(|case| case.name.contains("smallest")).unwrap();
    let text =
        packet.text.replace("\"tool_calls\": []", &format!("\"tool_calls\": [{}]", case.text));
    let response = Response::parse(&text, None).value.unwrap();
    let [call] = &response.tool_calls[..] else { panic!("one call") };
    let Tool::Click(click) = &call.call else { panic!("a click") };
    assert_eq!(click.handle_id.as_str(), "h1");
}
