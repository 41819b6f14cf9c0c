//! HTTP/2 without TLS, as frames where a client would not say what is to be tried.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::wire::Wire;
use crate::world::{World, hello, open_session, submit};

pub(crate) fn client() -> reqwest::Client {
    // The provider is the process's; another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().http2_prior_knowledge().build().unwrap()
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// `GET http://localhost/healthz` without compression.
fn asking() -> Vec<u8> {
    let mut block = vec![0x82, 0x86, 0x04, 8];
    block.extend(b"/healthz");
    block.extend([0x01, 9]);
    block.extend(b"localhost");
    block
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

/// What kinds of frames came.
fn kinds(mut bytes: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(9) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        kinds.push(head[3]);
        bytes = rest.get(length..).unwrap_or_default();
    }
    kinds
}

/// LD-H29
#[tokio::test]
async fn both_versions_are_spoken_at_one_port() {
    let world = World::start().await;
    let session = open_session(&mut world.wire().await).await;
    let client = client();
    let url = format!("http://{}/ldp/messages", world.address);
    let mut asking = Vec::new();
    for task in 0..300 {
        let message = submit(&session, &format!("t{task}"), "echo", json!(task));
        let request = client.post(&url).header("content-type", "application/json").body(message);
        asking.push(request.send());
    }
    for (task, answer) in futures_util::future::join_all(asking).await.into_iter().enumerate() {
        let answer = answer.unwrap();
        assert_eq!(answer.version(), reqwest::Version::HTTP_2);
        let text = answer.text().await.unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["body"]["output"], task, "{text}");
    }
    let refused = client.post(&url).body(hello()).send().await.unwrap();
    assert_eq!(refused.status(), 415);
    let huge = vec![b'x'; 5 * 1024 * 1024];
    let request = client.post(&url).header("content-type", "application/json").body(huge);
    assert_eq!(request.send().await.unwrap().status(), 413);
    world.end().await;
}

/// LD-H29
#[tokio::test]
async fn streams_that_are_opened_and_reset_are_not_suffered() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let mut flood = PREFACE.to_vec();
    flood.extend(frame(SETTINGS, 0, 0, &[]));
    for number in 0..5000_u32 {
        let stream = 2 * number + 1;
        flood.extend(frame(HEADERS, 0x5, stream, &asking()));
        flood.extend(frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]));
    }
    wire.try_send(&flood).await;
    let came = wire.rest().await;
    assert!(kinds(&came).contains(&GOAWAY), "{:?}", kinds(&came));
    assert_eq!(world.wire().await.get("/healthz", "").await.status, 200);
    world.end().await;
}

/// LD-H29
#[tokio::test]
async fn headers_that_never_end_are_cut_off() {
    let world = World::limited(|limits| limits.header_time = Duration::from_millis(300)).await;
    let start = |more: Vec<u8>| [PREFACE, &frame(SETTINGS, 0, 0, &[]), &more].concat();
    for beginning in
        [PREFACE[..10].to_vec(), start(Vec::new()), start(frame(HEADERS, 1, 1, &asking()))]
    {
        let mut wire: Wire = world.wire().await;
        wire.send(&beginning).await;
        assert!(!kinds(&wire.rest().await).contains(&HEADERS));
    }
    world.end().await;
}

/// LD-H22: a client that answers pings and leaves a response where it is.
#[tokio::test]
async fn a_response_that_nobody_takes_ends_the_connection() {
    let world = World::limited(|limits| limits.stall_time = Duration::from_millis(300)).await;
    let session = open_session(&mut world.wire().await).await;
    let mut wire = world.wire().await;
    // No response may send a byte of its body.
    let no_window = [0, 4, 0, 0, 0, 0];
    let task = submit(&session, "t", "echo", json!("ahoy"));
    let mut block = vec![0x83, 0x86, 0x04, 13];
    block.extend(b"/ldp/messages");
    block.extend([0x01, 9]);
    block.extend(b"localhost");
    block.extend([0x0f, 0x10, 16]);
    block.extend(b"application/json");
    let asking = [
        PREFACE,
        &frame(SETTINGS, 0, 0, &no_window),
        &frame(HEADERS, 0x4, 1, &block),
        &frame(DATA, 0x1, 1, task.as_bytes()),
    ];
    wire.send(asking.concat()).await;
    let came = kinds(&wire.rest().await);
    assert!(came.contains(&HEADERS) && !came.contains(&DATA), "{came:?}");
    world.end().await;
}

/// LD-H34
#[tokio::test]
async fn pings_do_not_keep_an_idle_connection() {
    let world = World::limited(|limits| limits.header_time = Duration::from_millis(300)).await;
    let stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let (read, mut write) = stream.into_split();
    let start = [PREFACE, &frame(SETTINGS, 0, 0, &[]), &frame(HEADERS, 0x5, 1, &asking())].concat();
    write.write_all(&start).await.unwrap();
    let pinging = tokio::spawn(async move {
        let mut pace = tokio::time::interval(Duration::from_millis(20));
        // It goes on until the other side has enough.
        while write.write_all(&frame(PING, 0, 0, &[7; 8])).await.is_ok() {
            pace.tick().await;
        }
    });
    let mut wire = Wire::over(tokio::io::join(read, tokio::io::sink()));
    let came = kinds(&wire.rest().await);
    // The request and pings were answered, and then it was enough.
    assert!(came.contains(&HEADERS) && came.contains(&GOAWAY), "{came:?}");
    assert!(came.iter().filter(|kind| **kind == PING).count() > 2, "{came:?}");
    pinging.await.unwrap();
    world.end().await;
}

/// LD-H34: a request that is being answered is no idleness, however long it takes.
#[tokio::test]
async fn a_connection_with_a_stream_is_not_idle() {
    let world = World::limited(|limits| {
        limits.header_time = Duration::from_millis(300);
        limits.quiet_time = Duration::from_millis(100);
    })
    .await;
    let session = open_session(&mut world.wire().await).await;
    let url = format!("http://{}/ldp/stream", world.address);
    let task = submit(&session, "t", "steps", json!({ "steps": 1 }));
    let asked = client().post(&url).header("content-type", "application/json").body(task);
    let mut answer = asked.send().await.unwrap();
    assert_eq!(answer.version(), reqwest::Version::HTTP_2);
    // Signs of life over several times the limit.
    let mut text = String::new();
    while text.matches(": alive").count() < 10 {
        text += std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap();
    }
    world.steps.send_replace(1);
    while let Some(more) = answer.chunk().await.unwrap() {
        text += std::str::from_utf8(&more).unwrap();
    }
    assert!(text.contains("TASK_RESULT"), "{text}");
    world.end().await;
}
