//! The bodies of requests: what they look like, and that every call has exactly one output.

use std::collections::HashMap;
use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_engine::{Content, Effort, Item, ModelRequest, Role, Summary, ToolInfo, WireApi};
use serde_json::{Value, json};

fn request(items: Vec<Item>) -> ModelRequest {
    ModelRequest {
        model: "m".to_owned(),
        instructions: "Be brief.".to_owned(),
        items: items.into_iter().map(Arc::new).collect(),
        answers_end: Vec::new(),
        tools: Vec::new(),
        effort: None,
        cache_key: "thread-1".to_owned(),
        parallel_tool_calls: true,
    }
}

fn call(id: &str) -> Item {
    let (call_id, name) = (id.to_owned(), "shell".to_owned());
    Item::FunctionCall { call_id, name, arguments: format!("{{\"for\":\"{id}\"}}") }
}

fn output(id: &str, output: &str) -> Item {
    Item::FunctionCallOutput { call_id: id.to_owned(), output: output.to_owned() }
}

fn body(request: &ModelRequest, wire: WireApi) -> Value {
    serde_json::from_str(&request.body(wire)).unwrap()
}

/// The thread as one line per item or message.
fn lines(request: &ModelRequest, wire: WireApi) -> String {
    let body = body(request, wire);
    let items = body["input"].as_array().or_else(|| body["messages"].as_array()).unwrap();
    items.iter().map(|item| format!("{item}\n")).collect()
}

#[track_caller]
fn check(items: Vec<Item>, responses: Expect, chat: Expect) {
    let request = request(items);
    responses.assert_eq(&lines(&request, WireApi::Responses));
    chat.assert_eq(&lines(&request, WireApi::Chat));
}

