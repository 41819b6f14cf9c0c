//! Messages over a WebSocket.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use sabir_net::Rate;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::world::{World, hello, message, open_session, say, submit, until};

type Socket = WebSocketStream<TcpStream>;

async fn open(world: &World) -> Socket {
    let stream = TcpStream::connect(world.address).await.unwrap();
    let (socket, _) = client_async(format!("ws://{}/ldp/ws", world.address), stream).await.unwrap();
    socket
}

async fn tell(socket: &mut Socket, message: &str) {
    socket.send(Message::text(message)).await.unwrap();
}

async fn hear(socket: &mut Socket) -> Value {
    loop {
        match tokio::time::timeout(Duration::from_secs(60), socket.next()).await.unwrap() {
            Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// How the other side ended it.
async fn ending(socket: &mut Socket) -> Option<CloseCode> {
    loop {
        match tokio::time::timeout(Duration::from_secs(60), socket.next()).await.unwrap() {
            Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return None,
        }
    }
}

async fn session(socket: &mut Socket) -> String {
    let config = json!({ "preferred_payload_modes": ["text"] });
    tell(socket, &message("", json!({ "type": "SESSION_PROPOSE", "config": config }))).await;
    let accepted = hear(socket).await;
    accepted["body"]["session_id"].as_str().unwrap().to_owned()
}

/// LD-H24
#[tokio::test]
async fn each_frame_is_an_envelope_and_updates_come_back() {
    let world = World::start().await;
    let mut socket = open(&world).await;
    tell(&mut socket, &hello()).await;
    assert_eq!(hear(&mut socket).await["body"]["type"], "CAPABILITY_MANIFEST");
    let session = session(&mut socket).await;
    tell(&mut socket, &submit(&session, "slow", "steps", json!({ "steps": 2 }))).await;
    // Another message is answered while the task runs.
    tell(&mut socket, &submit(&session, "fast", "echo", json!("ahoy"))).await;
    let mut told = Vec::new();
    while told.last().is_none_or(|told: &Value| told["body"]["task_id"] != "fast") {
        told.push(hear(&mut socket).await);
    }
    assert_eq!(told.last().unwrap()["body"]["output"], "ahoy");
    world.steps.send_replace(2);
    let mut told = Vec::new();
    while told.last().is_none_or(|told: &Value| told["body"]["type"] != "TASK_RESULT") {
        told.push(hear(&mut socket).await);
    }
    let steps = told.iter().filter_map(|told| told["body"]["message"].as_str());
    let steps: Vec<_> = steps.filter(|message| message.starts_with("step")).collect();
    assert_eq!(steps, ["step 1 ", "step 2 "]);
    // What is no message is refused, written down, and ends nothing.
    tell(&mut socket, "{").await;
    assert_eq!(hear(&mut socket).await["body"]["error"]["code"], "MESSAGE_INVALID");
    assert_eq!(world.refusals(), ["MESSAGE_INVALID"]);
    tell(&mut socket, &hello()).await;
    assert_eq!(hear(&mut socket).await["body"]["type"], "CAPABILITY_MANIFEST");
    world.end().await;
}

/// LD-H24
#[tokio::test]
async fn closing_a_socket_ends_no_task() {
    let world = World::start().await;
    let mut socket = open(&world).await;
    let session = session(&mut socket).await;
    let task = || submit(&session, "t", "steps", json!({ "steps": 1 }));
    tell(&mut socket, &task()).await;
    until(async || world.node.counts().running_tasks == 1).await;
    socket.close(None).await.unwrap();
    assert_eq!(ending(&mut socket).await, None);
    drop(socket);
    until(async || world.node.counts().waiting_requests == 0).await;
    assert_eq!(world.node.counts().running_tasks, 1);
    world.steps.send_replace(1);
    let mut other = open(&world).await;
    tell(&mut other, &task()).await;
    while hear(&mut other).await["body"]["type"] != "TASK_RESULT" {}
    world.end().await;
}

/// LD-H25
#[tokio::test]
async fn a_frame_has_a_size_and_is_a_text() {
    let world = World::limited(|limits| limits.frame_bytes = 2000).await;
    let mut socket = open(&world).await;
    socket.send(Message::text("x".repeat(2001))).await.unwrap();
    assert_eq!(ending(&mut socket).await, Some(CloseCode::Size));
    let mut socket = open(&world).await;
    socket.send(Message::binary(hello().into_bytes())).await.unwrap();
    assert_eq!(ending(&mut socket).await, Some(CloseCode::Unsupported));
    let mut wire = world.wire().await;
    let reply = wire.get("/ldp/ws", "").await;
    assert_eq!((reply.status, reply.code().as_str()), (400, "NO_WEBSOCKET_REQUEST"));
    assert_eq!(world.refusals(), [""; 0]);
    world.end().await;
}

/// LD-H25
#[tokio::test]
async fn who_writes_much_before_reading_is_answered_all_the_same() {
    let world = World::limited(|limits| limits.unanswered = 8).await;
    let mut socket = open(&world).await;
    let session = session(&mut socket).await;
    let (mut sink, mut source) = socket.split();
    let writing = tokio::spawn(async move {
        for task in 0..2000 {
            let input = json!("x".repeat(2000));
            let submit = submit(&session, &format!("t{task}"), "echo", input);
            sink.send(Message::text(submit)).await.unwrap();
        }
        sink
    });
    let mut answers = 0;
    while answers < 2000 {
        if let Message::Text(text) = source.next().await.unwrap().unwrap() {
            assert!(text.contains("TASK_RESULT"), "{text}");
            answers += 1;
        }
    }
    drop(writing.await.unwrap());
    world.end().await;
}

/// LD-H25: who has as many answers open as it may is read again when one of them has ended, and not
/// when something else happens.
#[tokio::test]
async fn a_socket_that_was_full_is_read_again() {
    let world = World::limited(|limits| {
        limits.unanswered = 1;
        // No ping wakes it.
        limits.quiet_time = Duration::from_secs(3600);
    })
    .await;
    let mut socket = open(&world).await;
    for _ in 0..10 {
        tell(&mut socket, &hello()).await;
    }
    for _ in 0..10 {
        assert_eq!(hear(&mut socket).await["body"]["type"], "CAPABILITY_MANIFEST");
    }
    world.end().await;
}

/// LD-H25
#[tokio::test]
async fn a_socket_that_asks_too_often_is_read_more_slowly() {
    let rate = Rate { per_second: 0.001, burst: 2.0 };
    let world = World::limited(|limits| {
        limits.loopback_rate = Some(rate);
        limits.quiet_time = Duration::from_millis(20);
    })
    .await;
    let mut socket = open(&world).await;
    for _ in 0..3 {
        tell(&mut socket, &hello()).await;
    }
    // The second is one too many: it is answered, and what follows waits.
    for _ in 0..2 {
        assert_eq!(hear(&mut socket).await["body"]["type"], "CAPABILITY_MANIFEST");
    }
    for _ in 0..5 {
        let frame = socket.next().await.unwrap().unwrap();
        assert!(matches!(frame, Message::Ping(_)), "{frame:?}");
    }
    assert_eq!(world.wire().await.get("/healthz", "").await.status, 429);
    world.end().await;
}

/// LD-H26
#[tokio::test]
async fn pings_go_out_and_silence_is_an_end() {
    let world = World::limited(|limits| limits.quiet_time = Duration::from_millis(50)).await;
    let mut socket = open(&world).await;
    // Reading answers pings, so that the socket stays.
    for _ in 0..10 {
        let frame = socket.next().await.unwrap().unwrap();
        assert!(matches!(frame, Message::Ping(_)), "{frame:?}");
    }
    tell(&mut socket, &hello()).await;
    assert_eq!(hear(&mut socket).await["body"]["type"], "CAPABILITY_MANIFEST");
    // A client that does not answer: it upgrades, and reads bytes without understanding them.
    let mut wire = world.wire().await;
    wire.send(
        "GET /ldp/ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    .await;
    assert_eq!(wire.head().await.status, 101);
    let pings = wire.rest().await;
    assert!(pings.starts_with(&[0x89, 0]), "{pings:?}");
    world.end().await;
}

/// LD-H26: a server that stood still itself has asked nobody, so that nobody was silent.
#[tokio::test]
async fn a_server_that_was_held_up_blames_nobody() {
    let quiet_time = Duration::from_millis(20);
    let world = World::limited(|limits| limits.quiet_time = quiet_time).await;
    let mut socket = open(&world).await;
    for _ in 0..10 {
        // Both sides live on this thread.
        std::thread::sleep(quiet_time * 5);
        tell(&mut socket, &hello()).await;
        assert_eq!(hear(&mut socket).await["body"]["type"], "CAPABILITY_MANIFEST");
    }
    world.end().await;
}

/// LD-H26
#[tokio::test]
async fn sockets_have_places_and_are_closed_when_the_server_stops() {
    let mut world = World::limited(|limits| limits.sockets = 1).await;
    let mut socket = open(&world).await;
    let reply = world.wire().await.get("/ldp/ws", "").await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "BUSY"));
    let (code, ()) = tokio::join!(ending(&mut socket), world.stop_serving());
    assert_eq!(code, Some(CloseCode::Away));
    world.node.stop().await;
}

/// LD-H28
#[tokio::test]
async fn a_socket_hears_that_the_node_stops_before_it_is_closed() {
    let world = World::limited(|limits| limits.grace = Duration::from_secs(60)).await;
    let mut socket = open(&world).await;
    let session = session(&mut socket).await;
    tell(&mut socket, &submit(&session, "t", "steps", json!({ "steps": 1 }))).await;
    until(async || world.node.counts().running_tasks == 1).await;
    let hearing = async {
        while hear(&mut socket).await["body"]["error"]["code"] != "INTERRUPTED" {}
        ending(&mut socket).await
    };
    let (code, ()) = tokio::join!(hearing, world.end_at_once());
    assert_eq!(code, Some(CloseCode::Away));
}

/// LD-H33
#[tokio::test]
async fn messages_that_find_no_room_are_not_read_for_long() {
    let world = World::limited(|limits| {
        limits.bodies_bytes = 32 * 1024;
        limits.body_time = Duration::from_millis(300);
    })
    .await;
    let mut socket = open(&world).await;
    let session = session(&mut socket).await;
    tell(&mut socket, &submit(&session, "t", "echo", json!("x".repeat(40_000)))).await;
    assert_eq!(hear(&mut socket).await["body"]["type"], "TASK_RESULT");
    // More than there ever is.
    tell(&mut socket, &submit(&session, "u", "echo", json!("x".repeat(100_000)))).await;
    assert_eq!(ending(&mut socket).await, Some(CloseCode::Again));
    world.end().await;
}

/// LD-H33
#[tokio::test]
async fn answers_that_find_no_room_are_asked_for_again() {
    let world = World::limited(|limits| limits.answers_bytes = 32 * 1024).await;
    let mut wire = world.wire().await;
    let session = open_session(&mut wire).await;
    let task = |name: &str, bytes: usize| submit(&session, name, "echo", json!("x".repeat(bytes)));
    assert_eq!(wire.post("/ldp/messages", "", &task("t", 40_000)).await.status, 200);
    // Its room is free again.
    assert_eq!(wire.post("/ldp/messages", "", &task("u", 40_000)).await.status, 200);
    let refused = wire.post("/ldp/messages", "", &task("v", 100_000)).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "BUSY"));
    let mut socket = open(&world).await;
    tell(&mut socket, &task("v", 100_000)).await;
    assert_eq!(ending(&mut socket).await, Some(CloseCode::Again));
    world.end().await;
}

