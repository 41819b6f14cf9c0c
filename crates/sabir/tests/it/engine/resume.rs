//! Sessions outlive their process, whatever ended it.

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;

use super::client::{Client, settings_for};
use super::place::{
    Place, check_requests, in_short, items, once, output_of, runs, says, wait_for_file,
    wait_until_gone,
};

#[test]
fn a_session_goes_on_in_another_process() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["echo", "one"]),
        says("resp_2", "two"),
        says("resp_3", "three"),
        says("resp_4", "four"),
    ]);
    let mut client = Client::start(&place);
    let id = client.configure("c", &settings_for(&place, &model, &json!({})));
    client.say("1", "first");
    client.until("1", "task_complete");
    client.close();

    // Everything that is not said is as it was.
    let mut client = Client::start(&place);
    assert_eq!(client.configure("again", &json!({ "session_id": id })), id);
    let configured = &client.seen.last().unwrap()["msg"];
    assert_eq!((&configured["model"], &configured["cwd"]), (&json!("m"), &json!(place.work)));
    let history = client.ask(&json!({ "type": "get_history" }));
    let held = history["msg"]["items"].as_array().unwrap();
    let held: Vec<String> = held.iter().map(in_short).collect();
    assert_eq!(
        (held[0].as_str(), held.last().unwrap().as_str()),
        ("user: first", "assistant: two")
    );
    client.say("2", "second");
    client.until("2", "task_complete");
    assert_eq!(items(&model.requests()[2])[..held.len()], held);
    // A fork to before the restart.
    client.say_with("3", "third", &json!({ "last_response_id": "resp_1" }));
    client.until("3", "task_complete");
    assert_eq!(items(&model.requests()[3]).len(), 4);
    client.close();
    check_requests(&model);
}

/// A response of one session can be continued from in another.
#[test]
fn a_response_of_another_session_can_be_continued() {
    let place = Place::new();
    let model =
        FakeModel::start([says("resp_1", "one"), says("resp_2", "two"), says("resp_3", "three")]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "task_complete");
    client.close();
    let mut client = Client::open(&place, &model);
    client.say_with("1", "second", &json!({ "last_response_id": "resp_1" }));
    client.until("1", "task_complete");
    assert_eq!(items(&model.requests()[1]), ["user: first", "assistant: one", "user: second"]);
    client.say("2", "third");
    client.until("2", "task_complete");
    assert_eq!(items(&model.requests()[2]).len(), 5);
    client.close();
}

#[test]
fn after_kill_9_an_open_call_is_aborted_and_not_run_again() {
    let place = Place::new();
    let command = once("ran.txt", "setsid sleep 1000 & echo $! > pid; wait");
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["echo", "fine"]),
        runs("resp_2", "call_2", &command),
        says("resp_3", "It was aborted."),
    ]);
    let mut client = Client::start(&place);
    let settings = json!({
        "approval_policy": "never",
        "sandbox_policy": { "mode": "danger-full-access" },
    });
    let id = client.configure("c", &settings_for(&place, &model, &settings));
    client.say("1", "go");
    let pid = wait_for_file(&place.work.join("pid"));
    client.wait("the second command", |event| event["msg"]["call_id"] == "call_2");
    client.kill();
    // No orphan survives.
    wait_until_gone(&pid);

    let listed = place.run(&["sessions", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed[0]["id"], json!(id));
    assert_eq!(listed[0]["last_response_id"], "resp_1");

    let mut client = Client::start(&place);
    client.configure("c", &json!({ "session_id": id }));
    client.say("2", "what happened?");
    client.until("2", "task_complete");
    client.close();
    let last = &model.requests()[2];
    assert!(output_of(last, "call_1").contains("fine"));
    assert_eq!(output_of(last, "call_2"), "aborted");
    assert_eq!(place.read("ran.txt"), "ran\n");
    check_requests(&model);
    model.assert_done();
}

