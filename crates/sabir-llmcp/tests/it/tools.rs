//! The tools: a file for each with all of its arguments, and files with what is refused.

use expect_test::{expect, expect_file};
use sabir_llmcp::{
    CallId, Response, TOOLS_SCHEMA_VERSION, ToolCall, ToolName, ToolResult, ToolStatus, Trust,
};
use serde_json::Value;

use crate::show::{expected, folder, lines};

/// A response with one call.
fn response_with(call: &str) -> String {
    format!(
        r#"{{
"protocol": {{"name": "laika.llmcp", "version": 1}}, "id": "res-1", "type": "response",
"created_at": "2026-01-28T12:34:57Z", "conversation": {{"id": "c-1", "turn": 1}},
"sender": {{"role": "assistant"}}, "in_reply_to": {{"request_id": "req-1"}},
"assistant": {{"render": {{"type": "doc", "children": []}}}},
"tool_calls": [
{call}
]}}"#
    )
}

fn call(text: &str) -> ToolCall {
    let parsed = Response::parse(&response_with(text), None);
    parsed.value.unwrap_or_else(|| panic!("refused: {text}")).tool_calls.remove(0)
}

/// LC-P30, LC-P31: there are 24 tools, each with its own arguments.
#[test]
fn every_tool_is_read_with_all_of_its_arguments() {
    let mut seen = Vec::new();
    for case in folder("tools/ok") {
        let text = response_with(&case.text);
        let parsed = Response::parse(&text, None);
        assert_eq!(lines(&text, &parsed.diagnostics), "", "{}", case.name);
        let call = parsed.value.unwrap().tool_calls.remove(0);
        let given: Value = serde_json::from_str(&case.text).unwrap();
        assert_eq!(call.call.arguments(), given["arguments"], "{}", case.name);
        assert_eq!(call.call.name().as_str(), given["name"], "{}", case.name);
        // All of them, so that no argument is left untested.
        let arguments = call.call.name().describe().arguments;
        let known = arguments["properties"].as_object().unwrap();
        assert_eq!(known.len(), given["arguments"].as_object().unwrap().len(), "{}", case.name);
        seen.push(call.call.name());
    }
    assert_eq!(seen, ToolName::ALL);
    assert_eq!(seen.len(), 24);
    assert_eq!(TOOLS_SCHEMA_VERSION, 1);
}

/// LC-P31, LC-P32, LC-P33: what is not in a tool's table is refused.
#[test]
fn wrong_arguments_are_refused_with_a_pointer() {
    for case in folder("tools/err") {
        let text = response_with(&case.text);
        let parsed = Response::parse(&text, None);
        assert!(parsed.has_errors() && parsed.value.is_none(), "{}", case.name);
        expect_file![expected(&case)].assert_eq(&lines(&text, &parsed.diagnostics));
    }
}

/// LC-P31: limits hold at their ends.
#[test]
fn limits_include_their_ends() {
    for (name, argument, good, bad) in [
        ("browser.get_selection_links", "maxLinks", ["1", "200"], ["0", "201"]),
        ("browser.observe_dom", "maxChars", ["1", "4294967295"], ["0", "4294967296"]),
    ] {
        let text = |value: &str| {
            response_with(&format!(r#"{{"name":"{name}","arguments":{{"{argument}":{value}}}}}"#))
        };
        for value in good {
            assert!(!Response::parse(&text(value), None).has_errors(), "{name} {value}");
        }
        for value in bad {
            assert!(Response::parse(&text(value), None).has_errors(), "{name} {value}");
        }
    }
    let precision = |value: u64| {
        let text = format!(
            r#"{{"name":"app.calculate","arguments":{{"expression":"1","precision":{value}}}}}"#
        );
        !Response::parse(&response_with(&text), None).has_errors()
    };
    assert!(precision(0) && precision(6) && !precision(7));
}

/// Whole numbers are printed without a fraction, however they were written.
#[test]
fn numbers_mean_the_same_however_they_are_written() {
    let scroll = call(r#"{"name": "browser.scroll", "arguments": {"deltaY": 3e2}}"#);
    assert_eq!(scroll.call.arguments().to_string(), r#"{"deltaY":300}"#);
    let links = call(r#"{"name": "browser.get_selection_links", "arguments": {"maxLinks": 7.0}}"#);
    assert_eq!(links.call.arguments().to_string(), r#"{"maxLinks":7}"#);
}

/// LC-P34: the list for the prompt comes from the same table.
#[test]
fn tools_describe_themselves() {
    let list: String = ToolName::ALL
        .iter()
        .map(|name| {
            let info = name.describe();
            assert!(!info.purpose.contains('\n') && info.purpose.ends_with('.'));
            format!("{name}: {}\n", info.purpose)
        })
        .collect();
    expect![[r#"
        browser.observe_dom: Look at the page: its text, outline, lists, comments, and handles of what can be used.
        browser.get_selection_links: List the links in what the user has selected.
        browser.click: Click an element.
        browser.type: Type text into a field.
        browser.select: Choose a value in a field that offers several.
        browser.scroll: Scroll the page, down by a positive number of pixels or up by a negative one.
        browser.open_tab: Open a page in a new tab.
        browser.navigate: Go to another page in this tab.
        browser.back: Go back to the page before.
        browser.forward: Go forward again.
        browser.refresh: Load the page again.
        search: Search the web.
        artifact.save: Save Markdown as an artifact.
        artifact.share: Give an artifact to the user in a format.
        artifact.open: Show an artifact.
        integration.invoke: Run an operation of another program that the user has connected.
        app.calculate: Calculate exactly with decimal numbers.
        collection.create: Make a collection.
        collection.add_sources: Put pages or notes into a collection.
        collection.list_sources: List the sources of a collection.
        source.capture: Capture a page into a collection.
        source.refresh: Capture a source again.
        transform.list_types: List what can be made of a collection.
        transform.run: Make an artifact of a collection.
    "#]].assert_eq(&list);
    expect![[r#"{"type":"object","properties":{"expression":{"type":"string","pattern":"\\S","maxLength":1000},"precision":{"type":"integer","minimum":0,"maximum":6}},"required":["expression"],"additionalProperties":false}"#]].assert_eq(&ToolName::Calculate.describe().arguments.to_string());
}

/// LC-P14: only results that are made here of nothing that others wrote can be trusted.
#[test]
fn few_results_can_be_trusted() {
    let trusted: Vec<&str> = ToolName::ALL
        .iter()
        .filter(|name| name.result_trust() == Trust::Trusted)
        .map(|name| name.as_str())
        .collect();
    expect!["artifact.save app.calculate collection.create transform.list_types"]
        .assert_eq(&trusted.join(" "));
}

/// LC-P14: why a call failed may be said in the words of the call.
#[test]
fn a_failure_is_never_trusted() {
    for status in [ToolStatus::Ok, ToolStatus::Error, ToolStatus::Cancelled] {
        for tool in ToolName::ALL {
            let call_id = CallId::new("call_1").unwrap();
            let result =
                ToolResult { tool: *tool, call_id, status, error_code: None, payload: None };
            let expected = match status {
                ToolStatus::Ok => tool.result_trust(),
                _ => Trust::Untrusted,
            };
            assert_eq!(result.most_trust(), expected, "{tool}");
        }
    }
}