#[test]
fn the_whole_body() {
    let mut request = request(vec![Item::user("hi")]);
    for wire in [WireApi::Responses, WireApi::Chat] {
        let body = body(&request, wire);
        for absent in ["tools", "tool_choice", "parallel_tool_calls", "reasoning", "include"] {
            assert!(body.get(absent).is_none(), "{absent}");
        }
    }
    request.effort = Some(Effort::Low);
    request.tools = vec![ToolInfo {
        name: "shell".to_owned(),
        description: "Runs a command".to_owned(),
        parameters: json!({ "type": "object" }),
    }];
    expect![[r#"
        {
          "model": "m",
          "instructions": "Be brief.",
          "input": [
            {
              "type": "message",
              "role": "user",
              "content": [
                {
                  "type": "input_text",
                  "text": "hi"
                }
              ]
            }
          ],
          "tools": [
            {
              "type": "function",
              "name": "shell",
              "description": "Runs a command",
              "strict": false,
              "parameters": {
                "type": "object"
              }
            }
          ],
          "tool_choice": "auto",
          "parallel_tool_calls": true,
          "reasoning": {
            "effort": "low",
            "summary": "auto"
          },
          "store": false,
          "stream": true,
          "include": [
            "reasoning.encrypted_content"
          ],
          "prompt_cache_key": "thread-1"
        }"#]]
    .assert_eq(&format!("{:#}", body(&request, WireApi::Responses)));
    expect![[r#"
        {
          "model": "m",
          "messages": [
            {
              "role": "system",
              "content": "Be brief."
            },
            {
              "role": "user",
              "content": "hi"
            }
          ],
          "tools": [
            {
              "type": "function",
              "function": {
                "name": "shell",
                "description": "Runs a command",
                "parameters": {
                  "type": "object"
                }
              }
            }
          ],
          "tool_choice": "auto",
          "parallel_tool_calls": true,
          "reasoning_effort": "low",
          "stream": true,
          "stream_options": {
            "include_usage": true
          }
        }"#]]
    .assert_eq(&format!("{:#}", body(&request, WireApi::Chat)));
}

#[test]
fn outputs_follow_their_calls_in_the_order_of_the_calls() {
    check(
        vec![
            Item::user("go"),
            Item::assistant("I look."),
            call("a"),
            call("b"),
            Item::user("by the way"),
            output("b", "B"),
            output("a", "A"),
            Item::assistant("Done."),
        ],
        expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}
            {"type":"function_call","call_id":"a","name":"shell","arguments":"{\"for\":\"a\"}"}
            {"type":"function_call","call_id":"b","name":"shell","arguments":"{\"for\":\"b\"}"}
            {"type":"message","role":"user","content":[{"type":"input_text","text":"by the way"}]}
            {"type":"function_call_output","call_id":"b","output":"B"}
            {"type":"function_call_output","call_id":"a","output":"A"}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}
        "#]],
        expect![[r#"
            {"role":"system","content":"Be brief."}
            {"role":"user","content":"go"}
            {"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"shell","arguments":"{\"for\":\"a\"}"}},{"id":"b","type":"function","function":{"name":"shell","arguments":"{\"for\":\"b\"}"}}]}
            {"role":"tool","tool_call_id":"a","content":"A"}
            {"role":"tool","tool_call_id":"b","content":"B"}
            {"role":"user","content":"by the way"}
            {"role":"assistant","content":"Done."}
        "#]],
    );
}

#[test]
fn a_call_without_output_was_aborted_and_an_output_without_call_is_dropped() {
    check(
        vec![output("x", "orphan"), call("a"), call("b"), output("b", "B"), output("b", "again")],
        expect![[r#"
            {"type":"function_call","call_id":"a","name":"shell","arguments":"{\"for\":\"a\"}"}
            {"type":"function_call_output","call_id":"a","output":"aborted"}
            {"type":"function_call","call_id":"b","name":"shell","arguments":"{\"for\":\"b\"}"}
            {"type":"function_call_output","call_id":"b","output":"B"}
        "#]],
        expect![[r#"
            {"role":"system","content":"Be brief."}
            {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"shell","arguments":"{\"for\":\"a\"}"}},{"id":"b","type":"function","function":{"name":"shell","arguments":"{\"for\":\"b\"}"}}]}
            {"role":"tool","tool_call_id":"a","content":"aborted"}
            {"role":"tool","tool_call_id":"b","content":"B"}
        "#]],
    );
}

#[test]
fn one_answer_of_the_model_is_one_message() {
    check(
        vec![
            call("a"),
            Item::assistant("and"),
            call("b"),
            output("a", "A"),
            output("b", "B"),
            call("c"),
            output("c", "C"),
        ],
        expect![[r#"
            {"type":"function_call","call_id":"a","name":"shell","arguments":"{\"for\":\"a\"}"}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"and"}]}
            {"type":"function_call","call_id":"b","name":"shell","arguments":"{\"for\":\"b\"}"}
            {"type":"function_call_output","call_id":"a","output":"A"}
            {"type":"function_call_output","call_id":"b","output":"B"}
            {"type":"function_call","call_id":"c","name":"shell","arguments":"{\"for\":\"c\"}"}
            {"type":"function_call_output","call_id":"c","output":"C"}
        "#]],
        expect![[r#"
            {"role":"system","content":"Be brief."}
            {"role":"assistant","content":"and","tool_calls":[{"id":"a","type":"function","function":{"name":"shell","arguments":"{\"for\":\"a\"}"}},{"id":"b","type":"function","function":{"name":"shell","arguments":"{\"for\":\"b\"}"}}]}
            {"role":"tool","tool_call_id":"a","content":"A"}
            {"role":"tool","tool_call_id":"b","content":"B"}
            {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"shell","arguments":"{\"for\":\"c\"}"}}]}
            {"role":"tool","tool_call_id":"c","content":"C"}
        "#]],
    );
}

/// Some outputs come before the next call of the same answer; two answers of calls alone follow.
#[test]
fn calls_of_one_answer_stay_together_and_answers_apart() {
    let mut request = request(vec![
        Item::user("go"),
        call("a"),
        output("a", "A"),
        call("b"),
        call("c"),
        output("b", "B"),
        output("c", "C"),
        call("d"),
        output("d", "D"),
        Item::assistant("so far"),
        call("e"),
        output("e", "E"),
        call("f"),
    ]);
    request.answers_end = vec![7, 9];
    expect![[r#"
        {"role":"system","content":"Be brief."}
        {"role":"user","content":"go"}
        {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"shell","arguments":"{\"for\":\"a\"}"}},{"id":"b","type":"function","function":{"name":"shell","arguments":"{\"for\":\"b\"}"}},{"id":"c","type":"function","function":{"name":"shell","arguments":"{\"for\":\"c\"}"}}]}
        {"role":"tool","tool_call_id":"a","content":"A"}
        {"role":"tool","tool_call_id":"b","content":"B"}
        {"role":"tool","tool_call_id":"c","content":"C"}
        {"role":"assistant","content":null,"tool_calls":[{"id":"d","type":"function","function":{"name":"shell","arguments":"{\"for\":\"d\"}"}}]}
        {"role":"tool","tool_call_id":"d","content":"D"}
        {"role":"assistant","content":"so far","tool_calls":[{"id":"e","type":"function","function":{"name":"shell","arguments":"{\"for\":\"e\"}"}}]}
        {"role":"tool","tool_call_id":"e","content":"E"}
        {"role":"assistant","content":null,"tool_calls":[{"id":"f","type":"function","function":{"name":"shell","arguments":"{\"for\":\"f\"}"}}]}
        {"role":"tool","tool_call_id":"f","content":"aborted"}
    "#]]
    .assert_eq(&lines(&request, WireApi::Chat));
}

