//! Where a server listens, and how much it takes on.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;

use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::server::{Place, Serving, soon, user_input};
use super::wires::{Kind, Wire};

/// QP-T15: the socket is for its owner alone, and one that nobody answers at is replaced.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_socket_is_replaced() {
    let place = Place::new();
    let socket = place.socket();
    // Its listener is gone, its file stays.
    drop(UnixListener::bind(&socket).unwrap());
    let serving = Serving::start(&place, &["--unix", socket.to_str().unwrap()], 1).await;
    let facts = std::fs::symlink_metadata(&socket).unwrap();
    assert!(facts.file_type().is_socket());
    assert_eq!(facts.permissions().mode() & 0o7777, 0o600);
    let model = FakeModel::start([]);
    let mut wire = Wire::connect(Kind::Unix, &serving, None).await;
    wire.send(place.configure(&model, "never")).await;
    wire.until("c session_configured", &mut Vec::new()).await;
    // Nothing else is left beside it.
    let mut names: Vec<_> = std::fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["home", "socket", "work"]);
}

/// QP-T15: a socket that somebody answers at, and a file that is no socket, are left alone.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_use_is_not_replaced() {
    let place = Place::new();
    let refused = async || {
        let output = place.proto().arg("--unix").arg(place.socket()).output();
        let output = soon("the refusal", output).await.unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let answering = UnixListener::bind(place.socket()).unwrap();
    let said = refused().await;
    assert!(said.contains("another program listens"), "{said}");
    drop(answering);
    std::fs::remove_file(place.socket()).unwrap();
    std::fs::write(place.socket(), "precious").unwrap();
    let said = refused().await;
    assert!(said.contains("is not a socket"), "{said}");
    assert_eq!(std::fs::read_to_string(place.socket()).unwrap(), "precious");
}

/// QP-T17: an address that is in use, or none, is an error that names it.
#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_cannot_be_used_are_named() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let args: [(&[&str], &str); 4] = [
        (&["--tcp", &address], &format!("cannot listen on tcp {address}")),
        (&["--tcp", "nowhere"], "127.0.0.1:PORT"),
        (&["--json"], "--tcp"),
        (&["--token-file", "x"], "--tcp"),
    ];
    for (args, why) in args {
        let output = soon("the refusal", place.proto().args(args).output()).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{args:?}: {said}");
    }
}

/// QP-T1, QP-T13: two connections are two sessions, at one time.
#[tokio::test(flavor = "multi_thread")]
async fn two_connections_are_two_sessions() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let gate = Gate::new();
    let waiting = FakeModel::start([Reply::sse([responses::created("r1")])
        .then_wait(&gate)
        .then(responses::message("first"))
        .then(responses::completed("r1"))]);
    let mut first = Wire::connect(Kind::Tcp, &serving, None).await;
    first.send(place.configure(&waiting, "never")).await;
    first.send(user_input("t", "wait")).await;
    first.until("t task_started", &mut Vec::new()).await;

    let model = FakeModel::start([Reply::sse([
        responses::created("r2"),
        responses::message("second"),
        responses::completed("r2"),
    ])]);
    let mut second = Wire::connect(Kind::Tcp, &serving, None).await;
    second.send(place.configure(&model, "never")).await;
    second.send(user_input("t", "go")).await;
    let mut heard = Vec::new();
    let told = second.until("t agent_message", &mut heard).await;
    assert!(told.contains("second"), "{told}");
    second.until("t task_complete", &mut heard).await;

    gate.open();
    let told = first.until("t agent_message", &mut Vec::new()).await;
    assert!(told.contains("first"), "{told}");
}

/// QP-T5: the same request over HTTP/1.1, in chunks.
#[tokio::test(flavor = "multi_thread")]
async fn http_1_works_as_well() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let model = FakeModel::start([]);
    let address = serving.address(Kind::Http);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /session HTTP/1.1\r\nHost: {address}\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let shutdown = r#"{"id":"s","op":{"type":"shutdown"}}"#;
    for line in [place.configure(&model, "never"), shutdown.to_owned()] {
        let chunk = format!("{:x}\r\n{line}\n\r\n", line.len() + 1);
        stream.write_all(chunk.as_bytes()).await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    soon("the answer", stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("session_configured"), "{answer}");
    assert!(answer.contains("shutdown_complete"), "{answer}");
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
}

/// QP-T16: one session too many is told so, one connection too many is closed, and room that becomes
/// free is given again.
#[tokio::test(flavor = "multi_thread")]
async fn connections_are_bounded() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &["--max-sessions", "2"]).await;
    let address = serving.address(Kind::Tcp);
    let question = b"{\"id\":\"h\",\"op\":{\"type\":\"get_history\"}}\n";
    let mut open = Vec::new();
    for words in ["configure_session first", "configure_session first", "too many sessions"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(question).await.unwrap();
        let mut answer = [0; 512];
        let count = soon("an answer", stream.read(&mut answer)).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..count]);
        assert!(answer.contains(words), "{answer}");
        open.push(stream);
    }
    open.pop();
    while open.len() < 2 + 64 {
        open.push(TcpStream::connect(address).await.unwrap());
    }
    let mut one_more = TcpStream::connect(address).await.unwrap();
    let read = soon("the end", one_more.read(&mut [0; 1])).await;
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    drop(open);
    // It takes a moment until all of them are seen to be gone.
    let answered = async {
        loop {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let mut start = [0; 1];
            if stream.write_all(question).await.is_ok()
                && stream.read_exact(&mut start).await.is_ok()
            {
                return;
            }
        }
    };
    soon("room", answered).await;
}
