//! Packets against folders of files: `ok` is silent and prints back, `warn` is read with a remark,
//! `err` is refused; `.out` says why.
#![expect(clippy::disallowed_methods, reason = "tests read their data")]

use std::collections::BTreeSet;

use expect_test::expect_file;
use sabir_llmcp::{OutputFormat, Packet, Request, Response, codes};
use serde_json::Value;

use crate::show::{expected, folder, lines, request};

fn print(packet: &Packet) -> Value {
    match packet {
        Packet::Request(request) => request.to_json(),
        Packet::Response(response) => response.to_json(),
    }
}

/// LC-P1, LC-P2, LC-P3, LC-P5, LC-P10, LC-P11, LC-P12, LC-P15, LC-P16, LC-P20, LC-P21: what the
/// rules describe is read without a word and printed as it was.
#[test]
fn valid_packets_are_silent_and_print_back() {
    for case in folder("ok") {
        let parsed = Packet::parse(&case.text, None);
        assert_eq!(lines(&case.text, &parsed.diagnostics), "", "{}", case.name);
        let packet = parsed.value.unwrap();
        let given: Value = serde_json::from_str(&case.text).unwrap();
        assert_eq!(print(&packet), given, "{}", case.name);
        let again = Packet::parse(&print(&packet).to_string(), None);
        assert_eq!(again.value, Some(packet), "{}", case.name);
    }
}

/// LC-P1, LC-P2, LC-P3, LC-P4, LC-P6, LC-P7, LC-P8, LC-P9, LC-P11, LC-P12, LC-P13, LC-P14, LC-P20,
/// LC-P26, LC-P27, LC-P28: what the rules forbid is refused, with a pointer.
#[test]
fn invalid_packets_are_refused_with_a_pointer() {
    for case in folder("err") {
        let parsed = Packet::parse(&case.text, None);
        assert!(parsed.has_errors() && parsed.value.is_none(), "{}", case.name);
        expect_file![expected(&case)].assert_eq(&lines(&case.text, &parsed.diagnostics));
    }
}

/// LC-P17, LC-P22, LC-P23, LC-P24: what can be shown all the same is read with a warning.
#[test]
fn doubtful_packets_are_read_with_a_warning() {
    for case in folder("warn") {
        let parsed = Packet::parse(&case.text, None);
        assert!(parsed.value.is_some() && !parsed.diagnostics.is_empty(), "{}", case.name);
        expect_file![expected(&case)].assert_eq(&lines(&case.text, &parsed.diagnostics));
    }
}

/// LC-P22: Markdown in place of a document is shown, and the calls beside it are gone.
#[test]
fn markdown_only_proposes_nothing() {
    let case = folder("warn").into_iter().find(|case| case.name.contains("with_a_call")).unwrap();
    assert!(case.text.contains("browser.click"));
    let response = Response::parse(&case.text, None).value.unwrap();
    assert_eq!(response.tool_calls, []);
    assert_eq!(response.assistant.render.to_markdown().trim(), "I will click.");
}

/// LC-P18, LC-P19, LC-P25: a response belongs to its request.
#[test]
fn responses_are_compared_with_their_request() {
    let request = request(OutputFormat::Json);
    for case in folder("beside") {
        assert!(!Response::parse(&case.text, None).has_errors(), "{}", case.name);
        let parsed = Response::parse(&case.text, Some(&request));
        assert_eq!(parsed.has_errors(), !case.name.contains("fits"), "{}", case.name);
        expect_file![expected(&case)].assert_eq(&lines(&case.text, &parsed.diagnostics));
    }
}

/// LC-P29: where Markdown was asked for, a response has no calls.
#[test]
fn no_calls_where_markdown_was_asked_for() {
    let request = request(OutputFormat::Markdown);
    let case = folder("ok").into_iter().find(|case| case.name.contains("everything")).unwrap();
    let parsed = Response::parse(&case.text, Some(&request));
    let found = &parsed.diagnostics[0];
    assert_eq!(found.diagnostic.code, codes::CALLS_NOT_ALLOWED);
    assert_eq!(found.pointer, "/tool_calls");
    assert!(
        !Response::parse(&case.text, Some(&Request { format: OutputFormat::Json, ..request }))
            .has_errors()
    );
}

