//! Other delegates of the node, and what is served beside all of them.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use futures_util::{StreamExt as _, stream};
use sabir_ldp::{Fingerprint, IdentityCard, Origin};
use sabir_net::{Entry, LdpOptions, Mount, Visitor};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::wire::Wire;
use crate::world::{PILOT, TOKEN, World, message_to, say, until};

/// Says who asks, echoes, and streams one number after another as it is told to.
fn router(numbers: watch::Receiver<u64>) -> Router {
    let stream = move || async move {
        let numbers = stream::unfold((numbers, 0), |(mut numbers, told)| async move {
            numbers.wait_for(|number| *number > told).await.ok()?;
            let told = told + 1;
            Some((Ok::<_, Infallible>(Bytes::from(format!("{told}\n"))), (numbers, told)))
        });
        Body::from_stream(numbers)
    };
    Router::new()
        .route("/who", get(who))
        .route("/mcp", get(async || "the longest"))
        .route("/mcp/echo", post(async |text: String| text))
        .route("/mcp/short", post(async |text: String| text).layer(DefaultBodyLimit::max(10)))
        .route("/large", get(async || vec![b'x'; LARGE]))
        .route("/numbers", get(stream))
}

const LARGE: usize = 3 * 1024 * 1024 + 7;

async fn who(Extension(visitor): Extension<Visitor>) -> Json<Value> {
    let channel = visitor.channel;
    Json(json!({
        "address": visitor.address, "is_near": visitor.is_near, "is_tls": visitor.is_tls,
        "is_remote": channel.origin == Origin::Remote, "has_shown": channel.credential.is_some(),
    }))
}

fn mounts(numbers: watch::Receiver<u64>) -> Vec<Mount> {
    let at = |under: &str, entry, router| Mount { under: under.to_owned(), router, entry };
    let home = Router::new().fallback(async || "home");
    let console = home.merge(router(numbers.clone()));
    vec![at("/", Entry::Own, console), at("/mcp", Entry::Caller, router(numbers))]
}

async fn world(options: LdpOptions) -> (World, watch::Sender<u64>) {
    let (sender, numbers) = watch::channel(0);
    (World::beside(options, mounts(numbers)).await, sender)
}

/// LD-H35
#[tokio::test]
async fn each_delegate_has_all_paths_under_its_name() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    for path in ["/delegates/pilot/.well-known/ldp-identity", "/delegates/pilot/ldp/identity"] {
        let card = IdentityCard::check(&wire.get(path, "").await.text).into_card().unwrap();
        assert_eq!(card, *world.member.card());
        assert_ne!(card.delegate_id, world.node.card().delegate_id);
    }
    let session = {
        let config = json!({ "preferred_payload_modes": ["text"], "ttl_secs": 600 });
        let body = json!({ "type": "SESSION_PROPOSE", "config": config });
        let accepted =
            wire.post("/delegates/pilot/ldp/messages", "", &message_to(PILOT, "", body)).await;
        accepted.json()["body"]["session_id"].as_str().unwrap().to_owned()
    };
    let task = json!({
        "type": "TASK_SUBMIT", "task_id": "t1", "skill": "echo", "input": "ahoy",
    });
    let submit = message_to(PILOT, &session, task);
    let result = wire.post("/delegates/pilot/ldp/messages", "", &submit).await.json();
    assert_eq!(result["body"]["type"], "TASK_RESULT", "{result}");
    assert_eq!(result["from"], PILOT);
    // The node's own delegate knows nothing of that session.
    let elsewhere = say(&mut wire, &submit).await;
    assert_eq!(elsewhere["body"]["type"], "TASK_FAILED", "{elsewhere}");
    assert_eq!(world.node.counts().sessions, 0);
    assert_eq!(world.member.counts().sessions, 1);
    for nowhere in ["/delegates/pilot", "/delegates/pilot/", "/delegates/mate/ldp/identity"] {
        let reply = wire.get(nowhere, "").await;
        assert_eq!((reply.status, reply.code().as_str()), (404, "NO_SUCH_PATH"), "{nowhere}");
    }
    world.end().await;
}

