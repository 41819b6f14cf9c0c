//! Who is let in.

use std::os::unix::fs::PermissionsExt as _;

use futures_util::{SinkExt as _, Stream, StreamExt as _};
use sabir_testkit::fake_model::FakeModel;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{self, Message, client::IntoClientRequest as _};

use super::server::{Place, Serving, name, soon};
use super::wires::{Kind, Wire, http_client};

const TOKEN: &str = "correct-horse";

fn token_file(place: &Place, mode: u32) -> String {
    let path = place.path().join("token");
    std::fs::write(&path, format!("{TOKEN}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// QP-T10, QP-T11: a token that is set is demanded on every transport, and the right one opens it.
#[tokio::test(flavor = "multi_thread")]
async fn the_right_token_opens_every_transport() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &["--token-file", &token_file(&place, 0o600)]).await;
    let model = FakeModel::start([]);
    for kind in Kind::ALL {
        let mut wire = Wire::connect(kind, &serving, Some(TOKEN)).await;
        wire.send(place.configure(&model, "never")).await;
        wire.until("c session_configured", &mut Vec::new()).await;
    }
    // What was asked of it never stands in what it says.
    serving.signal(rustix::process::Signal::TERM);
    let (status, said) = serving.ended().await;
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

/// QP-T11: without the token, or with another, a connection is told why and closed.
#[tokio::test(flavor = "multi_thread")]
async fn other_tokens_open_nothing() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &["--token-file", &token_file(&place, 0o400)]).await;
    let model = FakeModel::start([]);
    for (token, why) in [(None, "a token is needed"), (Some("wrong"), "the token is wrong")] {
        for kind in [Kind::Tcp, Kind::Unix] {
            let mut wire = Wire::connect(kind, &serving, token).await;
            wire.send(place.configure(&model, "never")).await;
            let error = wire.next().await.unwrap();
            assert_eq!(name(&error), "- error");
            assert!(error.contains(why), "{kind:?}: {error}");
            assert_eq!(wire.next().await, None, "{kind:?} stays open");
        }
        let bearer = token.map(|token| format!("Bearer {token}"));

        let mut request =
            format!("ws://{}/", serving.address(Kind::Ws)).into_client_request().unwrap();
        if let Some(bearer) = &bearer {
            request.headers_mut().insert("authorization", bearer.parse().unwrap());
        }
        let refused = tokio_tungstenite::connect_async(request).await.unwrap_err();
        assert_eq!(status_of(&refused), 401);

        let url = format!("http://{}/session", serving.address(Kind::Http));
        let mut request = http_client().post(url).body(place.configure(&model, "never"));
        if let Some(bearer) = &bearer {
            request = request.header("authorization", bearer);
        }
        let response = soon("a response", request.send()).await.unwrap();
        assert_eq!(response.status(), 401);
        let text = response.text().await.unwrap();
        assert!(text.contains(why), "{text}");

        let refused = Wire::grpc(serving.address(Kind::Grpc), bearer).await.err().unwrap();
        assert_eq!(refused.code(), tonic::Code::Unauthenticated);
        assert!(refused.message().contains(why), "{refused}");
    }
}

fn status_of(refused: &tungstenite::Error) -> u16 {
    match refused {
        tungstenite::Error::Http(response) => response.status().as_u16(),
        other => panic!("not an answer: {other}"),
    }
}

/// QP-T10: a token from the environment counts as well.
#[tokio::test(flavor = "multi_thread")]
async fn the_environment_may_hold_the_token() {
    let place = Place::new();
    let mut command = place.proto();
    command.args(["--tcp", "127.0.0.1:0", "--json"]).env("SABIR_TOKEN", TOKEN);
    let mut child = command.spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(stdout));
    let line = soon("an address", lines.next_line()).await.unwrap().unwrap();
    let listening: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(listening["transport"], "tcp");
    let address = listening["address"].as_str().unwrap();
    let mut wire = Wire::of_tcp(TcpStream::connect(address).await.unwrap());
    wire.send(r#"{"id":"1","op":{"type":"get_history"}}"#).await;
    assert!(wire.next().await.unwrap().contains("a token is needed"));
}

/// QP-T9: beyond loopback nothing starts without a token.
#[tokio::test(flavor = "multi_thread")]
async fn the_network_needs_a_token() {
    let place = Place::new();
    for transport in ["--tcp", "--ws", "--http", "--grpc"] {
        for address in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"] {
            let output = place.proto().args([transport, address]).output();
            let output = soon("the refusal", output).await.unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("--token-file FILE or set SABIR_TOKEN"), "{said}");
        }
    }
    let token = token_file(&place, 0o600);
    let args = ["--tcp", "0.0.0.0:0", "--token-file", &token];
    let serving = Serving::start(&place, &args, 1).await;
    assert!(serving.address(Kind::Tcp).starts_with("0.0.0.0:"));
}

