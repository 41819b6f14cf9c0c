//! The second wire: Chat Completions.

use sabir_testkit::fake_model::{FakeModel, Reply, chat};
use serde_json::json;

use super::client::Client;
use super::place::Place;

fn open(place: &Place, model: &FakeModel) -> Client {
    Client::open_with(place, model, &json!({ "provider": { "wire_api": "chat" } }))
}

#[test]
fn one_assistant_message_carries_all_calls_followed_by_their_outputs() {
    let place = Place::new();
    let model = FakeModel::start([
        Reply::sse([
            chat::text("cmpl_1", "Let me look."),
            // Two calls, mixed with each other.
            chat::call("cmpl_1", 0, "call_a", "shell", "{\"command\":"),
            chat::call("cmpl_1", 1, "call_b", "shell", "{\"command\":[\"echo\","),
            chat::more_arguments("cmpl_1", 0, "[\"echo\",\"aaa\"]}"),
            chat::more_arguments("cmpl_1", 1, "\"bbb\"]}"),
            chat::finish("cmpl_1", "tool_calls"),
            chat::usage("cmpl_1", 7, 3),
            chat::done(),
        ]),
        // A finish reason without [DONE] is complete.
        Reply::sse([chat::text("cmpl_2", "Both."), chat::finish("cmpl_2", "stop")]),
    ]);
    let mut client = open(&place, &model);
    client.say("1", "look");
    let end = client.until("1", "task_complete");
    assert_eq!(end["msg"]["last_agent_message"], "Both.");
    let turns = client.all_of("turn_complete");
    let turns: Vec<&str> =
        turns.iter().map(|it| it["msg"]["response_id"].as_str().unwrap()).collect();
    assert_eq!(turns, ["cmpl_1", "cmpl_2"]);
    let count = &client.all_of("token_count")[0]["msg"];
    assert_eq!((&count["input"], &count["output"]), (&json!(7), &json!(3)));
    client.close();

    let requests = model.requests();
    assert_eq!(requests[1].path, "/v1/chat/completions");
    let messages = requests[1].body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(messages[2]["content"], "Let me look.");
    assert_eq!(messages[2]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(messages[3]["tool_call_id"], "call_a");
    assert!(messages[3]["content"].as_str().unwrap().contains("aaa"));
    assert_eq!(messages[4]["tool_call_id"], "call_b");
    assert!(messages[4]["content"].as_str().unwrap().contains("bbb"));
    assert_eq!(requests[0].body["stream_options"]["include_usage"], true);
    assert_eq!(requests[0].body["tools"][0]["type"], "function");
}

#[test]
fn a_stream_that_ends_without_a_finish_is_not_complete() {
    let place = Place::new();
    let model = FakeModel::start([
        Reply::sse([chat::text("cmpl_1", "Half of")]),
        Reply::sse([
            chat::text("cmpl_2", "All of it."),
            chat::finish("cmpl_2", "stop"),
            chat::done(),
        ]),
    ]);
    let mut client = open(&place, &model);
    client.say("1", "go");
    let end = client.until_over("1");
    assert_eq!(end["msg"]["last_agent_message"], "All of it.");
    assert_eq!(client.all_of("stream_error").len(), 1);
    client.close();
}

/// The same rules hold on this wire: an aborted call has its output, and a fork its point.
#[test]
fn interrupts_and_forks_work_as_on_the_first_wire() {
    let place = Place::new();
    let sleep = "{\"command\":[\"sleep\",\"1000\"]}";
    let model = FakeModel::start([
        Reply::sse([chat::text("cmpl_1", "one"), chat::finish("cmpl_1", "stop"), chat::done()]),
        Reply::sse([
            chat::call("cmpl_2", 0, "call_a", "shell", sleep),
            chat::finish("cmpl_2", "tool_calls"),
            chat::done(),
        ]),
        Reply::sse([chat::text("cmpl_3", "three"), chat::finish("cmpl_3", "stop"), chat::done()]),
        Reply::sse([chat::text("cmpl_4", "four"), chat::finish("cmpl_4", "stop"), chat::done()]),
    ]);
    let mut client = open(&place, &model);
    client.say("1", "first");
    client.until("1", "task_complete");
    client.say("2", "second");
    client.until("2", "exec_command_begin");
    client.interrupt();
    client.until("2", "error");
    client.say("3", "third");
    client.until("3", "task_complete");
    client.say_with("4", "fourth", &json!({ "last_response_id": "cmpl_1" }));
    client.until("4", "task_complete");
    client.close();
    let requests = model.requests();
    let messages = requests[2].body["messages"].as_array().unwrap();
    let output = messages.iter().find(|it| it["role"] == "tool").unwrap();
    assert!(output["content"].as_str().unwrap().starts_with("aborted"));
    let messages = requests[3].body["messages"].as_array().unwrap();
    let said: Vec<&str> = messages[1..].iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["first", "one", "fourth"]);
}
