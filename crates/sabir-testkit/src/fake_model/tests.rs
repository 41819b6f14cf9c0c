//! The fake model against a client made of a bare socket.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::{FakeModel, Gate, Reply, chat, responses};

fn connect(model: &FakeModel) -> TcpStream {
    let stream = TcpStream::connect(model.address()).unwrap();
    stream.set_read_timeout(Some(super::LONGEST_WAIT)).unwrap();
    stream
}

fn ask(stream: &mut TcpStream, body: &str) {
    let length = body.len();
    let request = format!(
        "POST /v1/responses?a=b HTTP/1.1\r\nHost: x\r\nX-Test: yes\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
}

/// Reads until the given end, or until the connection closes.
fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with(end) && stream.read(&mut byte).unwrap() == 1 {
        text.push(char::from(byte[0]));
    }
    text
}

/// The body out of its chunks.
fn body(reply: &str) -> String {
    let mut rest = reply.split_once("\r\n\r\n").unwrap().1;
    let mut out = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        out.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    out
}

#[test]
fn replies_come_in_order_on_one_connection_and_requests_are_recorded() {
    let first = [responses::message("hi"), responses::completed("resp_1")];
    let model = FakeModel::start([
        Reply::sse(&first),
        Reply::error(429, "slow_down", "wait").header("Retry-After", "7"),
    ]);
    let mut stream = connect(&model);
    ask(&mut stream, r#"{"model":"m"}"#);
    let reply = read_until(&mut stream, "\r\n0\r\n\r\n");
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
    assert!(reply.contains("content-type: text/event-stream\r\n"), "{reply}");
    assert_eq!(body(&reply), first.concat());

    ask(&mut stream, "no json");
    let reply = read_until(&mut stream, "\r\n0\r\n\r\n");
    assert!(reply.starts_with("HTTP/1.1 429 "), "{reply}");
    assert!(reply.contains("Retry-After: 7\r\n"), "{reply}");

    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(
        (requests[0].method.as_str(), requests[0].path.as_str()),
        ("POST", "/v1/responses?a=b")
    );
    assert_eq!(requests[0].header("x-test"), Some("yes"));
    assert_eq!(requests[0].body, json!({ "model": "m" }));
    assert_eq!(requests[1].body, json!(null));
    assert_eq!(model.connections(), 1);
    model.assert_done();
    drop(stream);
    model.wait_for_close(0);
}

#[test]
fn what_nobody_expected_is_answered_and_reported() {
    let model = FakeModel::start([]);
    let mut stream = connect(&model);
    ask(&mut stream, "{}");
    assert!(read_until(&mut stream, "\r\n0\r\n\r\n").starts_with("HTTP/1.1 500 "));
    assert_eq!(model.unexpected().len(), 1);
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| model.assert_done()));
    assert!(failed.is_err());
}

#[test]
fn a_function_can_answer() {
    let model = FakeModel::answering(|request, number| {
        (request.body["n"] == number).then(|| Reply::sse([chat::text("c", "yes"), chat::done()]))
    });
    let mut stream = connect(&model);
    ask(&mut stream, r#"{"n":0}"#);
    assert!(read_until(&mut stream, "\r\n0\r\n\r\n").contains("yes"));
    ask(&mut stream, r#"{"n":7}"#);
    assert!(read_until(&mut stream, "\r\n0\r\n\r\n").starts_with("HTTP/1.1 500 "));
    assert_eq!(model.unexpected().len(), 1);
}

#[test]
fn a_reply_waits_for_its_gate() {
    let gate = Gate::new();
    let model =
        FakeModel::start([Reply::sse(["data: 1\n\n"]).then_wait(&gate).then("data: 2\n\n")]);
    let mut stream = connect(&model);
    ask(&mut stream, "{}");
    assert!(read_until(&mut stream, "data: 1\n\n\r\n").ends_with("data: 1\n\n\r\n"));
    gate.open();
    assert!(read_until(&mut stream, "\r\n0\r\n\r\n").contains("data: 2"));
}

#[test]
fn a_client_that_leaves_is_noticed_while_the_reply_waits() {
    let model = FakeModel::start([Reply::sse(["data: 1\n\n"]).then_wait(&Gate::new())]);
    let mut stream = connect(&model);
    ask(&mut stream, "{}");
    model.wait_for_request(0);
    drop(stream);
    model.wait_for_close(0);
}

#[test]
fn bodies_break_end_early_and_stay_open() {
    let events = ["data: 12345\n\n", "data: 67890\n\n"];
    let model = FakeModel::start([
        Reply::sse(events).end_after(20),
        Reply::sse(events).break_after(9).in_pieces(4),
        Reply::sse(events).then_hold_open(),
    ]);
    let mut stream = connect(&model);
    ask(&mut stream, "{}");
    assert_eq!(body(&read_until(&mut stream, "\r\n0\r\n\r\n")), "data: 12345\n\ndata: 6");

    ask(&mut stream, "{}");
    let broken = read_until(&mut stream, "never");
    assert!(broken.ends_with("4\r\ndata\r\n4\r\n: 12\r\n1\r\n3\r\n"), "{broken:?}");

    let mut stream = connect(&model);
    ask(&mut stream, "{}");
    assert!(read_until(&mut stream, "67890\n\n\r\n").ends_with("67890\n\n\r\n"));
    drop(stream);
    model.wait_for_close(1);
}

#[test]
fn dropping_the_server_closes_what_is_open() {
    let model = FakeModel::start([Reply::sse(["data: 1\n\n"]).then_hold_open()]);
    let mut stream = connect(&model);
    ask(&mut stream, "{}");
    model.wait_for_request(0);
    drop(model);
    // It ends instead of waiting for ever.
    read_until(&mut stream, "never");
}
