//! The two sequence diagrams of the specification, event for event.

use expect_test::expect;
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;

use super::client::Client;
use super::place::{Place, calls, check_requests, items, output_of, runs, says};

/// "Basic UI Flow": the first command is one that on-request must ask for, the patch is not.
#[test]
fn a_single_input_followed_by_a_task_with_a_command_and_a_patch() {
    let place = Place::new();
    place.write("old.txt", "old\n");
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-rf", "old.txt"]),
        calls("resp_2", "call_2", "apply_patch", &json!({ "input": patch })),
        says("resp_3", "All done."),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "replace the file");
    let asked = client.until("1", "exec_approval_request");
    assert_eq!(asked["msg"]["command"], json!(["rm", "-rf", "old.txt"]));
    assert_eq!(asked["msg"]["cwd"], json!(place.work));
    assert!(asked["msg"]["reason"].is_string());
    // Nothing has happened yet.
    assert_eq!((place.read("old.txt").as_str(), model.requests().len()), ("old\n", 1));
    client.decide("2", "call_1", "approved");
    client.until("1", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        1 exec_approval_request call_id="call_1"
        1 exec_command_begin call_id="call_1"
        1 exec_command_end call_id="call_1" exit_code=0
        1 turn_complete response_id="resp_1"
        1 patch_apply_begin call_id="call_2"
        1 patch_apply_end call_id="call_2" success=true message="Success. Updated the following files:\nA new.txt\n"
        1 turn_complete response_id="resp_2"
        1 agent_message message="All done."
        1 turn_complete response_id="resp_3"
        1 task_complete
    "#]]
    .assert_eq(&client.transcript());
    assert!(!place.work.join("old.txt").exists());
    assert_eq!(place.read("new.txt"), "new\n");
    let begin = client.all_of("patch_apply_begin")[0];
    assert_eq!(begin["msg"]["changes"]["new.txt"], json!({ "add": { "content": "new\n" } }));
    let count = &client.all_of("token_count")[0]["msg"];
    assert_eq!(
        (&count["input"], &count["cached"], &count["output"]),
        (&json!(10), &json!(0), &json!(5))
    );
    model.assert_done();
    check_requests(&model);
    let requests = model.requests();
    assert_eq!(requests[0].path, "/v1/responses");
    assert_eq!(items(&requests[0]), ["user: replace the file"]);
    assert!(output_of(&requests[1], "call_1").contains('0'), "{:#}", requests[1].body);
    assert!(output_of(&requests[2], "call_2").contains("Success"), "{:#}", requests[2].body);
}

/// "Task Interrupt": the second command is interrupted, and the thread goes on from the last turn
/// that was complete.
#[test]
fn interrupting_a_task_and_continuing_with_additional_input() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["echo", "first"]),
        runs("resp_2", "call_2", &["sleep", "1000"]),
        runs("resp_3", "call_3", &["echo", "third"]),
        says("resp_4", "Finished."),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "begin");
    client.wait("the second command", |event| {
        event["msg"]["type"] == "exec_command_begin" && event["msg"]["call_id"] == "call_2"
    });
    client.interrupt();
    assert_eq!(client.until("1", "error")["msg"]["message"], "interrupted");
    client.say_with("2", "go on", &json!({ "last_response_id": "resp_1" }));
    client.until("2", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        1 exec_command_begin call_id="call_1"
        1 exec_command_end call_id="call_1" exit_code=0
        1 turn_complete response_id="resp_1"
        1 exec_command_begin call_id="call_2"
        1 exec_command_end call_id="call_2" exit_code=130
        1 turn_aborted reason="interrupted"
        1 error message="interrupted"
        2 task_started
        2 exec_command_begin call_id="call_3"
        2 exec_command_end call_id="call_3" exit_code=0
        2 turn_complete response_id="resp_3"
        2 agent_message message="Finished."
        2 turn_complete response_id="resp_4"
        2 task_complete
    "#]]
    .assert_eq(&client.transcript());
    model.assert_done();
    check_requests(&model);
    // The fork carries nothing that is later than its point.
    let asked = items(&model.requests()[2]);
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert_eq!((asked[0].as_str(), asked[3].as_str()), ("user: begin", "user: go on"));
    assert!(output_of(&model.requests()[2], "call_1").contains("first"));
}

/// What streams is shown as it comes, and thoughts are no answers.
#[test]
fn deltas_thoughts_and_plans_are_shown() {
    let place = Place::new();
    let plan = json!({ "plan": [{ "step": "look", "status": "in_progress" }] });
    let model = FakeModel::start([
        Reply::sse([
            responses::created("resp_1"),
            responses::reasoning("Hm."),
            responses::call("call_1", "update_plan", &plan),
            responses::completed("resp_1"),
        ]),
        Reply::sse([
            responses::text_delta("Yes, "),
            responses::text_delta("sir"),
            responses::item(&json!({ "type": "message", "role": "assistant",
                "content": [{ "type": "output_text", "text": "Yes, sir" }] })),
            responses::completed("resp_2"),
        ]),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "hello");
    let end = client.until("1", "task_complete");
    assert_eq!(end["msg"]["last_agent_message"], "Yes, sir");
    let deltas = client.all_of("agent_message_delta");
    let deltas: Vec<&str> = deltas.iter().map(|it| it["msg"]["delta"].as_str().unwrap()).collect();
    assert_eq!(deltas, ["Yes, ", "sir"]);
    assert_eq!(client.all_of("agent_reasoning_delta").len(), 1);
    assert_eq!(client.all_of("agent_reasoning")[0]["msg"]["text"], "Hm.");
    assert_eq!(client.all_of("plan_update")[0]["msg"]["plan"], plan["plan"]);
    // A model needs its own thoughts to go on.
    let asked = model.requests()[1].body["input"].clone();
    assert_eq!(asked[1]["encrypted_content"], "b3BhcXVl");
    client.close();
}
