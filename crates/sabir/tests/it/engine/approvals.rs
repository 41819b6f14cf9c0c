//! Approvals: several at once, for the session, taken back, late, and when nobody answers.

use expect_test::expect;
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::client::Client;
use super::place::{Place, calls, check_requests, output_of, runs, says};

fn remove(name: &str) -> Value {
    json!({ "command": ["rm", "-f", name] })
}

#[test]
fn two_approvals_wait_at_once_and_are_answered_in_reverse_order() {
    let place = Place::new();
    place.write("a", "a\n");
    place.write("b", "b\n");
    let model = FakeModel::start([
        Reply::sse([
            responses::call("call_a", "shell", &remove("a")),
            responses::call("call_b", "shell", &remove("b")),
            responses::completed("resp_1"),
        ]),
        says("resp_2", "b is gone."),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "clean up");
    client.until("1", "exec_approval_request");
    client.until("1", "exec_approval_request");
    client.decide("2", "call_b", "approved");
    client.until("1", "exec_command_end");
    assert!(place.work.join("a").exists() && !place.work.join("b").exists());
    client.decide("3", "call_a", "denied");
    client.until("1", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        1 exec_approval_request call_id="call_a"
        1 exec_approval_request call_id="call_b"
        1 exec_command_begin call_id="call_b"
        1 exec_command_end call_id="call_b" exit_code=0
        1 turn_complete response_id="resp_1"
        1 agent_message message="b is gone."
        1 turn_complete response_id="resp_2"
        1 task_complete
    "#]]
    .assert_eq(&client.transcript());
    assert!(place.work.join("a").exists());
    assert!(output_of(&model.requests()[1], "call_a").contains("rejected"));
    check_requests(&model);
}

#[test]
fn what_is_approved_for_the_session_is_listed_and_can_be_revoked() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-f", "a"]),
        runs("resp_2", "call_2", &["rm", "-f", "a"]),
        runs("resp_3", "call_3", &["rm", "-f", "b"]),
        says("resp_4", "ok"),
        runs("resp_5", "call_5", &["rm", "-f", "a"]),
        says("resp_6", "ok"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    let asked = client.until("1", "exec_approval_request");
    let scope = asked["msg"]["session_scope"].as_str().unwrap();
    assert!(scope.contains("rm -f a"), "{scope}");
    client.decide("2", "call_1", "approved_for_session");
    // The same command is not asked for again; another one is.
    let asked = client.until("1", "exec_approval_request");
    assert_eq!(asked["msg"]["call_id"], "call_3");
    assert_eq!(client.all_of("exec_command_end").len(), 2);
    client.decide("3", "call_3", "denied");
    client.until("1", "task_complete");

    let listed = client.ask(&json!({ "type": "list_approvals" }));
    let approvals = listed["msg"]["approvals"].as_array().unwrap();
    assert_eq!(approvals.len(), 1);
    assert_eq!(approvals[0]["covers"], scope);
    let revoke = json!({ "type": "revoke_approval", "approval_id": approvals[0]["approval_id"] });
    assert_eq!(client.ask(&revoke)["msg"]["approvals"], json!([]));
    // Once is enough.
    assert_eq!(client.ask(&revoke)["msg"]["type"], "error");

    client.say("4", "again");
    client.until("4", "exec_approval_request");
    client.decide("5", "call_5", "denied");
    client.until("4", "task_complete");
    client.close();
}

#[test]
fn a_prefix_covers_what_begins_with_it() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["touch", "a"]),
        runs("resp_2", "call_2", &["touch", "b"]),
        says("resp_3", "ok"),
    ]);
    let mut client = Client::open_with(&place, &model, &json!({ "approval_policy": "untrusted" }));
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    let approve = |prefix: &[&str]| {
        json!({ "type": "exec_approval", "call_id": "call_1",
                "decision": "approved_for_session", "prefix": prefix })
    };
    // A prefix of something else is refused, and the question stands.
    assert_eq!(client.ask(&approve(&["ls"]))["msg"]["type"], "error");
    client.send("2", &approve(&["touch"]));
    client.until("1", "task_complete");
    assert_eq!(client.all_of("exec_approval_request").len(), 1);
    assert_eq!(client.all_of("exec_command_end").len(), 2);
    client.close();
}