/// A plan is answered at once, before the model has made its other calls.
#[test]
fn what_is_answered_at_once_does_not_part_the_calls_of_an_answer() {
    let request = crate::script::last_request(
        r#"configure
         input 1 go
         model #1 call a update_plan {"plan":[{"step":"look","status":"pending"}]}
         model #1 call b ls
         model #1 call c update_plan {"plan":[{"step":"look","status":"pending"}]}
         tool #3 exit 0 here
         model #1 done r1
         model #5 call d update_plan {"plan":[{"step":"look","status":"pending"}]}
         model #5 done r2"#,
    );
    let body = body(&request, WireApi::Chat);
    let shape: Vec<String> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| match (message["tool_calls"].as_array(), message["tool_call_id"].as_str()) {
            (Some(calls), _) => calls.iter().map(|call| call["id"].as_str().unwrap()).collect(),
            (None, Some(id)) => format!("({id})"),
            (None, None) => message["role"].as_str().unwrap().to_owned(),
        })
        .collect();
    assert_eq!(shape.join(" "), "user abc (a) (b) (c) d (d)");
}

#[test]
fn ids_that_come_again_are_told_apart() {
    check(
        vec![
            call("call_0"),
            output("call_0", "first"),
            call("call_0"),
            output("call_0", "second"),
            call(""),
            output("", "third"),
        ],
        expect![[r#"
            {"type":"function_call","call_id":"call_0","name":"shell","arguments":"{\"for\":\"call_0\"}"}
            {"type":"function_call_output","call_id":"call_0","output":"first"}
            {"type":"function_call","call_id":"call_0_1","name":"shell","arguments":"{\"for\":\"call_0\"}"}
            {"type":"function_call_output","call_id":"call_0_1","output":"second"}
            {"type":"function_call","call_id":"_2","name":"shell","arguments":"{\"for\":\"\"}"}
            {"type":"function_call_output","call_id":"_2","output":"third"}
        "#]],
        expect![[r#"
            {"role":"system","content":"Be brief."}
            {"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"shell","arguments":"{\"for\":\"call_0\"}"}}]}
            {"role":"tool","tool_call_id":"call_0","content":"first"}
            {"role":"assistant","content":null,"tool_calls":[{"id":"call_0_1","type":"function","function":{"name":"shell","arguments":"{\"for\":\"call_0\"}"}}]}
            {"role":"tool","tool_call_id":"call_0_1","content":"second"}
            {"role":"assistant","content":null,"tool_calls":[{"id":"_2","type":"function","function":{"name":"shell","arguments":"{\"for\":\"\"}"}}]}
            {"role":"tool","tool_call_id":"_2","content":"third"}
        "#]],
    );
}

#[test]
fn images_thoughts_and_unknown_items() {
    let image = Item::Message {
        role: Role::User,
        content: vec![
            Content::InputText { text: "see".to_owned() },
            Content::InputImage { image_url: "data:image/png;base64,AA".to_owned() },
        ],
    };
    let thought = |encrypted: Option<&str>, text: Option<&str>| Item::Reasoning {
        id: "rs_1".to_owned(),
        summary: text
            .map(|text| Summary::SummaryText { text: text.to_owned() })
            .into_iter()
            .collect(),
        encrypted_content: encrypted.map(str::to_owned),
    };
    let developer = Item::Message {
        role: Role::Developer,
        content: vec![Content::InputText { text: "rules".to_owned() }],
    };
    let broken = Item::FunctionCall {
        call_id: "a".to_owned(),
        name: "shell".to_owned(),
        arguments: "{\"x\":".to_owned(),
    };
    check(
        vec![
            developer,
            image,
            thought(Some("AAA"), None),
            thought(None, Some("hm")),
            thought(None, None),
            Item::Other(json!({ "type": "web_search_call", "id": "ws" })),
            Item::Other(json!({ "type": "function_call", "id": "half" })),
            broken,
        ],
        expect![[r#"
            {"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}
            {"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]}
            {"type":"reasoning","summary":[],"encrypted_content":"AAA"}
            {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}
            {"type":"web_search_call","id":"ws"}
            {"type":"function_call","call_id":"a","name":"shell","arguments":"{\"x\":"}
            {"type":"function_call_output","call_id":"a","output":"aborted"}
        "#]],
        expect![[r#"
            {"role":"system","content":"Be brief."}
            {"role":"system","content":"rules"}
            {"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}
            {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"shell","arguments":"{\"malformed_arguments\":\"{\\\"x\\\":\"}"}}]}
            {"role":"tool","tool_call_id":"a","content":"aborted"}
        "#]],
    );
}

fn item() -> impl Strategy<Value = Item> {
    let id = prop_oneof![Just(""), Just("a"), Just("b"), Just("a_1"), Just("_1"), Just("c")];
    prop_oneof![
        3 => id.clone().prop_map(call),
        3 => id.prop_map(|id| output(id, "out")),
        1 => Just(Item::user("u")),
        1 => Just(Item::assistant("m")),
        1 => Just(Item::Reasoning { id: String::new(), summary: vec![], encrypted_content: None }),
        1 => Just(Item::Other(json!({ "type": "function_call_output", "call_id": "a" }))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_has_exactly_one_output(
        items in proptest::collection::vec(item(), 0..24),
        mut answers_end in proptest::collection::vec(0_usize..25, 0..4),
    ) {
        let calls = items.iter().filter(|it| matches!(it, Item::FunctionCall { .. })).count();
        answers_end.sort_unstable();
        let request = ModelRequest { answers_end, ..request(items) };

        let body = body(&request, WireApi::Responses);
        let mut answered: HashMap<&str, bool> = HashMap::new();
        for item in body["input"].as_array().unwrap() {
            let id = item["call_id"].as_str().unwrap_or_default();
            match item["type"].as_str().unwrap() {
                "function_call" => prop_assert_eq!(answered.insert(id, false), None),
                "function_call_output" => prop_assert_eq!(answered.insert(id, true), Some(false)),
                _ => {}
            }
        }
        prop_assert_eq!(answered.len(), calls);
        prop_assert!(answered.values().all(|it| *it));

        let body = self::body(&request, WireApi::Chat);
        let mut seen = 0;
        let mut waiting: Vec<&str> = Vec::new();
        for message in body["messages"].as_array().unwrap() {
            if message["role"] == "tool" {
                // In the order of the calls, and nothing between.
                prop_assert_eq!(message["tool_call_id"].as_str(), waiting.first().copied());
                waiting.remove(0);
                continue;
            }
            prop_assert!(waiting.is_empty(), "{message}");
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                waiting.push(call["id"].as_str().unwrap());
                seen += 1;
            }
        }
        prop_assert!(waiting.is_empty());
        prop_assert_eq!(seen, calls);
    }
}
