//! The ops beside the spec's own: shell, undo, review, compact, lists, settings for the next turn.

use sabir_testkit::fake_model::FakeModel;
use serde_json::{Value, json};

use super::client::Client;
use super::place::{Place, calls, check_requests, items, runs, says};

#[test]
fn a_persons_own_command_needs_no_model_and_no_approval() {
    let place = Place::new();
    place.write("a", "x\n");
    let model = FakeModel::start([says("resp_1", "I see.")]);
    let mut client = Client::open_with(&place, &model, &json!({ "approval_policy": "untrusted" }));
    client
        .send("1", &json!({ "type": "run_user_shell_command", "command": "rm -rf a; echo gone" }));
    client.until("1", "task_started");
    let end = client.until("1", "exec_command_end");
    assert_eq!((&end["msg"]["exit_code"], &end["msg"]["stdout"]), (&json!(0), &json!("gone\n")));
    client.until("1", "task_complete");
    assert!(model.requests().is_empty() && !place.work.join("a").exists());
    // The model learns of it with the next input.
    client.say("2", "what did I do?");
    client.until("2", "task_complete");
    assert!(items(&model.requests()[0])[0].contains("rm -rf a; echo gone"));
    client.close();
}

#[test]
fn undo_takes_back_the_patches_of_the_last_task() {
    let place = Place::new();
    place.write("a.txt", "one\n");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: b.txt\n+b\n*** End Patch\n";
    let model = FakeModel::start([
        calls("resp_1", "call_1", "apply_patch", &json!({ "input": patch })),
        says("resp_2", "ok"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "turn_diff");
    client.until("1", "task_complete");
    assert_eq!((place.read("a.txt").as_str(), place.read("b.txt").as_str()), ("two\n", "b\n"));
    client.send("2", &json!({ "type": "undo" }));
    client.until("2", "task_complete");
    assert_eq!(place.read("a.txt"), "one\n");
    assert!(!place.work.join("b.txt").exists());
    client.send("3", &json!({ "type": "undo" }));
    client.until("3", "error");
    client.close();
}

#[test]
fn a_review_stands_beside_the_thread() {
    let place = Place::new();
    let model = FakeModel::start([
        says("resp_1", "one"),
        runs("resp_2", "call_2", &["echo", "diff"]),
        says("resp_3", "No faults."),
        says("resp_4", "four"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "task_complete");
    client.send("2", &json!({ "type": "review", "prompt": "mind the locks" }));
    client.until("2", "task_complete");
    assert!(items(&model.requests()[1]).last().unwrap().contains("mind the locks"));
    client.say("3", "third");
    client.until("3", "task_complete");
    let asked = items(&model.requests()[3]);
    assert!(asked.contains(&"assistant: No faults.".to_owned()), "{asked:?}");
    assert!(!asked.contains(&"call call_2".to_owned()), "{asked:?}");
    client.close();
    check_requests(&model);
}

#[test]
fn compact_replaces_the_thread_and_keeps_what_the_user_said() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["echo", "a long output"]),
        says("resp_2", "one"),
        says("resp_3", "SUMMARY"),
        says("resp_4", "four"),
        says("resp_5", "five"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "first");
    client.until("1", "task_complete");
    client.send("2", &json!({ "type": "compact" }));
    client.until("2", "task_complete");
    client.say("3", "third");
    client.until("3", "task_complete");
    let asked = items(&model.requests()[3]);
    assert!(
        asked[0].contains("first") && asked.iter().any(|it| it.contains("SUMMARY")),
        "{asked:?}"
    );
    assert!(!asked.iter().any(|it| it.contains("a long output")), "{asked:?}");
    // A UI that always names the last response does not get the long thread back.
    client.say_with("4", "fourth", &json!({ "last_response_id": "resp_2" }));
    client.until("4", "task_complete");
    let asked = items(&model.requests()[4]);
    assert!(asked.iter().any(|it| it.contains("SUMMARY")), "{asked:?}");
    assert!(!asked.iter().any(|it| it.contains("third")), "{asked:?}");
    client.close();
}

#[test]
fn settings_of_the_next_turn_are_checked_and_used() {
    let place = Place::new();
    std::fs::create_dir(place.work.join("sub")).unwrap();
    let model = FakeModel::start([runs("resp_1", "call_1", &["pwd"]), says("resp_2", "ok")]);
    let mut client = Client::open(&place, &model);
    let set = |cwd: &Value| json!({ "type": "override_turn_context", "cwd": cwd, "model": "n" });
    assert_eq!(client.ask(&set(&json!("relative")))["msg"]["type"], "error");
    assert_eq!(client.ask(&set(&json!("/does/not/exist")))["msg"]["type"], "error");
    let sub = place.work.join("sub");
    assert_eq!(client.ask(&set(&json!(sub)))["msg"]["type"], "background_event");
    client.say("1", "go");
    let end = client.until("1", "exec_command_end");
    assert_eq!(end["msg"]["stdout"].as_str().unwrap().trim_end(), sub.to_str().unwrap());
    client.until("1", "task_complete");
    assert_eq!(model.requests()[0].body["model"], "n");
    client.close();
}

#[test]
fn tools_are_listed_as_the_model_sees_them() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "hi")]);
    let mut client = Client::open(&place, &model);
    let listed = client.ask(&json!({ "type": "list_tools" }));
    client.say("1", "go");
    client.until("1", "task_complete");
    client.close();
    let names = |tools: &Value| -> Vec<Value> {
        tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
    };
    assert_eq!(names(&listed["msg"]["tools"]), names(&model.requests()[0].body["tools"]));
    let tools = listed["msg"]["tools"].as_array().unwrap();
    let shell = tools.iter().find(|tool| tool["name"] == "shell").unwrap();
    for name in ["command", "workdir", "timeout_ms", "with_escalated_permissions", "justification"]
    {
        assert!(shell["parameters"]["properties"][name].is_object(), "{name}");
    }
}