#[test]
fn when_nobody_answers_in_time_the_model_is_told_so() {
    let place = Place::new();
    place.write("a", "a\n");
    let model =
        FakeModel::start([runs("resp_1", "call_1", &["rm", "-f", "a"]), says("resp_2", "I see.")]);
    let mut client = Client::open_with(&place, &model, &json!({ "approval_timeout_ms": 50 }));
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    client.until("1", "task_complete");
    // The person can see it too.
    let warned = client.all_of("warning")[0]["msg"]["message"].as_str().unwrap();
    assert!(warned.contains("nobody answered"), "{warned}");
    let told = output_of(&model.requests()[1], "call_1");
    assert!(told.contains("denied: nobody answered") && told.contains("0.05 s"), "{told}");
    assert!(place.work.join("a").exists());
    // Too late.
    client.decide("2", "call_1", "approved");
    client.until("2", "error");
    client.close();
    assert!(place.work.join("a").exists());
}

#[test]
fn an_answer_that_is_late_repeated_or_of_the_wrong_kind_is_an_error() {
    let place = Place::new();
    let model =
        FakeModel::start([runs("resp_1", "call_1", &["rm", "-f", "a"]), says("resp_2", "ok")]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    let patch = json!({ "type": "patch_approval", "call_id": "call_1", "decision": "approved" });
    assert_eq!(client.ask(&patch)["msg"]["type"], "error");
    client.decide("2", "call_1", "approved");
    client.decide("3", "call_1", "approved");
    let refused = client.until("3", "error");
    assert!(refused["msg"]["message"].as_str().unwrap().contains("call_1"));
    client.until("1", "task_complete");
    client.decide("4", "call_1", "approved");
    client.until("4", "error");
    assert_eq!(client.all_of("exec_command_begin").len(), 1);
    client.close();
}

#[test]
fn abort_ends_the_task_and_denied_does_not() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-f", "a"]),
        says("resp_2", "a new one"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    client.decide("2", "call_1", "abort");
    assert_eq!(client.until_over("1")["msg"]["message"], "interrupted");
    client.say("3", "again");
    client.until("3", "task_complete");
    assert_eq!(output_of(&model.requests()[1], "call_1"), "aborted");
    client.close();
}

#[test]
fn patches_outside_the_roots_are_asked_for() {
    let place = Place::new();
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let model = FakeModel::start([
        calls("resp_1", "call_1", "apply_patch", &json!({ "input": patch })),
        says("resp_2", "ok"),
    ]);
    let settings =
        json!({ "approval_policy": "untrusted", "sandbox_policy": { "mode": "read-only" } });
    let mut client = Client::open_with(&place, &model, &settings);
    client.say("1", "go");
    let asked = client.until("1", "apply_patch_approval_request");
    assert_eq!(asked["msg"]["changes"]["new.txt"]["add"]["content"], "new\n");
    client.send(
        "2",
        &json!({ "type": "patch_approval", "call_id": "call_1", "decision": "approved" }),
    );
    client.until("1", "task_complete");
    assert_eq!(place.read("new.txt"), "new\n");
    client.close();
}

/// The model asks by saying so, and its words are shown.
#[test]
fn escalation_is_asked_for_with_the_models_words() {
    let place = Place::new();
    let escalated = json!({
        "command": ["sh", "-c", "echo out > ../outside.txt"],
        "with_escalated_permissions": true,
        "justification": "the result belongs there",
    });
    let model =
        FakeModel::start([calls("resp_1", "call_1", "shell", &escalated), says("resp_2", "ok")]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    let asked = client.until("1", "exec_approval_request");
    let reason = asked["msg"]["reason"].as_str().unwrap();
    assert!(reason.contains("the result belongs there"), "{reason}");
    client.decide("2", "call_1", "approved");
    client.until("1", "task_complete");
    assert_eq!(place.read("../outside.txt"), "out\n");
    client.close();
}
