//! Model streams that are odd, late, broken or refused.

use std::time::Duration;

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::client::Client;
use super::place::{Place, check_requests, items, once, output_of, says};

/// Runs one task and returns the client when the task is over.
fn run(place: &Place, model: &FakeModel, provider: &Value) -> (Client, Value) {
    let mut client = Client::open_with(place, model, &json!({ "provider": provider }));
    client.say("1", "go");
    let end = client.until_over("1");
    client.close();
    (client, end["msg"].clone())
}

fn answer_of(end: &Value) -> &str {
    end["last_agent_message"].as_str().unwrap_or_else(|| panic!("the task failed: {end}"))
}

#[test]
fn whatever_the_lines_look_like_the_answer_is_the_same() {
    let plain = responses::message("hi") + &responses::completed("resp_1");
    let data_only: String = plain
        .lines()
        .filter(|line| !line.starts_with("event:"))
        .map(|line| format!("{line}\n"))
        .collect();
    let noise = "event: response.fancy_new\ndata: {\"type\":\"response.fancy_new\",\"x\":1}\n\n\
                 data: this is not JSON\n\n: a comment\n\nid: 7\nretry: 9\n\n";
    let split = "data: {\"type\":\"response.output_text.delta\",\ndata: \"delta\":\"h\"}\n\n";
    let forms = [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        format!("\u{feff}{plain}"),
        data_only,
        format!("{noise}{plain}"),
        format!("{split}{plain}"),
        format!("{plain}{noise}"),
    ];
    for (number, form) in forms.iter().enumerate() {
        for pieces in [1, 7, usize::MAX] {
            let place = Place::new();
            let model = FakeModel::start([Reply::sse([form]).in_pieces(pieces)]);
            let (_, end) =
                run(&place, &model, &json!({ "request_max_retries": 0, "stream_max_retries": 0 }));
            assert_eq!(answer_of(&end), "hi", "form {number} in pieces of {pieces}");
        }
    }
}

#[test]
fn completed_ends_the_turn_though_the_connection_stays_open() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "hi").then_hold_open()]);
    let (_, end) = run(&place, &model, &json!({}));
    assert_eq!(answer_of(&end), "hi");
    model.wait_for_close(0);
}

#[test]
fn after_429_the_servers_wait_is_kept() {
    let place = Place::new();
    let slow = Reply::error(429, "rate_limit_exceeded", "slow down").header("Retry-After", "1");
    let model = FakeModel::start([slow, says("resp_1", "hi")]);
    let (client, end) = run(&place, &model, &json!({}));
    assert_eq!(answer_of(&end), "hi");
    let shown = client.all_of("stream_error")[0]["msg"]["message"].as_str().unwrap();
    assert!(shown.contains("slow down") && shown.contains("1.0 s"), "{shown}");
    model.assert_done();
}

#[test]
fn after_too_many_500_the_task_ends_and_the_session_does_not() {
    let place = Place::new();
    let broken = || Reply::error(500, "server_error", "out of order");
    let model = FakeModel::start([broken(), broken(), broken(), says("resp_1", "hi")]);
    let mut client =
        Client::open_with(&place, &model, &json!({ "provider": { "request_max_retries": 2 } }));
    client.say("1", "go");
    let end = client.until_over("1");
    let message = end["msg"]["message"].as_str().unwrap();
    assert!(message.contains("500") || message.contains("out of order"), "{message}");
    assert_eq!((client.all_of("stream_error").len(), model.requests().len()), (2, 3));
    assert!(client.all_of("task_complete").is_empty());
    client.say("2", "again");
    assert_eq!(answer_of(&client.until_over("2")["msg"]), "hi");
    client.close();
}

