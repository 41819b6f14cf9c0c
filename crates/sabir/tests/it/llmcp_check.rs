//! `sabir llmcp check` from outside: exit codes, pointers in JSON, the request beside a response.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::Value;

use crate::process::run;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sabir-llmcp/tests/data").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(data(name)).unwrap()
}

fn path(name: &str) -> String {
    data(name).to_str().unwrap().to_owned()
}

const REQUEST: &str = "ok/0001_summarize_request.json";
const RESPONSE: &str = "ok/0011_smallest_response.json";

#[test]
fn packets_are_valid_or_not_by_exit_code() {
    for name in [REQUEST, RESPONSE, "warn/0001_markdown_only.json"] {
        assert_eq!(run(&["llmcp", "check"], text(name)).code, 0, "{name}");
        assert_eq!(run(&["llmcp", "check", "-"], text(name)).code, 0, "{name}");
        assert_eq!(run(&["llmcp", "check", &path(name)], "").code, 0, "{name}");
    }
    for name in ["err/0001_not_json.json", "err/0022_unknown_top_key.json"] {
        assert_eq!(run(&["llmcp", "check"], text(name)).code, 1, "{name}");
        assert_eq!(run(&["llmcp", "check", "--json"], text(name)).code, 1, "{name}");
    }
    assert_eq!(run(&["llmcp", "check"], "").code, 1);
    assert_eq!(run(&["llmcp", "check", "no/such/file"], "").code, 2);
    assert_eq!(run(&["llmcp", "check", "--request", "no/such/file"], text(RESPONSE)).code, 2);
    assert_eq!(run(&["llmcp", "check", "--nonsense"], "").code, 2);
}

#[test]
fn json_has_a_pointer_for_each_diagnostic() {
    let outcome = run(&["llmcp", "check", "--json"], text("err/0049_call_with_extra_key.json"));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""));
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    expect![[r#"
        {
          "file": "-",
          "messages": 0,
          "diagnostics": [
            {
              "code": "LC103",
              "severity": "error",
              "message": "the key \"approved\" does not belong here",
              "start": 681,
              "end": 685,
              "line": 39,
              "column": 19,
              "help": "keys here: id, name, arguments",
              "fixes": [],
              "pointer": "/tool_calls/0/approved"
            }
          ]
        }"#]]
    .assert_eq(&format!("{report:#}"));

    let outcome = run(&["llmcp", "check", "--json"], text("warn/0001_markdown_only.json"));
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(outcome.code, 0);
    assert_eq!(report["messages"], 1);
    assert_eq!(report["diagnostics"][0]["severity"], "warning");
    assert_eq!(report["diagnostics"][0]["pointer"], "/assistant/markdown");
}

#[test]
fn people_see_the_place() {
    let outcome = run(&["llmcp", "check"], text("err/0048_unknown_tool.json"));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    assert!(outcome.stderr.contains("error[LC601]"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("did you mean \"browser.click\"?"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("(at /tool_calls/0/name)"), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("1 file, 0 messages: 2 errors\n"), "{}", outcome.stderr);
}

#[test]
fn a_response_is_compared_with_its_request() {
    let request = path(REQUEST);
    let check = |name: &str| run(&["llmcp", "check", "--json", "--request", &request], text(name));
    assert_eq!(check("beside/0001_fits.json").code, 0);
    for (name, code, pointer) in [
        ("beside/0002_other_request.json", "LC401", "/in_reply_to/request_id"),
        ("beside/0003_other_conversation.json", "LC402", "/conversation/id"),
        ("beside/0004_other_turn.json", "LC403", "/conversation/turn"),
        ("beside/0006_unasked_data.json", "LC503", "/assistant/data"),
        (REQUEST, "LC203", "/type"),
    ] {
        assert!(name == REQUEST || run(&["llmcp", "check"], text(name)).code == 0, "{name}");
        let outcome = check(name);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let found = &report["diagnostics"][0];
        assert_eq!(outcome.code, 1, "{name}");
        assert_eq!((&found["code"], &found["pointer"]), (&code.into(), &pointer.into()), "{name}");
    }
    // What is no request cannot be compared with.
    let outcome = run(&["llmcp", "check", "--request", &path(RESPONSE)], text(RESPONSE));
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("LC203"), "{}", outcome.stderr);
}

#[test]
fn a_request_with_errors_hides_no_response_and_may_come_from_standard_input() {
    let (wrong, answer) =
        (path("err/0022_unknown_top_key.json"), path("err/0048_unknown_tool.json"));
    let outcome = run(&["llmcp", "check", "--request", &wrong, &answer], "");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("LC103"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("LC601"), "{}", outcome.stderr);
    let fits = path("beside/0001_fits.json");
    let outcome = run(&["llmcp", "check", "--request", &wrong, &fits], "");
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    // The summary counts the request and what is wrong with it.
    assert!(outcome.stderr.ends_with("2 files, 1 message: 1 error\n"), "{}", outcome.stderr);
    let outcome = run(&["llmcp", "check", "--request", &path(REQUEST), &fits], "");
    assert!(outcome.stderr.ends_with("2 files, 2 messages: valid\n"), "{}", outcome.stderr);

    let check = |name| run(&["llmcp", "check", "--request", "-", &path(name)], text(REQUEST));
    assert_eq!(check("beside/0001_fits.json").code, 0);
    assert_eq!(check("beside/0004_other_turn.json").code, 1);
    for twice in
        [&["llmcp", "check", "--request", "-"][..], &["llmcp", "check", "--request", "-", "-"]]
    {
        let outcome = run(twice, text(REQUEST));
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains("twice"), "{}", outcome.stderr);
    }
    // A warning about the request is told, too.
    let doubtful = path("warn/0008_schema_of_an_unknown_type.json");
    let outcome = run(&["llmcp", "check", "--request", &doubtful, &fits], "");
    assert!(outcome.stderr.contains("LC306"), "{}", outcome.stderr);
}

#[test]
fn markdown_is_an_answer_where_it_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let request = folder.path().join("request.json");
    let asks = text(REQUEST).replace("\"json\"", "\"markdown\"");
    assert_ne!(asks, text(REQUEST));
    fs::write(&request, asks).unwrap();
    let check = |text: &str| run(&["llmcp", "check", "--request", request.to_str().unwrap()], text);
    let good = "# Tariff\n\nIt fell [1].\n\n---CITATIONS---\n{\"doc_id\":\"d\",\"quote\":\"fell\"}\n---END CITATIONS---\n";
    let outcome = check(good);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("2 files, 2 messages: valid\n"), "{}", outcome.stderr);
    let outcome = check(&good.replace("{\"doc_id\"", "{\"doc_ids\""));
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("dropped 1 citation"), "{}", outcome.stderr);
    // A packet is still read as one.
    assert_eq!(check(&text("beside/0001_fits.json")).code, 0);
    assert_eq!(check(&text("beside/0004_other_turn.json")).code, 1);
}