/// LD-H28
#[tokio::test]
async fn a_socket_that_reads_nothing_does_not_hold_up_the_end() {
    let world = World::limited(|limits| limits.stall_time = Duration::from_secs(3600)).await;
    let mut socket = open(&world).await;
    let session = session(&mut socket).await;
    let many = submit(&session, "t", "steps", json!({ "steps": 5000, "bytes": 8000 }));
    tell(&mut socket, &many).await;
    world.steps.send_replace(u64::MAX);
    until(async || world.node.counts().running_tasks == 0).await;
    // Nobody reads: far more was told than connections hold.
    tokio::time::timeout(Duration::from_secs(60), world.end()).await.unwrap();
    drop(socket);
}

/// LD-H25, LD-N13: what is stored is for everybody, also while somebody reads nothing.
#[tokio::test]
async fn a_socket_that_reads_nothing_takes_nothing_from_others() {
    let world = World::limited(|limits| limits.stall_time = Duration::from_secs(3600)).await;
    let mut wire = world.wire().await;
    let mine = open_session(&mut wire).await;
    say(&mut wire, &submit(&mine, "mine", "echo", json!("ahoy"))).await;
    let mut socket = open(&world).await;
    let theirs = session(&mut socket).await;
    let large = "x".repeat(200_000);
    // Until not even the connections between them take any more.
    for number in 0.. {
        let task = submit(&theirs, &format!("t-{number}"), "echo", json!(large));
        let telling = tokio::time::timeout(Duration::from_secs(2), tell(&mut socket, &task));
        if telling.await.is_err() {
            break;
        }
        assert!(number < 5000, "it was listened to for ever");
    }
    let again = say(&mut wire, &submit(&mine, "mine", "echo", json!("ahoy"))).await;
    assert_eq!(
        (&again["body"]["type"], &again["body"]["output"]),
        (&"TASK_RESULT".into(), &"ahoy".into())
    );
    let streamed =
        wire.post("/ldp/stream", "", &submit(&mine, "new", "echo", json!("avast"))).await;
    assert_eq!(streamed.status, 200);
    drop(socket);
    world.end().await;
}
