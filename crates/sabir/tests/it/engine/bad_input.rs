//! Input that nobody should send: each piece gets its error event, and the session goes on.

use expect_test::expect;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::json;

use super::client::{Client, settings_for};
use super::place::{Place, says};

#[test]
fn what_cannot_be_read_is_answered_and_the_session_goes_on() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "still here")]);
    let mut client = Client::start(&place);
    // Some systems write a mark in front of UTF-8: once it says nothing, later it is no JSON.
    let marked = "\u{FEFF}{\"id\":\"marked\",\"op\":{\"type\":\"interrupt\"}}";
    client.send_line(marked.as_bytes());
    client.send_line(marked.as_bytes());
    client.say("early", "before configure");
    client.decide("early too", "call_1", "approved");
    client.until("early too", "error");
    client.configure("c", &settings_for(&place, &model, &json!({})));
    let bad: [&[u8]; 12] = [
        b"{\"id\":\"1\",\"op\":{\"type\":\"user_inp",
        b"hello",
        b"[]",
        b"{}",
        b"",
        b"{\"id\":\"2\"}",
        b"{\"id\":3,\"op\":{\"type\":\"interrupt\"}}",
        b"{\"id\":\"4\",\"op\":{\"type\":\"make_coffee\"}}",
        b"{\"id\":\"5\",\"op\":{\"type\":\"user_input\",\"items\":\"text\"}}",
        b"{\"id\":\"6\",\"op\":{\"type\":\"user_input\",\"items\":[]}}",
        b"{\"id\":\"7\",\"op\":{\"type\":\"interrupt \xff\xfe\"}}",
        b"{\"id\":\"8\",\"op\":{\"type\":\"exec_approval\",\"call_id\":\"none\",\"decision\":\"approved\"}}",
    ];
    for line in bad {
        client.send_line(line);
    }
    client.say_with("9", "x", &json!({ "last_response_id": "resp_unknown" }));
    client.send("10", &json!({ "type": "revoke_approval", "approval_id": "a1" }));
    client.send("11", &json!({ "type": "configure_session", "session_id": "nobody" }));
    client.send("12", &json!({ "type": "configure_session", "cwd": "relative" }));
    client.send("13", &json!({ "type": "interrupt" }));
    client.say("14", "are you there?");
    client.until("14", "task_complete");
    client.close();
    let said: String = client
        .transcript()
        .lines()
        .map(|line| format!("{}\n", &line[..line.floor_char_boundary(96)]))
        .collect();
    expect![[r#"
        marked error message="no session yet: send configure_session first"
         error message="the line is not JSON: expected value at line 1 column 1"
        early error message="no session yet: send configure_session first"
        early too error message="no session yet: send configure_session first"
        c session_configured
        1 error message="the line is not JSON: EOF while parsing a string at line 1 column 32"
         error message="the line is not JSON: expected value at line 1 column 1"
         error message="the submission has no id: it wants {\"id\":\"1\",\"op\":{...}}"
         error message="the submission has no id: it wants {\"id\":\"1\",\"op\":{...}}"
        2 error message="the submission has no op with a type"
         error message="the id of a submission must be a string"
        4 error message="the op \"make_coffee\" cannot be read: unknown variant `make_coffee`, expected 
        5 error message="the op \"user_input\" cannot be read: invalid type: string \"text\", expected a
        6 error message="user_input says nothing: give it items with text"
        7 error message="the line is not UTF-8, from byte 34 on"
        8 error message="no approval is waited for under the call \"none\""
        9 error message="no response \"resp_unknown\" is known here: turn_complete names those that are"
        10 error message="nothing was approved under \"a1\": list_approvals shows what was"
        11 error message="no session nobody is stored here: `sabir sessions` lists those that are"
        12 error message="cwd must be absolute, and relative is not"
        13 warning message="no task is running: nothing was interrupted"
        14 task_started
        14 agent_message message="still here"
        14 turn_complete response_id="resp_1"
        14 task_complete
    "#]].assert_eq(&said);
}

/// A misspelled setting could be the one that was meant to keep something safe.
#[test]
fn names_that_nobody_reads_are_warned_about() {
    let place = Place::new();
    let model = FakeModel::start([]);
    let mut client = Client::start(&place);
    let mut settings = settings_for(&place, &model, &json!({}));
    settings["sandbox"] = json!("read-only");
    client.configure("c", &settings);
    let warned = client.all_of("warning")[0]["msg"]["message"].as_str().unwrap();
    assert!(warned.contains("op.sandbox"), "{warned}");
    client.close();
}

/// A line is read in pieces, so that its length costs nothing.
#[test]
fn a_line_of_100_megabytes_is_passed_over_in_bounded_memory() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "still here")]);
    let mut client = Client::open(&place, &model);
    let before = client.most_memory_kib();
    client.send_line(vec![b'x'; 100 * 1024 * 1024]);
    let refused = client.until("", "error");
    assert!(refused["msg"]["message"].as_str().unwrap().contains("longer than"));
    // Once more, as JSON that would be fine if it were shorter.
    let text = "y".repeat(100 * 1024 * 1024);
    client.say("long", &text);
    client.until("", "error");
    let grown = client.most_memory_kib() - before;
    assert!(grown < 60 * 1024, "the program grew by {grown} KiB");
    client.say("1", "are you there?");
    client.until("1", "task_complete");
    client.close();
}

/// Garbage between two submissions of a running task does not disturb it.
#[test]
fn a_running_task_does_not_mind() {
    let place = Place::new();
    let gate = Gate::new();
    let reply = Reply::sse([responses::text_delta("a")])
        .then_wait(&gate)
        .then(responses::message("a") + &responses::completed("resp_1"));
    let model = FakeModel::start([reply]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "agent_message_delta");
    client.send_line("\x00\x01}{");
    client.until("", "error");
    client.decide("2", "call_9", "approved");
    client.until("2", "error");
    gate.open();
    client.until("1", "task_complete");
    client.close();
}
