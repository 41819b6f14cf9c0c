//! Who is too slow is told so, and loses its place. The times are short here; the defaults are
//! checked as numbers.

use std::time::Duration;

use sabir_net::LdpLimits;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpSocket;
use tokio::time::interval;

use crate::wire::{Wire, posted};
use crate::world::{World, hello, open_session, submit, until};

const SHORT: Duration = Duration::from_millis(300);

/// LD-H18, LD-H19, LD-H22, LD-H23
#[test]
fn the_default_times_are_those_that_peers_know() {
    let limits = LdpLimits::default();
    assert_eq!(limits.header_time, Duration::from_secs(20));
    assert_eq!(limits.body_time, Duration::from_secs(30));
    assert_eq!(limits.quiet_time, Duration::from_secs(15));
    assert_eq!(limits.stall_time, Duration::from_secs(60));
}

/// LD-H18
#[tokio::test]
async fn slow_headers_are_answered_and_cut_off() {
    let world = World::limited(|limits| limits.header_time = SHORT).await;
    for start in ["P", "PR", "GET /healthz HTTP/1.1\r\nhost: local"] {
        let mut wire = world.wire().await;
        wire.send(start).await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (408, "HEADERS_TOO_SLOW"), "{start}");
        assert_eq!(wire.rest().await, b"");
    }
    // The second request of a connection has no more time than the first.
    let mut wire = world.wire().await;
    assert_eq!(wire.get("/healthz", "").await.status, 200);
    wire.send("GET /healthz").await;
    assert_eq!(wire.reply().await.status, 408);
    world.end().await;
}

/// LD-H18
#[tokio::test]
async fn a_byte_now_and_then_gains_no_time() {
    let world = World::limited(|limits| limits.header_time = SHORT).await;
    let stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let (read, mut write) = stream.into_split();
    let dripping = tokio::spawn(async move {
        let mut pace = interval(Duration::from_millis(20));
        write.write_all(b"GET /healthz HTTP/1.1\r\nx-slow: ").await.unwrap();
        // It goes on until the other side has enough.
        while write.write_all(b"x").await.is_ok() {
            pace.tick().await;
        }
    });
    let mut wire = Wire::over(tokio::io::join(read, tokio::io::sink()));
    assert_eq!(wire.reply().await.status, 408);
    dripping.await.unwrap();
    world.end().await;
}

/// LD-H18
#[tokio::test]
async fn who_says_nothing_is_told_nothing() {
    let world = World::limited(|limits| limits.header_time = SHORT).await;
    assert_eq!(world.wire().await.rest().await, b"");
    let mut wire = world.wire().await;
    assert_eq!(wire.get("/healthz", "").await.status, 200);
    assert_eq!(wire.rest().await, b"", "between two requests nobody waits for an answer");
    world.end().await;
}

/// LD-H19
#[tokio::test]
async fn slow_bodies_are_answered_and_cut_off() {
    let world = World::limited(|limits| limits.body_time = SHORT).await;
    let hello = hello();
    for path in ["/ldp/messages", "/ldp/stream"] {
        let mut wire = world.wire().await;
        let whole = posted(path, "", &hello);
        wire.send(&whole[..whole.len() - 1]).await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (408, "BODY_TOO_SLOW"));
        assert_eq!(wire.rest().await, b"");
    }
    assert_eq!(world.refusals(), [""; 0]);
    assert_eq!(world.wire().await.post("/ldp/messages", "", &hello).await.status, 200);
    world.end().await;
}

/// LD-H19
#[tokio::test]
async fn half_a_body_is_no_message() {
    let world = World::start().await;
    let whole = posted("/ldp/messages", "", &hello());
    let mut stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
    stream.write_all(&whole.as_bytes()[..whole.len() - 1]).await.unwrap();
    stream.shutdown().await.unwrap();
    let _ = Wire::over(stream).rest().await;
    assert_eq!(world.refusals(), [""; 0]);
    assert_eq!(world.node.counts().sessions, 0);
    world.end().await;
}

/// LD-H22
#[tokio::test]
async fn who_does_not_read_loses_its_place_and_the_task_goes_on() {
    let world = World::limited(|limits| {
        limits.stall_time = SHORT;
        limits.connections = 1;
    })
    .await;
    let mut wire = world.wire().await;
    let session = open_session(&mut wire).await;
    drop(wire);
    let mut stalled = None;
    until(async || {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut wire = Wire::over(socket.connect(world.address).await.unwrap());
        let task = submit(&session, "t", "steps", json!({ "steps": 2000, "bytes": 8000 }));
        wire.try_send(posted("/ldp/stream", "", &task)).await;
        let is_in = wire.head().await.status == 200;
        stalled = Some(wire);
        is_in
    })
    .await;
    world.steps.send_replace(u64::MAX);
    // Meanwhile it reads nothing. There is one place, so that nobody comes in before it is gone.
    until(async || {
        let mut other = world.wire().await;
        other.try_send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        other.head().await.status == 200
    })
    .await;
    drop(stalled);
    let mut result = None;
    until(async || {
        let mut wire = world.wire().await;
        let again = submit(&session, "t", "steps", json!({ "steps": 2000, "bytes": 8000 }));
        let reply = wire.post("/ldp/messages", "", &again).await;
        let is_in = reply.status == 200;
        result = Some(reply);
        is_in
    })
    .await;
    assert_eq!(result.unwrap().json()["body"]["output"], 2000);
    world.end().await;
}
