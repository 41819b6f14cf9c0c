//! How much a server takes: sizes, rates, places.

use sabir_net::Rate;
use serde_json::json;

use crate::wire::{Wire, posted};
use crate::world::{World, hello, message, open_session, submit, until};

/// LD-H13
#[tokio::test]
async fn a_body_that_is_announced_too_long_is_not_waited_for() {
    let world = World::start().await;
    for length in ["4194305", "1000000000000", "9000000000000000000"] {
        let mut wire = world.wire().await;
        wire.send(format!(
            "POST /ldp/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
        ))
        .await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (413, "BODY_TOO_LARGE"), "{length}");
        assert_eq!(reply.headers["connection"], "close");
        assert_eq!(wire.rest().await, b"");
    }
    world.end().await;
}

/// LD-H13
#[tokio::test]
async fn who_sends_first_and_reads_then_reads_why() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let long = "x".repeat(16 * 1024 * 1024);
    wire.send(posted("/ldp/messages", "", &long)).await;
    let reply = wire.reply().await;
    assert_eq!(reply.status, 413);
    world.end().await;
}

/// LD-H13
#[tokio::test]
async fn chunks_are_counted() {
    let world = World::limited(|limits| limits.message_bytes = 1000).await;
    let head = "POST /ldp/stream HTTP/1.1\r\nhost: localhost\r\n\
                content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut wire = world.wire().await;
    wire.send(head).await;
    for _ in 0..6 {
        wire.try_send(format!("c8\r\n{}\r\n", "x".repeat(200))).await;
    }
    assert_eq!(wire.reply().await.status, 413);
    // Up to the limit they are read.
    let mut wire = world.wire().await;
    let hello = hello();
    let (left, right) = hello.split_at(100);
    wire.send(head.replace("stream", "messages")).await;
    wire.send(format!("64\r\n{left}\r\n{:x}\r\n{right}\r\n0\r\n\r\n", right.len())).await;
    assert_eq!(wire.reply().await.json()["body"]["type"], "CAPABILITY_MANIFEST");
    world.end().await;
}

/// LD-H14
#[tokio::test]
async fn all_bodies_together_are_bounded_and_small_ones_pass() {
    let world = World::limited(|limits| limits.bodies_bytes = 256 * 1024).await;
    let head = |length: usize| {
        format!(
            "POST /ldp/messages HTTP/1.1\r\nhost: localhost\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    // What is only announced takes nothing.
    let mut announced = Vec::new();
    for _ in 0..20 {
        let mut wire = world.wire().await;
        wire.send(head(200 * 1024)).await;
        announced.push(wire);
    }
    let mut large = world.wire().await;
    large.send(head(200 * 1024) + &" ".repeat(200 * 1024 - 1)).await;
    let mut refused = None;
    until(async || {
        let mut second = world.wire().await;
        second.send(head(200 * 1024) + &" ".repeat(200 * 1024)).await;
        let reply = second.reply().await;
        let is_full = reply.status == 503;
        refused = Some(reply);
        is_full
    })
    .await;
    let refused = refused.unwrap();
    assert_eq!(refused.code(), "BUSY");
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(world.wire().await.post("/ldp/messages", "", &hello()).await.status, 200);
    large.send(" ").await;
    assert_eq!(large.reply().await.status, 400);
    let mut second = world.wire().await;
    second.send(head(200 * 1024) + &" ".repeat(200 * 1024)).await;
    assert_eq!(second.reply().await.status, 400, "there is room again");
    world.end().await;
}

/// LD-H15
#[tokio::test]
async fn who_asks_too_often_is_told_when_to_come_again() {
    let rate = Rate { per_second: 0.01, burst: 3.0 };
    let world = World::limited(|limits| limits.loopback_rate = Some(rate)).await;
    for _ in 0..3 {
        assert_eq!(world.wire().await.get("/healthz", "").await.status, 200);
    }
    let reply = world.wire().await.post("/ldp/messages", "", &hello()).await;
    assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
    assert_eq!(reply.headers["retry-after"], "100");
    world.end().await;
}

/// LD-H15
#[tokio::test]
async fn one_program_of_this_machine_may_hold_hundreds_of_tasks() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let session = open_session(&mut wire).await;
    let mut waiting = Vec::new();
    for task in 0..300 {
        let mut wire = world.wire().await;
        let input = json!({ "steps": 1 });
        let submit = submit(&session, &format!("t{task}"), "steps", input);
        wire.send(posted("/ldp/messages", "", &submit)).await;
        waiting.push(wire);
    }
    until(async || wire.get("/healthz", "").await.json()["tasks"] == 300).await;
    world.steps.send_replace(1);
    for mut wire in waiting {
        assert_eq!(wire.reply().await.json()["body"]["output"], 1);
    }
    world.end().await;
}

/// LD-H16
#[tokio::test]
async fn where_no_place_is_left_that_is_said() {
    let world = World::limited(|limits| limits.places = 1).await;
    let mut wire = world.wire().await;
    let session = open_session(&mut wire).await;
    let mut first = world.wire().await;
    let task = submit(&session, "t", "steps", json!({ "steps": 1 }));
    first.send(posted("/ldp/stream", "", &task)).await;
    assert_eq!(first.head().await.status, 200);
    let reply = wire.post("/ldp/messages", "", &hello()).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "BUSY"));
    assert_eq!(wire.get("/healthz", "").await.status, 200, "reading takes no place");
    drop(first);
    until(async || wire.post("/ldp/messages", "", &hello()).await.status == 200).await;
    world.end().await;
}

/// LD-H16
#[tokio::test]
async fn a_connection_too_many_is_told_so() {
    let world = World::limited(|limits| limits.connections = 2).await;
    let mut first = world.wire().await;
    let mut second = world.wire().await;
    assert_eq!(first.get("/healthz", "").await.status, 200);
    assert_eq!(second.get("/healthz", "").await.status, 200);
    let mut third = Wire::connect(world.address).await;
    let reply = third.reply().await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "BUSY"));
    assert_eq!(first.get("/healthz", "").await.status, 200);
    world.end().await;
}

/// LD-H17
#[tokio::test]
async fn headers_have_an_end() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let long = format!("x-long: {}\r\n", "x".repeat(60 * 1024));
    wire.try_send(format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{long}\r\n")).await;
    assert_eq!(wire.head().await.status, 431);
    let mut wire = world.wire().await;
    let many: String = (0..200).map(|number| format!("x-{number}: 1\r\n")).collect();
    wire.try_send(format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{many}\r\n")).await;
    assert_eq!(wire.head().await.status, 431);
    let mut wire = world.wire().await;
    wire.try_send("nonsense\r\n\r\n").await;
    assert_eq!(wire.head().await.status, 400);
    let body = json!({ "type": "HELLO", "delegate_id": "ldp:delegate:visitor" });
    let answer = world.wire().await.post("/ldp/messages", "", &message("", body)).await;
    assert_eq!(answer.status, 200);
    world.end().await;
}