/// QP-T10: a token that others can read is no token.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_file_is_for_its_owner_alone() {
    let place = Place::new();
    let refused = async |path: &str| {
        let output = place.proto().args(["--tcp", "127.0.0.1:0", "--token-file", path]).output();
        let output = soon("the refusal", output).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(!said.contains(TOKEN), "{said}");
        said
    };
    for mode in [0o640, 0o604, 0o622, 0o700] {
        let said = refused(&token_file(&place, mode)).await;
        assert!(said.contains("chmod 600"), "{said}");
    }
    let path = token_file(&place, 0o600);
    for (text, why) in [("", "empty"), (" \n", "empty"), ("two words", "visible ASCII")] {
        std::fs::write(&path, text).unwrap();
        let said = refused(&path).await;
        assert!(said.contains(why), "{said}");
    }
    assert!(refused("missing").await.contains("missing"));
    assert!(refused(place.path().to_str().unwrap()).await.contains("not a file"));
}

/// QP-T12: pages of other sites, and names that somebody pointed at us, are turned away.
#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_turned_away() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let ws = async |headers: &[(&str, &str)]| {
        let address = serving.address(Kind::Ws);
        let mut request = format!("ws://{address}/").into_client_request().unwrap();
        for (name, value) in headers {
            let name = tungstenite::http::HeaderName::try_from(*name).unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        tokio_tungstenite::connect_async(request).await.map(|_| ()).map_err(|it| status_of(&it))
    };
    let own = format!("http://{}", serving.address(Kind::Ws));
    assert_eq!(ws(&[("origin", &own)]).await, Ok(()));
    assert_eq!(ws(&[("origin", "https://evil.example")]).await, Err(403));
    assert_eq!(ws(&[("origin", "null")]).await, Err(403));
    assert_eq!(ws(&[("host", "evil.example")]).await, Err(403));
    let both = [("host", "evil.example"), ("origin", "http://evil.example")];
    assert_eq!(ws(&both).await, Err(403));

    for kind in [Kind::Http, Kind::Grpc] {
        let path =
            ["session", "sabir.queue_pair.v1.QueuePair/Session"][(kind == Kind::Grpc) as usize];
        let url = format!("http://{}/{path}", serving.address(kind));
        let request = http_client().post(url).header("origin", "https://evil.example");
        let response = soon("a response", request.send()).await.unwrap();
        let denied = match kind {
            Kind::Grpc => response.headers().get("grpc-status").is_some_and(|it| it == "7"),
            _ => response.status() == 403,
        };
        assert!(denied, "{response:?}");
    }
    // Over HTTP/1.1, where the name is a header.
    let mut stream = TcpStream::connect(serving.address(Kind::Http)).await.unwrap();
    let request = "POST /session HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    soon("a response", stream.read_exact(&mut start)).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 403");
}

/// QP-T12: a page can post to a port of lines; its submissions are not read.
#[tokio::test(flavor = "multi_thread")]
async fn lines_are_not_http() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let model = FakeModel::start([]);
    let mut stream = TcpStream::connect(serving.address(Kind::Tcp)).await.unwrap();
    let body = format!("\r\n{}\n", place.configure(&model, "never"));
    let request = format!("POST / HTTP/1.1\r\nHost: x\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon("the end", stream.read_to_string(&mut answer)).await.unwrap();
    assert_eq!(answer.lines().count(), 1, "{answer}");
    assert!(answer.contains("not HTTP"), "{answer}");
}

/// QP-T4: a binary frame is answered with an error, and the session goes on; so is a message that
/// is far too long, after which nothing more can be read.
#[tokio::test(flavor = "multi_thread")]
async fn frames_that_are_no_messages_are_answered() {
    let place = Place::new();
    let serving = Serving::everywhere(&place, &[]).await;
    let url = format!("ws://{}/", serving.address(Kind::Ws));
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    socket.send(Message::binary(b"{}".to_vec())).await.unwrap();
    let told = next_frame(&mut socket).await;
    assert!(told.to_text().unwrap().contains("text frames"), "{told}");
    socket.send(Message::text("")).await.unwrap();
    socket.send(Message::text(r#"{"id":"h","op":{"type":"get_history"}}"#)).await.unwrap();
    assert_eq!(name(next_frame(&mut socket).await.to_text().unwrap()), "h error");
    let (mut sink, mut frames) = socket.split();
    // The server stops reading in the middle of it.
    let sending = tokio::spawn(async move {
        let too_long = "x".repeat(2 * sabir_engine::MAX_LINE_BYTES + 1);
        let _ = sink.send(Message::text(too_long)).await;
    });
    let told = next_frame(&mut frames).await;
    assert!(told.to_text().unwrap().contains("longer than 16 MiB"), "{told}");
    sending.abort();
}

async fn next_frame(
    frames: &mut (impl Stream<Item = Result<Message, tungstenite::Error>> + Unpin),
) -> Message {
    soon("a frame", frames.next()).await.unwrap().unwrap()
}
