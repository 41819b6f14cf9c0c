//! One task at a time: what input does while one runs, and where the thread goes on.

use expect_test::expect;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::json;

use super::client::{Client, settings_for};
use super::place::{Place, calls, check_requests, items, output_of, runs, says};

/// A response that waits in the middle.
fn gated(response_id: &str, text: &str, gate: &Gate) -> Reply {
    Reply::sse([responses::text_delta(text)])
        .then_wait(gate)
        .then(responses::message(text) + &responses::completed(response_id))
}

#[test]
fn input_replaces_the_running_task() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["sleep", "1000"]),
        says("resp_2", "the second"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "exec_command_begin");
    client.say("2", "second");
    client.until("2", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        1 exec_command_begin call_id="call_1"
        1 exec_command_end call_id="call_1" exit_code=130
        1 turn_aborted reason="replaced"
        2 task_started
        2 agent_message message="the second"
        2 turn_complete response_id="resp_2"
        2 task_complete
    "#]]
    .assert_eq(&client.transcript());
    assert!(output_of(&model.requests()[1], "call_1").starts_with("aborted"));
    check_requests(&model);
}

#[test]
fn steer_joins_the_running_task_also_during_its_last_answer() {
    let place = Place::new();
    let gate = Gate::new();
    let model = FakeModel::start([gated("resp_1", "Done.", &gate), says("resp_2", "That too.")]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "agent_message_delta");
    client.say_with("2", "and this", &json!({ "mode": "steer" }));
    // The engine has read it when it answers what was sent behind it.
    client.ask(&json!({ "type": "list_approvals" }));
    gate.open();
    client.until("1", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        ask-1 approvals
        1 agent_message message="Done."
        1 turn_complete response_id="resp_1"
        1 agent_message message="That too."
        1 turn_complete response_id="resp_2"
        1 task_complete
    "#]]
    .assert_eq(&client.transcript());
    assert_eq!(items(&model.requests()[1]), ["user: first", "assistant: Done.", "user: and this"]);
}

#[test]
fn steer_joins_behind_the_outputs_of_a_turn_and_starts_a_task_when_none_runs() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["bash", "-c", "until test -e go; do sleep 0.02; done"]),
        says("resp_2", "yes"),
        says("resp_3", "a task of its own"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "exec_command_begin");
    client.say_with("2", "and this", &json!({ "mode": "steer" }));
    client.ask(&json!({ "type": "list_approvals" }));
    place.write("go", "");
    client.until("1", "task_complete");
    let asked = items(&model.requests()[1]);
    assert_eq!(asked.last().unwrap(), "user: and this");
    assert!(client.seen.iter().all(|event| event["id"] != "2"));
    client.say_with("3", "more", &json!({ "mode": "steer" }));
    client.until("3", "task_started");
    client.until("3", "task_complete");
    client.close();
    check_requests(&model);
}

