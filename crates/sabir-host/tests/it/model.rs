//! The model client against a fake model on loopback: each thing that servers do, well or badly.

mod failures;
mod local;

use std::sync::Arc;
use std::time::Duration;

use sabir_engine::{FailureKind, Item, ModelEvent, ModelFailure, ModelRequest, WireApi};
use sabir_host::{ModelClient, ModelStream, Provider, Secret};
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, chat, responses};
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(crate) const KEY: &str = "sk-0123456789-secret";

pub(crate) fn request() -> ModelRequest {
    ModelRequest {
        model: "m".to_owned(),
        instructions: "Be brief.".to_owned(),
        items: vec![Arc::new(Item::user("hi"))],
        answers_end: Vec::new(),
        tools: Vec::new(),
        effort: None,
        cache_key: "thread".to_owned(),
        parallel_tool_calls: true,
    }
}

pub(crate) fn provider(model: &FakeModel, wire: WireApi) -> Provider {
    Provider { key: Some(Secret::new(KEY)), ..Provider::new(model.base_url(), wire) }
}

pub(crate) fn open(provider: Provider) -> ModelStream {
    ModelClient::new(provider).unwrap().open(&request(), CancellationToken::new())
}

pub(crate) async fn collect(stream: &mut ModelStream) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    assert_eq!(stream.next().await, None);
    events
}

/// What one reply becomes on this wire.
pub(crate) async fn answer_to(reply: Reply, wire: WireApi) -> Vec<ModelEvent> {
    let model = FakeModel::start([reply]);
    let events = collect(&mut open(provider(&model, wire))).await;
    model.assert_done();
    events
}

pub(crate) async fn failure_of(reply: Reply, wire: WireApi) -> ModelFailure {
    match answer_to(reply, wire).await.pop() {
        Some(ModelEvent::Failed(failure)) => failure,
        other => panic!("no failure but {other:?}"),
    }
}