/// LD-H36
#[tokio::test]
async fn the_longest_path_answers_and_delegates_come_first() {
    let (world, _numbers) = world(LdpOptions::default()).await;
    let mut wire = world.wire().await;
    assert_eq!(wire.get("/", "").await.text, "home");
    assert_eq!(wire.get("/mcpx", "").await.text, "home");
    assert_eq!(wire.get("/mcp", "").await.text, "the longest");
    assert_eq!(wire.post("/mcp/echo", "", "ahoy").await.text, "ahoy");
    // The console would have answered.
    assert_eq!(wire.get("/mcp/none", "").await.status, 404);
    assert_eq!(wire.get("/healthz", "").await.json()["status"], "ok");
    assert_eq!(wire.get("/ldp/messages", "").await.code(), "METHOD_NOT_ALLOWED");
    assert_eq!(wire.get("/delegates/pilot/none", "").await.code(), "NO_SUCH_PATH");
    world.end().await;
}

/// LD-H37
#[tokio::test]
async fn what_stands_beside_is_behind_the_same_door() {
    let tokens = vec![Fingerprint::of(TOKEN.as_bytes())];
    let (world, _numbers) = world(LdpOptions { tokens, ..LdpOptions::default() }).await;
    let mut wire = world.wire().await;
    let foreign = wire.get("/who", "origin: https://evil.example\r\n").await;
    assert_eq!((foreign.status, foreign.code().as_str()), (403, "FOREIGN_ORIGIN"));
    let near = wire.get("/who", "").await.json();
    let shown = json!({ "address": "127.0.0.1", "is_near": true, "is_tls": false,
        "is_remote": false, "has_shown": false });
    assert_eq!(near, shown);
    // A program that forwards counts as one from elsewhere: a token is demanded, but not by what
    // lets people in itself.
    let far = "x-forwarded-for: 203.0.113.7\r\n";
    assert_eq!(wire.get("/mcp", far).await.code(), "TOKEN_REQUIRED");
    let own = wire.get("/who", far).await.json();
    assert_eq!((&own["is_near"], &own["is_remote"]), (&json!(false), &json!(true)));
    let wrong = "authorization: Bearer of-the-console\r\n";
    assert_eq!(wire.get("/mcp", wrong).await.code(), "TOKEN_WRONG");
    assert_eq!(wire.get("/who", wrong).await.json()["has_shown"], json!(false));
    let right = format!("{far}authorization: Bearer {TOKEN}\r\n");
    assert_eq!(wire.get("/mcp", &right).await.status, 200);
    assert_eq!(wire.get("/who", &right).await.json()["has_shown"], json!(true));
    world.end().await;
}

/// LD-H37: also where there are no tokens at all.
#[tokio::test]
async fn nobody_is_let_in_by_whatever_forwards() {
    let (world, _numbers) = world(LdpOptions::default()).await;
    let mut wire = world.wire().await;
    assert_eq!(wire.get("/mcp", "").await.status, 200);
    for far in ["x-forwarded-for: 203.0.113.7\r\n", "forwarded: for=203.0.113.7\r\n"] {
        for path in ["/mcp", "/delegates/pilot/ldp/identity"] {
            assert_eq!(wire.get(path, far).await.code(), "TOKEN_REQUIRED", "{path}");
            let with = format!("{far}authorization: Bearer of-nobody\r\n");
            assert_eq!(wire.get(path, &with).await.code(), "TOKEN_REQUIRED", "{path}");
        }
        // What lets people in itself does, and the answer to whether all is well is for everybody.
        assert_eq!(wire.get("/who", far).await.json()["is_near"], json!(false));
        assert_eq!(wire.get("/healthz", far).await.status, 200);
    }
    world.end().await;
}

/// LD-H37
#[tokio::test]
async fn times_and_places_hold_beside_delegates() {
    let mut options = LdpOptions::default();
    options.limits.body_time = Duration::from_millis(300);
    options.limits.places = 2;
    let (world, numbers) = world(options).await;
    let mut slow = world.wire().await;
    slow.send("POST /mcp/echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nhalf").await;
    let late = slow.reply().await;
    assert_eq!((late.status, late.code().as_str()), (408, "BODY_TOO_SLOW"), "half a body is none");
    let mut long = world.wire().await;
    let told = long.post("/mcp/short", "", "this is too long").await;
    assert_eq!(told.status, 413);
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut wire = world.wire().await;
        wire.send("GET /numbers HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        assert_eq!(wire.head().await.status, 200);
        streams.push(wire);
    }
    let mut wire = world.wire().await;
    assert_eq!(wire.get("/who", "").await.status, 503, "streams hold their places");
    numbers.send_replace(1);
    for stream in &mut streams {
        assert_eq!(stream.chunk().await.unwrap(), b"1\n");
    }
    drop(streams);
    until(async || world.wire().await.get("/who", "").await.status == 200).await;
    world.end().await;
}