#[test]
fn after_kill_9_an_open_question_is_aborted() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-f", "a"]),
        says("resp_2", "never mind"),
    ]);
    let mut client = Client::start(&place);
    let id = client.configure("c", &settings_for(&place, &model, &json!({})));
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    client.kill();
    let mut client = Client::start(&place);
    client.configure("c", &json!({ "session_id": id }));
    client.decide("2", "call_1", "approved");
    client.until("2", "error");
    client.say("3", "again");
    client.until("3", "task_complete");
    assert_eq!(output_of(&model.requests()[1], "call_1"), "aborted");
    client.close();
}

/// What was approved for the session is part of it.
#[test]
fn approvals_for_the_session_are_resumed_with_it() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-f", "a"]),
        says("resp_2", "ok"),
        runs("resp_3", "call_3", &["rm", "-f", "a"]),
        says("resp_4", "ok"),
    ]);
    let mut client = Client::start(&place);
    let id = client.configure("c", &settings_for(&place, &model, &json!({})));
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    client.decide("2", "call_1", "approved_for_session");
    client.until("1", "task_complete");
    client.kill();
    let mut client = Client::start(&place);
    client.configure("c", &json!({ "session_id": id }));
    let listed = client.ask(&json!({ "type": "list_approvals" }));
    assert_eq!(listed["msg"]["approvals"].as_array().unwrap().len(), 1);
    client.say("1", "go");
    client.until("1", "task_complete");
    assert!(client.all_of("exec_approval_request").is_empty());
    client.close();
}

#[test]
fn the_words_of_an_interrupted_answer_are_no_part_of_the_thread_unless_whole() {
    let place = Place::new();
    let model = FakeModel::start([
        Reply::sse([responses::message("whole"), responses::text_delta("half")]).then_hold_open(),
        says("resp_2", "ok"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "agent_message");
    client.until("1", "agent_message_delta");
    client.interrupt();
    client.until("1", "error");
    client.say("2", "again");
    client.until("2", "task_complete");
    assert_eq!(items(&model.requests()[1]), ["user: go", "assistant: whole", "user: again"]);
    client.close();
}

/// QP-S2, QP-S4: what a person wrote into the settings is not lost because something else changes.
#[test]
fn settings_that_are_not_named_stay() {
    let place = Place::new();
    let model = FakeModel::start([
        says("resp_1", "one"),
        says("resp_2", "two"),
        says("resp_3", "three"),
        says("resp_4", "four"),
    ]);
    let other = place.work.join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("AGENTS.md"), "Use spaces.").unwrap();
    place.write("AGENTS.md", "Use tabs.");
    let mut client = Client::start(&place);
    let settings = settings_for(&place, &model, &json!({ "instructions": "Speak Latin." }));
    let id = client.configure("c", &settings);
    let told = |number: usize| model.requests()[number].body["instructions"].to_string();
    client.say("1", "one");
    client.until("1", "task_complete");
    assert!(told(0).contains("Speak Latin.") && told(0).contains("Use tabs."), "{}", told(0));

    // Of the provider, too, only what is named changes.
    client.configure("d", &json!({ "model": "n", "provider": { "stream_max_retries": 1 } }));
    client.say("2", "two");
    client.until("2", "task_complete");
    assert!(told(1).contains("Speak Latin."), "{}", told(1));

    client.send("o", &json!({ "type": "override_turn_context", "cwd": other }));
    client.say("3", "three");
    client.until("3", "task_complete");
    let moved = told(2);
    assert!(moved.contains("Speak Latin.") && moved.contains("Use spaces."), "{moved}");
    assert!(moved.contains(other.to_str().unwrap()) && !moved.contains("Use tabs."), "{moved}");
    client.close();

    let mut client = Client::start(&place);
    client.configure("again", &json!({ "session_id": id, "model": "m" }));
    client.say("4", "four");
    client.until("4", "task_complete");
    client.close();
    assert_eq!(told(3), moved);
    check_requests(&model);
}