fn is_completed(event: Option<&ModelEvent>, id: &str) -> bool {
    matches!(event, Some(ModelEvent::Completed { response_id, .. }) if response_id == id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn responses_are_asked_and_answered() {
    let model = FakeModel::start([Reply::sse([
        responses::created("resp_1"),
        responses::reasoning("hm"),
        responses::message("hello"),
        responses::call("call_a", "shell", &json!({ "command": ["ls"] })),
        responses::completed("resp_1"),
    ])]);
    let mut provider = provider(&model, WireApi::Responses);
    provider.headers = vec![("X-Team".to_owned(), Secret::new("research"))];
    provider.query_params = vec![("api-version".to_owned(), Secret::new("1 2"))];
    let events = collect(&mut open(provider)).await;
    assert_eq!(events[0], ModelEvent::ReasoningDelta("hm".to_owned()));
    assert!(matches!(events[1], ModelEvent::ItemDone(Item::Reasoning { .. })));
    assert_eq!(events[2], ModelEvent::TextDelta("hello".to_owned()));
    assert_eq!(events[3], ModelEvent::ItemDone(Item::assistant("hello")));
    assert!(matches!(events[4], ModelEvent::ItemDone(Item::FunctionCall { .. })));
    assert!(is_completed(events.last(), "resp_1"));
    assert_eq!(events.len(), 6);

    let asked = model.wait_for_request(0);
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/v1/responses?api-version=1+2")
    );
    assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert!(asked.header("accept").unwrap().starts_with("text/event-stream"));
    assert_eq!(asked.header("x-team"), Some("research"));
    assert_eq!(asked.body["stream"], json!(true));
    assert_eq!(asked.body["input"][0]["content"][0]["text"], json!("hi"));
    model.assert_done();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn chat_is_asked_and_answered() {
    let model = FakeModel::start([Reply::sse([
        chat::reasoning("c1", "hm"),
        chat::text("c1", "hello"),
        chat::call("c1", 0, "call_a", "shell", "{\"x\""),
        chat::more_arguments("c1", 0, ":1}"),
        chat::finish("c1", "tool_calls"),
        chat::usage("c1", 3, 4),
        chat::done(),
    ])]);
    let events = collect(&mut open(provider(&model, WireApi::Chat))).await;
    let call = Item::FunctionCall {
        call_id: "call_a".to_owned(),
        name: "shell".to_owned(),
        arguments: "{\"x\":1}".to_owned(),
    };
    assert!(events.contains(&ModelEvent::ItemDone(call)), "{events:?}");
    match events.last() {
        Some(ModelEvent::Completed { response_id, usage: Some(usage) }) => {
            assert_eq!((response_id.as_str(), usage.input, usage.output), ("c1", 3, 4));
        }
        other => panic!("{other:?}"),
    }
    let asked = model.wait_for_request(0);
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.body["messages"][1], json!({ "role": "user", "content": "hi" }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn json_bodies_are_whole_answers() {
    let body = json!({ "id": "resp_1", "output": [
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "hi" }] },
    ] });
    let events = answer_to(Reply::json(200, &body).in_pieces(5), WireApi::Responses).await;
    assert_eq!(events[0], ModelEvent::ItemDone(Item::assistant("hi")));
    assert!(is_completed(events.last(), "resp_1"));

    let body = json!({ "choices": [{ "message": { "content": "hi" }, "finish_reason": "stop" }] });
    let reply = Reply::json(200, &body).header("content-type", "application/json; charset=utf-8");
    let events = answer_to(reply, WireApi::Chat).await;
    assert!(events.contains(&ModelEvent::ItemDone(Item::assistant("hi"))));
    // The server named no completion, so that one was made up.
    match events.last() {
        Some(ModelEvent::Completed { response_id, .. }) => {
            assert!(response_id.starts_with("chatcmpl_") && response_id.len() > 20);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn bytes_may_come_one_by_one() {
    let reply = Reply::sse([responses::message("hällo"), responses::completed("resp_1")]);
    let whole = answer_to(reply.clone(), WireApi::Responses).await;
    assert_eq!(whole.len(), 3);
    assert_eq!(answer_to(reply.in_pieces(1), WireApi::Responses).await, whole);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn completed_ends_it_and_the_connection_that_stays_open() {
    let model = FakeModel::start([Reply::sse([responses::completed("resp_1")]).then_hold_open()]);
    let mut stream = open(provider(&model, WireApi::Responses));
    assert!(is_completed(stream.next().await.as_ref(), "resp_1"));
    // Still held, and yet closed.
    model.wait_for_close(0);
    assert_eq!(stream.next().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_finish_reason_is_enough_for_chat() {
    let reply = Reply::sse([chat::text("c1", "a"), chat::finish("c1", "stop")]);
    for reply in [reply.clone(), reply.clone().break_after(10_000)] {
        let events = answer_to(reply, WireApi::Chat).await;
        assert!(is_completed(events.last(), "c1"), "{events:?}");
    }
    // Neither `[DONE]` nor the end of the connection ever comes.
    let model = FakeModel::start([reply.then_hold_open()]);
    let mut provider = provider(&model, WireApi::Chat);
    provider.stream_idle_timeout = Duration::from_secs(2);
    let events = collect(&mut open(provider)).await;
    assert!(is_completed(events.last(), "c1"), "{events:?}");
    model.wait_for_close(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn cancelling_closes_the_connection() {
    // While the model thinks, while it speaks, and before anything was sent.
    let gate = Gate::new();
    let model = FakeModel::start([
        Reply::sse([""; 0]).then_wait(&gate),
        Reply::sse([responses::text_delta("a")]).then_wait(&gate),
    ]);
    let client = ModelClient::new(provider(&model, WireApi::Responses)).unwrap();
    for connection in 0..2 {
        let cancel = CancellationToken::new();
        let mut stream = client.open(&request(), cancel.clone());
        if connection == 1 {
            assert_eq!(stream.next().await, Some(ModelEvent::TextDelta("a".to_owned())));
        }
        let waiting = tokio::spawn(async move { (stream.next().await, stream) });
        model.wait_for_request(connection);
        cancel.cancel();
        let (event, _stream) = waiting.await.unwrap();
        assert_eq!(event, None);
        model.wait_for_close(connection);
    }
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(client.open(&request(), cancel).next().await, None);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_cancel_takes_back_what_was_not_asked_for() {
    let reply = Reply::sse([responses::text_delta("a") + &responses::text_delta("b")]);
    let model = FakeModel::start([reply.then_hold_open()]);
    let cancel = CancellationToken::new();
    let client = ModelClient::new(provider(&model, WireApi::Responses)).unwrap();
    let mut stream = client.open(&request(), cancel.clone());
    assert!(stream.next().await.is_some());
    cancel.cancel();
    assert_eq!(stream.next().await, None);
    model.wait_for_close(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_wait_that_is_given_up_loses_nothing() {
    let gate = Gate::new();
    let model = FakeModel::start([Reply::sse([""; 0])
        .then_wait(&gate)
        .then(responses::message("hi"))
        .then(responses::completed("resp_1"))]);
    let mut stream = open(provider(&model, WireApi::Responses));
    // Given up before the request is out, and while the answer is awaited.
    for _ in 0..20 {
        let waited = tokio::time::timeout(Duration::from_millis(1), stream.next()).await;
        assert!(waited.is_err(), "{waited:?}");
    }
    gate.open();
    assert_eq!(collect(&mut stream).await.len(), 3);
    assert_eq!(model.requests().len(), 1);
}

/// A reader that does not ask keeps the server waiting.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nothing_is_read_ahead_without_bound() {
    let megabyte = responses::text_delta(&"x".repeat(1 << 20));
    let mut reply = Reply::sse([responses::text_delta("first")]);
    for _ in 0..64 {
        reply = reply.then(&megabyte);
    }
    // The server reaches the end of its reply only when nearly all was taken.
    let model = FakeModel::answering({
        let reply = reply.then(responses::completed("resp_1"));
        move |_, _| Some(reply.clone())
    });
    let mut stream = open(provider(&model, WireApi::Responses));
    assert_eq!(stream.next().await, Some(ModelEvent::TextDelta("first".to_owned())));
    assert_eq!(model.finished_replies(), 0);
    let mut deltas = 0;
    loop {
        match stream.next().await {
            Some(ModelEvent::TextDelta(text)) => {
                deltas += 1;
                assert_eq!(text.len(), 1 << 20);
                // What lies between the two is in buffers of the kernel and of HTTP.
                assert!(deltas > 32 || model.finished_replies() == 0, "{deltas}");
            }
            other => {
                assert!(is_completed(other.as_ref(), "resp_1"), "{other:?}");
                break;
            }
        }
    }
    assert_eq!(deltas, 64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn silence_ends_a_stream_and_comments_do_not() {
    let idle = |model: &FakeModel| Provider {
        stream_idle_timeout: Duration::from_millis(1500),
        ..provider(model, WireApi::Responses)
    };
    let gate = Gate::new();
    let model = FakeModel::start([
        Reply::sse([responses::text_delta("a")]).then_wait(&gate),
        Reply::sse([""; 0]).then_wait(&gate),
    ]);
    for _ in 0..2 {
        let events = collect(&mut open(idle(&model))).await;
        match events.last() {
            Some(ModelEvent::Failed(failure)) => {
                assert_eq!(failure.kind, FailureKind::Idle);
                assert_eq!(failure.message, "no byte came from the model server for 1.5s");
            }
            other => panic!("{other:?}"),
        }
    }

    // Each comment comes within the idle time, all of them take longer.
    let mut reply = Reply::sse([responses::text_delta("a")]);
    for _ in 0..8 {
        reply = reply.then_pause(Duration::from_millis(200)).then(responses::keep_alive());
    }
    let model = FakeModel::start([reply.then(responses::completed("resp_1"))]);
    let events = collect(&mut open(idle(&model))).await;
    assert!(is_completed(events.last(), "resp_1"), "{events:?}");
}
