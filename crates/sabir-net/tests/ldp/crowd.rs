//! Many at once, and one after the other without waiting.

use serde_json::json;

use crate::wire::posted;
use crate::world::{World, hello, open_session, submit};

/// LD-H27
#[tokio::test]
async fn requests_that_do_not_wait_are_answered_in_order() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let session = open_session(&mut wire).await;
    let mut all = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned();
    for task in 0..50 {
        let task = submit(&session, &format!("t{task}"), "echo", json!(task));
        all += &posted("/ldp/messages", "", &task);
    }
    all += "GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n";
    wire.send(all).await;
    assert_eq!(wire.reply().await.json()["status"], "ok");
    for task in 0..50 {
        assert_eq!(wire.reply().await.json()["body"]["output"], task);
    }
    assert_eq!(wire.reply().await.status, 404);
    // A body that is refused unread, but is there, does not spoil what follows.
    let plain = posted("/ldp/messages", "accept: text/html\r\n", &hello());
    wire.send(plain + "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert_eq!(wire.reply().await.status, 406);
    assert_eq!(wire.reply().await.status, 200);
    world.end().await;
}

/// LD-H27
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_connections_are_served_at_one_time() {
    let world = World::start().await;
    let mut first = world.wire().await;
    let session = open_session(&mut first).await;
    let mut wires = Vec::new();
    for _ in 0..1000 {
        wires.push(world.wire().await);
    }
    for round in 0..2 {
        for (number, wire) in wires.iter_mut().enumerate() {
            let task = submit(&session, &format!("t{round}-{number}"), "echo", json!(number));
            wire.send(posted("/ldp/messages", "", &task)).await;
        }
        for (number, wire) in wires.iter_mut().enumerate() {
            assert_eq!(wire.reply().await.json()["body"]["output"], number);
        }
    }
    world.end().await;
}

/// LD-H28
#[tokio::test]
async fn what_is_being_answered_when_the_server_stops_is_answered() {
    let mut world = World::start().await;
    let mut wire = world.wire().await;
    let session = open_session(&mut wire).await;
    let task = submit(&session, "t", "steps", json!({ "steps": 1 }));
    wire.send(posted("/ldp/messages", "", &task)).await;
    crate::world::until(async || world.node.counts().running_tasks == 1).await;
    let steps = world.steps.clone();
    let ((), reply) = tokio::join!(world.stop_serving(), async {
        steps.send_replace(1);
        wire.reply().await
    });
    assert_eq!(reply.json()["body"]["output"], 1);
    assert_eq!(wire.rest().await, b"");
    assert!(tokio::net::TcpStream::connect(world.address).await.is_err());
    world.node.stop().await;
}