/// A schema of a few lines that would be looked at a thousand million times.
#[test]
fn a_schema_that_branches_without_end_is_said_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut definitions = serde_json::Map::new();
    for number in 0..30 {
        let next = serde_json::json!({ "$ref": format!("#/$defs/a{}", number + 1) });
        definitions.insert(format!("a{number}"), serde_json::json!({ "anyOf": [next, next] }));
    }
    definitions.insert("a30".to_owned(), serde_json::json!({ "type": "null" }));
    let mut request: Value = serde_json::from_str(&text("ok/0007_extract_request.json")).unwrap();
    request["input"]["task"]["args"]["schema"] =
        serde_json::json!({ "$ref": "#/$defs/a0", "$defs": definitions });
    let path = folder.path().join("request.json");
    fs::write(&path, request.to_string()).unwrap();
    let answer = text("ok/0012_extract_response.json");
    let outcome = run(&["llmcp", "check", "--request", path.to_str().unwrap()], answer);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("branches too often"), "{}", outcome.stderr);
}

#[test]
fn data_is_compared_with_its_schema() {
    let request = path("ok/0007_extract_request.json");
    let check = |text: &str| run(&["llmcp", "check", "--json", "--request", &request], text);
    let fits = text("ok/0012_extract_response.json");
    assert_eq!(check(&fits).code, 0);
    let outcome = check(&fits.replace("\"fee\": 4", "\"fee\": \"four\""));
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(outcome.code, 1);
    assert_eq!(report["diagnostics"][0]["code"], "LC504");
    assert_eq!(report["diagnostics"][0]["pointer"], "/assistant/data/fee");
}

#[test]
fn codes_of_packets_are_explained() {
    let outcome = run(&["explain", "LC502"], "");
    assert!(outcome.stdout.starts_with("# LC502: markdown-only"), "{}", outcome.stdout);
}