#[test]
fn a_server_error_in_the_stream_is_shown_at_once() {
    let place = Place::new();
    let failed = Reply::sse([responses::failed("server_error", "the model fell over")]);
    let model = FakeModel::start([failed.then_hold_open(), says("resp_1", "hi")]);
    let (client, end) = run(&place, &model, &json!({}));
    assert_eq!(answer_of(&end), "hi");
    let shown = client.all_of("stream_error")[0]["msg"]["message"].as_str().unwrap();
    assert!(shown.contains("the model fell over"), "{shown}");
    // It was shown although the connection stayed open, which is then closed.
    model.wait_for_close(0);

    let failed = || Reply::sse([responses::failed("server_error", "the model fell over")]);
    let model = FakeModel::start([failed()]);
    let (_, end) = run(&Place::new(), &model, &json!({ "request_max_retries": 0 }));
    assert!(end["message"].as_str().unwrap().contains("the model fell over"), "{end}");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn failures_that_asking_again_cannot_mend_are_not_asked_again() {
    let refusals = [
        Reply::error(400, "invalid_request_error", "no such field"),
        Reply::error(401, "invalid_api_key", "no such key"),
        Reply::error(404, "model_not_found", "no such model"),
        Reply::error(429, "insufficient_quota", "nothing left"),
        Reply::sse([responses::failed("context_length_exceeded", "too long")]),
        Reply::sse([responses::failed("insufficient_quota", "nothing left")]),
    ];
    for refusal in refusals {
        let place = Place::new();
        let model = FakeModel::start([refusal]);
        let (client, end) = run(&place, &model, &json!({}));
        let message = end["message"].as_str().unwrap();
        assert!(
            message.contains("no such") || message.contains("left") || message.contains("long"),
            "{message}"
        );
        assert!(client.all_of("task_complete").is_empty());
        assert!(client.all_of("stream_error").is_empty(), "{:?}", client.seen);
        assert_eq!(model.requests().len(), 1);
        model.assert_done();
    }
}

#[test]
fn an_incomplete_response_is_not_taken_for_a_whole_one() {
    let place = Place::new();
    let cut =
        Reply::sse([responses::text_delta("half"), responses::incomplete("max_output_tokens")]);
    let model = FakeModel::start([cut.clone().then_hold_open(), cut]);
    let (client, end) = run(&place, &model, &json!({ "stream_max_retries": 1 }));
    assert!(end["message"].as_str().unwrap().contains("max_output_tokens"), "{end}");
    assert!(client.all_of("task_complete").is_empty());
    assert!(client.all_of("turn_complete").is_empty());
}

#[test]
fn a_stream_that_ends_early_is_asked_for_again() {
    let whole = responses::message("hello there") + &responses::completed("resp_1");
    let cut = whole.len() - 40;
    for broken in [Reply::sse([&whole]).break_after(cut), Reply::sse([&whole]).end_after(cut)] {
        let place = Place::new();
        let model = FakeModel::start([broken, says("resp_2", "hello again")]);
        let (client, end) = run(&place, &model, &json!({}));
        assert_eq!(answer_of(&end), "hello again");
        assert_eq!(client.all_of("stream_error").len(), 1);
        // What was not whole is not in the thread.
        assert_eq!(items(&model.requests()[1]), ["user: go"]);
    }
}

/// The command ran before the stream broke: asking again must not run it again.
#[test]
fn a_dropped_stream_does_not_repeat_a_finished_command() {
    let place = Place::new();
    let call =
        responses::call("call_1", "shell", &json!({ "command": once("ran.txt", "echo result") }));
    let rest = responses::message("never seen") + &responses::completed("resp_1");
    let broken = Reply::sse([call.clone()]).then_pause(Duration::from_millis(300)).then(&rest);
    let model =
        FakeModel::start([broken.break_after(call.len() + 30), says("resp_2", "It ran once.")]);
    let (client, end) = run(&place, &model, &json!({}));
    assert_eq!(answer_of(&end), "It ran once.");
    assert_eq!(place.read("ran.txt"), "ran\n");
    assert_eq!(client.all_of("exec_command_begin").len(), 1);
    assert!(output_of(&model.requests()[1], "call_1").contains("result"));
    check_requests(&model);
    model.assert_done();
}

#[test]
fn a_silent_stream_is_given_up_and_a_comment_keeps_it_alive() {
    let place = Place::new();
    let silent = Reply::sse([responses::text_delta("a")]).then_hold_open();
    let model = FakeModel::start([silent, says("resp_1", "hi")]);
    let (client, end) = run(&place, &model, &json!({ "stream_idle_timeout_ms": 2000 }));
    assert_eq!(answer_of(&end), "hi");
    assert_eq!(client.all_of("stream_error").len(), 1);
    model.wait_for_close(0);

    let mut alive = Reply::sse([responses::text_delta("a")]);
    for _ in 0..8 {
        alive = alive.then_pause(Duration::from_millis(250)).then(responses::keep_alive());
    }
    let alive = alive.then(responses::message("hi") + &responses::completed("resp_1"));
    let model = FakeModel::start([alive]);
    let provider = json!({ "stream_idle_timeout_ms": 1500, "stream_max_retries": 0 });
    let (client, end) = run(&Place::new(), &model, &provider);
    assert_eq!(answer_of(&end), "hi");
    assert!(client.all_of("stream_error").is_empty());
}

/// Nobody listens at the address.
#[test]
fn a_server_that_is_not_there_is_named() {
    let place = Place::new();
    let model = FakeModel::start([]);
    let address = model.base_url();
    let mut client =
        Client::open_with(&place, &model, &json!({ "provider": { "request_max_retries": 1 } }));
    drop(model);
    client.say("1", "go");
    let end = client.until_over("1");
    let message = end["msg"]["message"].as_str().unwrap();
    assert!(
        message.contains(address.trim_start_matches("http://").trim_end_matches("/v1")),
        "{message}"
    );
    assert_eq!(client.all_of("stream_error").len(), 1);
    client.close();
}