#[test]
fn queue_starts_after_the_running_task() {
    let place = Place::new();
    let gate = Gate::new();
    let model = FakeModel::start([
        gated("resp_1", "one", &gate),
        says("resp_2", "two"),
        says("resp_3", "three"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "agent_message_delta");
    client.say_with("2", "second", &json!({ "mode": "queue" }));
    client.say_with("3", "third", &json!({ "mode": "queue" }));
    client.ask(&json!({ "type": "list_approvals" }));
    gate.open();
    client.until("3", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        ask-1 approvals
        1 agent_message message="one"
        1 turn_complete response_id="resp_1"
        1 task_complete
        2 task_started
        2 agent_message message="two"
        2 turn_complete response_id="resp_2"
        2 task_complete
        3 task_started
        3 agent_message message="three"
        3 turn_complete response_id="resp_3"
        3 task_complete
    "#]]
    .assert_eq(&client.transcript());
}

#[test]
fn configuring_again_aborts_the_running_task_and_keeps_the_thread() {
    let place = Place::new();
    let model = FakeModel::start([
        says("resp_1", "one"),
        runs("resp_2", "call_2", &["sleep", "1000"]),
        says("resp_3", "three"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "task_complete");
    client.say("2", "second");
    client.until("2", "exec_command_begin");
    client.send("d", &json!({ "type": "configure_session", "model": "other" }));
    let again = client.until("d", "session_configured");
    assert_eq!(again["msg"]["model"], "other");
    assert_eq!(again["msg"]["session_id"], client.seen[0]["msg"]["session_id"]);
    client.say("3", "third");
    client.until("3", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        1 agent_message message="one"
        1 turn_complete response_id="resp_1"
        1 task_complete
        2 task_started
        2 exec_command_begin call_id="call_2"
        2 exec_command_end call_id="call_2" exit_code=130
        2 turn_aborted reason="reconfigured"
        d session_configured
        3 task_started
        3 agent_message message="three"
        3 turn_complete response_id="resp_3"
        3 task_complete
    "#]]
    .assert_eq(&client.transcript());
    let last = &model.requests()[2];
    assert_eq!(last.body["model"], "other");
    assert_eq!(items(last)[..2], ["user: first", "assistant: one"]);
    check_requests(&model);
}

/// What the aborted task of one session leaves must not get into the other's journal.
#[test]
fn resuming_another_session_while_a_task_runs_keeps_them_apart() {
    let place = Place::new();
    let model = FakeModel::start([
        says("resp_1", "one"),
        runs("resp_2", "call_2", &["sleep", "1000"]),
        says("resp_3", "three"),
        says("resp_4", "four"),
    ]);
    let mut client = Client::start(&place);
    let settings = settings_for(&place, &model, &json!({}));
    let first = client.configure("c", &settings);
    client.say("1", "first");
    client.until("1", "task_complete");
    client.close();

    let mut client = Client::start(&place);
    let second = client.configure("c", &settings);
    assert_ne!(first, second);
    client.say("2", "second");
    client.until("2", "exec_command_begin");
    assert_eq!(client.configure("d", &json!({ "session_id": first })), first);
    client.say("3", "third");
    client.until("3", "task_complete");
    assert_eq!(items(&model.requests()[2]), ["user: first", "assistant: one", "user: third"]);
    // And back: the call that was aborted is here, and nothing of the other.
    assert_eq!(client.configure("e", &json!({ "session_id": second })), second);
    client.say("4", "fourth");
    client.until("4", "task_complete");
    let asked = items(&model.requests()[3]);
    assert_eq!(
        (asked[0].as_str(), asked.last().unwrap().as_str()),
        ("user: second", "user: fourth")
    );
    assert!(output_of(&model.requests()[3], "call_2").starts_with("aborted"));
    client.close();
    check_requests(&model);
    let exported = place.run(&["sessions", "export", &first]).stdout;
    assert!(!exported.contains("call_2"), "{exported}");
}

#[test]
fn null_continues_the_branch_and_a_fork_carries_nothing_later() {
    let place = Place::new();
    let model = FakeModel::start([
        says("resp_1", "one"),
        runs("resp_2", "call_2", &["echo", "two"]),
        says("resp_3", "three"),
        says("resp_4", "four"),
        says("resp_5", "five"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "task_complete");
    client.say("2", "second");
    client.until("2", "task_complete");
    client.say_with("3", "from the first", &json!({ "last_response_id": "resp_1" }));
    client.until("3", "task_complete");
    client.say("4", "on the branch");
    client.until("4", "task_complete");
    let requests = model.requests();
    assert_eq!(items(&requests[3]), ["user: first", "assistant: one", "user: from the first"]);
    assert_eq!(
        items(&requests[4]),
        [
            "user: first",
            "assistant: one",
            "user: from the first",
            "assistant: four",
            "user: on the branch"
        ]
    );
    let history = client.ask(&json!({ "type": "get_history" }));
    assert_eq!(history["msg"]["type"], "history");
    assert_eq!(history["msg"]["last_response_id"], "resp_5");
    let held = history["msg"]["items"].as_array().unwrap();
    let held: Vec<String> = held.iter().map(super::place::in_short).collect();
    assert_eq!(held.len(), 6, "{held:?}");
    assert_eq!(held[5], "assistant: five");
    client.close();
    check_requests(&model);
}

#[test]
fn tools_that_read_run_and_tools_that_do_not_exist_are_named() {
    let place = Place::new();
    place.write("a.txt", "alpha\nbeta\n");
    let model = FakeModel::start([
        Reply::sse([
            responses::call("c1", "read_file", &json!({ "path": "a.txt" })),
            responses::call("c2", "search", &json!({ "pattern": "bet." })),
            responses::call("c3", "list_dir", &json!({})),
            responses::call("c4", "fly", &json!({})),
            responses::call("c5", "shell", &json!({ "command": 7 })),
            responses::completed("resp_1"),
        ]),
        says("resp_2", "ok"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "look");
    client.until("1", "task_complete");
    client.close();
    let told = &model.requests()[1];
    assert!(output_of(told, "c1").contains("alpha"));
    assert!(output_of(told, "c2").contains("beta"));
    assert!(output_of(told, "c3").contains("a.txt"));
    assert!(output_of(told, "c4").contains("no tool named"));
    assert!(output_of(told, "c5").contains("shell"));
    check_requests(&model);
}

/// Another agent has a session of its own, and only its last words come back.
#[test]
fn an_agent_gives_work_to_another() {
    let place = Place::new();
    let model = FakeModel::start([
        calls("resp_1", "call_1", "spawn_agent", &json!({ "task": "count the files" })),
        runs("resp_2", "call_2", &["ls"]),
        runs("resp_3", "call_3", &["rm", "-rf", "x"]),
        says("resp_4", "There are none."),
        says("resp_5", "None, it says."),
        says("resp_6", "Yes?"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "delegate");
    client.until("1", "task_complete");
    let messages = |kind: &str| -> Vec<String> {
        let events = client.all_of(kind);
        events.iter().map(|it| it["msg"]["message"].as_str().unwrap().to_owned()).collect()
    };
    // Who watches sees what it does, and what it was denied.
    assert_eq!(messages("background_event"), ["the other agent runs: ls"]);
    let denied = messages("warning");
    assert!(denied[0].starts_with("the other agent: rm -rf x: denied"), "{denied:?}");
    // What it cost is counted.
    let counted = client.all_of("token_count");
    assert_eq!(counted.last().unwrap()["msg"]["total"]["input"], json!(50));
    client.close();
    assert_eq!(items(&model.requests()[1]), ["user: count the files"]);
    assert_eq!(output_of(&model.requests()[4], "call_1"), "There are none.");
    check_requests(&model);
    // A person goes on with their own session, also if the other one was used last.
    let base_url = model.base_url();
    let args = ["resume", "--base-url", base_url.as_str()];
    let outcome = crate::process::finish(&mut place.command(&args), &args, "hello");
    assert_eq!(outcome.stdout, "Yes?\n", "{}", outcome.stderr);
    assert_eq!(items(&model.requests()[5])[0], "user: delegate");
}
