//! Answers that are none.

use std::net::TcpListener;

use sabir_engine::{FailureKind, ModelEvent, WireApi};
use sabir_host::{ModelClient, Provider, ProviderError, Secret};
use sabir_testkit::fake_model::{FakeModel, Reply, chat, responses};

use super::{KEY, collect, failure_of, open, provider};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn statuses_are_sorted() {
    use FailureKind::*;
    for (reply, kind) in [
        (Reply::error(429, "rate_limit_exceeded", "slow"), RateLimited),
        (Reply::error(429, "insufficient_quota", "pay"), Quota),
        (Reply::error(500, "", "oops"), Server),
        (Reply::body(503, "text/html", "<h1>busy</h1>"), Server),
        (Reply::error(400, "context_length_exceeded", "long"), ContextLength),
        (Reply::error(400, "invalid_request", "bad"), Refused),
        (Reply::error(401, "invalid_api_key", "who"), Refused),
        (Reply::error(404, "model_not_found", "what"), Refused),
        (Reply::body(307, "text/plain", "").header("location", "http://127.0.0.1:9/"), Refused),
        (Reply::body(200, "text/html", "<h1>hello</h1>"), Refused),
    ] {
        let said = format!("{reply:?}");
        for wire in [WireApi::Responses, WireApi::Chat] {
            assert_eq!(failure_of(reply.clone(), wire).await.kind, kind, "{said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn waits_come_from_headers_and_words() {
    let wait = async |reply| failure_of(reply, WireApi::Responses).await.retry_after_ms;
    let limited = Reply::error(429, "rate_limit_exceeded", "Please try again in 1.5s.");
    assert_eq!(wait(limited.clone()).await, Some(1500));
    assert_eq!(wait(limited.clone().header("Retry-After", "7")).await, Some(7000));
    let past = limited.header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(wait(past).await, Some(0));
    let failed = responses::failed("rate_limit_exceeded", "try again in 20ms");
    assert_eq!(wait(Reply::sse([failed])).await, Some(20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn failures_in_the_stream_are_terminal_at_once() {
    // The connection stays open, and nobody waits for its end.
    let failed = Reply::sse([responses::failed("server_error", "oops")]).then_hold_open();
    assert_eq!(failure_of(failed, WireApi::Responses).await.kind, FailureKind::Server);
    let cut = Reply::sse([responses::incomplete("max_output_tokens")]).then_hold_open();
    assert_eq!(failure_of(cut, WireApi::Responses).await.kind, FailureKind::Incomplete);
    let cut = Reply::sse([chat::text("c", "a"), chat::finish("c", "length")]).then_hold_open();
    assert_eq!(failure_of(cut, WireApi::Chat).await.kind, FailureKind::Incomplete);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn streams_that_stop_early_are_disconnected() {
    let reply = Reply::sse([responses::message("hi"), responses::completed("resp_1")]);
    let all = responses::message("hi").len() + responses::completed("resp_1").len();
    for cut in [0, 5, responses::text_delta("hi").len() + 3, all - 20] {
        let ended = failure_of(reply.clone().end_after(cut), WireApi::Responses).await;
        assert_eq!(ended.kind, FailureKind::Disconnected, "ended after {cut}");
        assert_eq!(ended.message, "stream closed before response.completed");
        let broken = failure_of(reply.clone().break_after(cut), WireApi::Responses).await;
        assert_eq!(broken.kind, FailureKind::Disconnected, "broken after {cut}");
        assert!(
            broken.message.starts_with("the connection to the model server broke"),
            "{broken:?}"
        );
    }
    let reply = Reply::sse([chat::text("c", "a")]);
    assert_eq!(failure_of(reply, WireApi::Chat).await.kind, FailureKind::Disconnected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let base_url = format!("http://{address}/v1");
    let mut stream = open(Provider::new(&base_url, WireApi::Responses));
    match &collect(&mut stream).await[..] {
        [ModelEvent::Failed(failure)] => {
            assert_eq!(failure.kind, FailureKind::Connect);
            let words = format!("nothing listens at {base_url}: is the model server running?");
            assert_eq!(failure.message, words);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn redirects_are_not_followed() {
    let elsewhere = FakeModel::start([]);
    let reply = Reply::body(302, "text/plain", "").header("location", &elsewhere.base_url());
    let failure = failure_of(reply, WireApi::Responses).await;
    assert!(failure.message.contains("redirects are not followed"), "{}", failure.message);
    assert_eq!(elsewhere.requests(), []);
}

/// Servers repeat what they were sent; what we tell does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_failure_shows_a_key() {
    let words = format!("Incorrect API key provided: {KEY}");
    let event = responses::failed("invalid_api_key", &words);
    for reply in [
        Reply::error(401, "invalid_api_key", &words),
        Reply::body(400, "text/plain", &words),
        Reply::body(500, "text/plain", &words).break_after(40),
        Reply::sse([event.as_str()]),
        Reply::sse([format!("data: {{\"error\":\"{words}\"}}\n\n")]),
        Reply::sse([event.as_str()]).break_after(30),
    ] {
        for wire in [WireApi::Responses, WireApi::Chat] {
            let model = FakeModel::start([reply.clone()]);
            let mut provider = provider(&model, wire);
            provider.query_params = vec![("key".to_owned(), Secret::new(KEY))];
            let mut stream = open(provider);
            let shown = format!("{stream:?}");
            let shown = format!("{shown} {:?}", collect(&mut stream).await);
            assert!(shown.contains("Failed") && !shown.contains(KEY), "{shown}");
        }
    }
    // Nobody listens, and the address holds the key.
    let mut provider = Provider::new("http://127.0.0.1:1/v1", WireApi::Chat);
    provider.query_params = vec![("key".to_owned(), Secret::new(KEY))];
    let shown = format!("{:?}", collect(&mut open(provider)).await);
    assert!(shown.contains("nothing listens") && !shown.contains(KEY), "{shown}");
}

#[test]
fn headers_that_cannot_be_sent_are_named_and_not_shown() {
    for (name, value) in [("bad name", KEY), ("x", "sk-0123456789-secret\u{1}")] {
        let mut provider = Provider::new("http://127.0.0.1:1/v1", WireApi::Chat);
        provider.headers = vec![(name.to_owned(), Secret::new(value))];
        let error = ModelClient::new(provider).unwrap_err();
        assert_eq!(error, ProviderError::Header { name: name.to_owned() });
        assert!(!error.to_string().contains(KEY));
    }
}