/// LD-H14, LD-H37: what all mounts have in memory is bounded, also while they only wait for the rest.
#[tokio::test]
async fn bodies_beside_delegates_take_room() {
    let mut options = LdpOptions::default();
    options.limits.bodies_bytes = 256 * 1024;
    let (world, _numbers) = world(options).await;
    let head = |length: usize| {
        format!("POST /mcp/echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n")
    };
    let mut large = world.wire().await;
    large.send(head(200 * 1024) + &"x".repeat(200 * 1024 - 1)).await;
    let mut refused = None;
    until(async || {
        let mut second = world.wire().await;
        second.send(head(200 * 1024) + &"x".repeat(200 * 1024)).await;
        let reply = second.reply().await;
        let is_full = reply.status == 503;
        refused = Some(reply);
        is_full
    })
    .await;
    assert_eq!(refused.unwrap().code(), "BUSY");
    // Small ones pass, and so do messages to delegates, however long those are.
    assert_eq!(world.wire().await.post("/mcp/echo", "", "ahoy").await.text, "ahoy");
    let long = " ".repeat(200 * 1024);
    assert_eq!(world.wire().await.post("/ldp/messages", "", &long).await.status, 400);
    large.send("x").await;
    assert_eq!(large.reply().await.text.len(), 200 * 1024);
    let mut again = world.wire().await;
    again.send(head(200 * 1024) + &"x".repeat(200 * 1024)).await;
    assert_eq!(again.reply().await.status, 200, "there is room again");
    world.end().await;
}

/// LD-H37
#[tokio::test]
async fn streams_live_on_and_end_with_the_server() {
    let mut options = LdpOptions::default();
    // Far less than the stream is open for.
    options.limits.stall_time = Duration::from_millis(200);
    options.limits.header_time = Duration::from_millis(200);
    options.limits.grace = Duration::from_secs(2);
    let (mut world, numbers) = world(options).await;
    let mut wire = world.wire().await;
    wire.send("GET /numbers HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert_eq!(wire.head().await.status, 200);
    for number in 1..=3u64 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        numbers.send_replace(number);
        assert_eq!(wire.chunk().await.unwrap(), format!("{number}\n").as_bytes());
    }
    let ((), end) = tokio::join!(world.stop_serving(), wire.chunk());
    assert_eq!(end, None, "it ends as a stream should");
    world.node.stop().await;
    world.member.stop().await;
}

/// LD-H37
#[tokio::test]
async fn a_large_answer_comes_whole() {
    let (world, _numbers) = world(LdpOptions::default()).await;
    let mut wire: Wire = world.wire().await;
    let reply = wire.get("/large", "").await;
    assert_eq!(reply.headers["content-length"], LARGE.to_string());
    assert!(reply.text.len() == LARGE && reply.text.bytes().all(|byte| byte == b'x'));
    assert_eq!(wire.get("/who", "").await.status, 200, "and the connection goes on");
    world.end().await;
}

/// LD-H36
#[tokio::test]
async fn http2_reaches_all_of_them() {
    let (world, numbers) = world(LdpOptions::default()).await;
    let client = crate::http2::client();
    let at = |path: &str| format!("http://{}{path}", world.address);
    let get = async |path: &str| client.get(at(path)).send().await.unwrap();
    assert_eq!(get("/").await.text().await.unwrap(), "home");
    assert_eq!(get("/delegates/pilot/healthz").await.status(), 200);
    let mut stream = get("/numbers").await.bytes_stream();
    numbers.send_replace(1);
    assert_eq!(stream.next().await.unwrap().unwrap(), "1\n");
    drop(stream);
    world.end().await;
}
