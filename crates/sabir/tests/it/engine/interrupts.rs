//! Interrupts: `interrupted` under the task's id, whatever the task was doing, and nothing left.

use expect_test::expect;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::json;

use super::client::Client;
use super::place::{Place, check_requests, output_of, runs, says, wait_for_file, wait_until_gone};

#[test]
fn while_the_model_streams_its_connection_is_closed() {
    let place = Place::new();
    let model = FakeModel::start([
        Reply::sse([responses::text_delta("I was about to")]).then_hold_open(),
        says("resp_2", "hi"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "agent_message_delta");
    client.interrupt();
    assert_eq!(client.until("1", "error")["msg"]["message"], "interrupted");
    model.wait_for_close(0);
    client.say("2", "again");
    client.until("2", "task_complete");
    client.close();
    expect![[r#"
        c session_configured
        1 task_started
        1 turn_aborted reason="interrupted"
        1 error message="interrupted"
        2 task_started
        2 agent_message message="hi"
        2 turn_complete response_id="resp_2"
        2 task_complete
    "#]]
    .assert_eq(&client.transcript());
}

#[test]
fn before_the_model_has_answered_at_all() {
    let place = Place::new();
    let gate = Gate::new();
    let model = FakeModel::start([Reply::sse([""; 0]).then_wait(&gate)]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    model.wait_for_request(0);
    client.interrupt();
    assert_eq!(client.until("1", "error")["msg"]["message"], "interrupted");
    model.wait_for_close(0);
    client.close();
}

#[test]
fn while_an_approval_waits() {
    let place = Place::new();
    let model =
        FakeModel::start([runs("resp_1", "call_1", &["rm", "-rf", "x"]), says("resp_2", "hi")]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    client.interrupt();
    assert_eq!(client.until("1", "error")["msg"]["message"], "interrupted");
    // The answer comes too late.
    client.decide("2", "call_1", "approved");
    client.until("2", "error");
    client.say("3", "again");
    client.until("3", "task_complete");
    client.close();
    assert!(client.all_of("exec_command_begin").is_empty());
    assert_eq!(output_of(&model.requests()[1], "call_1"), "aborted");
    check_requests(&model);
}

#[test]
fn while_the_engine_waits_to_ask_again() {
    let place = Place::new();
    let slow = Reply::error(429, "rate_limit_exceeded", "slow").header("Retry-After", "100");
    let model = FakeModel::start([slow]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "stream_error");
    client.interrupt();
    assert_eq!(client.until("1", "error")["msg"]["message"], "interrupted");
    client.close();
}

#[test]
fn while_a_command_runs_all_its_processes_end() {
    let place = Place::new();
    // In the sandbox a process sees another number of itself than we do; outside it is the same.
    let script = "(setsid sleep 1000 & echo $! > pid1); sleep 1000 & echo $! > pid2; wait";
    let model =
        FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script]), says("resp_2", "hi")]);
    let settings = json!({
        "approval_policy": "never",
        "sandbox_policy": { "mode": "danger-full-access" },
    });
    let mut client = Client::open_with(&place, &model, &settings);
    client.say("1", "go");
    let first = wait_for_file(&place.work.join("pid1"));
    let second = wait_for_file(&place.work.join("pid2"));
    client.interrupt();
    assert_eq!(client.until("1", "error")["msg"]["message"], "interrupted");
    wait_until_gone(&first);
    wait_until_gone(&second);
    client.say("2", "again");
    client.until("2", "task_complete");
    assert!(output_of(&model.requests()[1], "call_1").starts_with("aborted"));
    assert!(client.all_of("task_complete").iter().all(|event| event["id"] == "2"));
    client.close();
}

#[test]
fn when_nothing_runs_nothing_breaks() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "hi")]);
    let mut client = Client::open(&place, &model);
    let said = client.ask(&json!({ "type": "interrupt" }));
    assert_eq!(said["msg"]["type"], "warning");
    client.say("1", "go");
    client.until("1", "task_complete");
    client.close();
}

/// Who replaces a task and then interrupts means the new one too.
#[test]
fn right_after_a_replacement_the_replacement_ends_too() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["sleep", "1000"]),
        says("resp_2", "a third one"),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "exec_command_begin");
    client.say("2", "something else");
    client.interrupt();
    assert_eq!(client.until("2", "error")["msg"]["message"], "interrupted");
    client.say("3", "something else again");
    client.until("3", "task_complete");
    client.close();
    model.assert_done();
    check_requests(&model);
}