/// LC-P25: data fits the schema of its request, as whoever has a validator says.
#[test]
fn data_is_checked_by_the_caller() {
    let find = |name: &str| folder("ok").into_iter().find(|case| case.name.contains(name)).unwrap();
    let request = Request::parse(&find("extract_request").text).value.unwrap();
    let text = find("extract_response").text;
    let check = |schema: &Value, data: &Value| {
        let validator = jsonschema::validator_for(schema).unwrap();
        let errors = validator.iter_errors(data);
        errors
            .map(|error| sabir_llmcp::DataFault {
                pointer: error.instance_path().to_string(),
                message: error.to_string(),
            })
            .collect()
    };
    assert_eq!(Response::parse_with(&text, &request, &check).diagnostics, []);
    let wrong = text.replace("\"fee\": 4", "\"fee\": \"four\"");
    let parsed = Response::parse_with(&wrong, &request, &check);
    expect_test::expect![[r#"
        24:13 error LC504 "/assistant/data/fee" "four" is not of type "number"
    "#]]
    .assert_eq(&lines(&wrong, &parsed.diagnostics));
    assert!(parsed.value.is_none());
}

/// LC-P12: a format that is left out is JSON, with `output` or without.
#[test]
fn json_is_the_usual_format() {
    let case = folder("ok").into_iter().find(|case| case.name.contains("0001")).unwrap();
    let mut packet: Value = serde_json::from_str(&case.text).unwrap();
    let mut format = |output: Option<Value>| {
        packet.as_object_mut().unwrap().remove("output");
        if let Some(output) = output {
            packet["output"] = output;
        }
        let parsed = Request::parse(&packet.to_string());
        assert_eq!(parsed.diagnostics, []);
        parsed.value.unwrap().format
    };
    assert_eq!(format(None), OutputFormat::Json);
    assert_eq!(format(Some(serde_json::json!({}))), OutputFormat::Json);
    let markdown = serde_json::json!({ "format": "markdown" });
    assert_eq!(format(Some(markdown)), OutputFormat::Markdown);
}

/// LC-P9: size is bounded.
#[test]
fn large_packets_are_refused() {
    let text = format!("{{\"type\": \"response\", \"x\": \"{}\"}}", "x".repeat(1 << 20));
    let parsed = Response::parse(&text, None);
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].diagnostic.code, codes::TOO_LARGE);
}

/// LC-P9: so are depth and the number of problems.
#[test]
fn deep_packets_and_long_lists_of_problems_are_cut() {
    let deep = format!("{{\"type\":\"request\",\"x\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let parsed = Packet::parse(&deep, None);
    assert_eq!(parsed.diagnostics[0].diagnostic.code, codes::TOO_DEEP);

    let keys: Vec<String> = (0..5_000).map(|at| format!("\"k{at}\": 0")).collect();
    let many = format!("{{\"type\": \"request\", {}}}", keys.join(","));
    let parsed = Packet::parse(&many, None);
    assert_eq!(parsed.diagnostics.len(), 201);
    let last = parsed.diagnostics.last().unwrap();
    assert_eq!(last.diagnostic.code, codes::TOO_MANY_PROBLEMS);
    assert!(last.is_error());
}

/// Every code but two, which need a large or an endless packet, is shown by a file.
#[test]
fn every_code_is_shown_by_a_case() {
    let mut shown = BTreeSet::new();
    for name in ["err", "warn", "beside", "tools/err"] {
        for case in folder(name) {
            let out = std::fs::read_to_string(case.out_path()).unwrap_or_default();
            shown.extend(
                codes::ALL.iter().map(|it| it.code).filter(|code| out.contains(code.as_str())),
            );
        }
    }
    let elsewhere = [
        codes::TOO_DEEP,
        codes::TOO_LARGE,
        codes::TOO_MANY_PROBLEMS,
        codes::WRONG_PACKET_TYPE,
        codes::BAD_DATA,
        codes::CALLS_NOT_ALLOWED,
    ];
    let missing: Vec<_> = codes::ALL
        .iter()
        .map(|it| it.code)
        .filter(|code| !shown.contains(code) && !elsewhere.contains(code))
        .collect();
    assert!(missing.is_empty(), "no case shows {missing:?}");
}

/// LC-P2: a request is no response.
#[test]
fn a_packet_of_the_other_type_is_refused() {
    let request = request(OutputFormat::Json);
    let parsed = Packet::parse(&request.to_json().to_string(), Some(&request));
    let [found] = &parsed.diagnostics[..] else { panic!("one problem") };
    assert_eq!(found.diagnostic.code, codes::WRONG_PACKET_TYPE);
    assert_eq!(found.pointer, "/type");

    let case = folder("ok").into_iter().next().unwrap();
    let parsed = Response::parse(&case.text, None);
    let codes: Vec<_> = parsed.diagnostics.iter().map(|found| found.diagnostic.code).collect();
    assert!(codes.contains(&codes::WRONG_PACKET_TYPE), "{codes:?}");
}
