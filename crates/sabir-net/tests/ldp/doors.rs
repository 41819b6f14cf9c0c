//! Who is let in.

use sabir_ldp::Fingerprint;
use sabir_net::{Demand, LdpOptions, LdpServer, ListenError};
use serde_json::json;

use crate::world::{TOKEN, World, hello, message};

fn with_token(demand: Demand) -> LdpOptions {
    let tokens = vec![Fingerprint::of(b"another"), Fingerprint::of(TOKEN.as_bytes())];
    LdpOptions { tokens, demand, ..LdpOptions::default() }
}

/// LD-H9
#[tokio::test]
async fn pages_of_other_sites_are_turned_away() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let port = world.address.port();
    for origin in ["https://evil.example", "null", "http://localhost:1"] {
        for path in ["/ldp/messages", "/ldp/stream"] {
            let reply = wire.post(path, &format!("origin: {origin}\r\n"), &hello()).await;
            assert_eq!((reply.status, reply.code().as_str()), (403, "FOREIGN_ORIGIN"), "{origin}");
        }
        let reply = wire.get("/ldp/ws", &format!("origin: {origin}\r\n")).await;
        assert_eq!(reply.status, 403);
    }
    for host in ["evil.example", "localhost.evil.example", "10.0.0.1"] {
        wire.send(format!("GET /ldp/identity HTTP/1.1\r\nhost: {host}:{port}\r\n\r\n")).await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "FOREIGN_HOST"), "{host}");
    }
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        let own = format!("host: {host}:{port}\r\norigin: http://{host}:{port}\r\n");
        wire.send(format!("GET /ldp/identity HTTP/1.1\r\n{own}\r\n")).await;
        assert_eq!(wire.reply().await.status, 200, "{host}");
    }
    wire.send("GET /healthz HTTP/1.1\r\n\r\n").await;
    assert_eq!(wire.reply().await.status, 403, "without a host");
    world.end().await;
}

/// LD-H38
#[tokio::test]
async fn a_request_that_can_be_read_in_two_ways_is_none() {
    let world = World::start().await;
    let host = format!("host: {}\r\n", world.address);
    let behind = format!("GET /healthz HTTP/1.1\r\n{host}\r\n");
    let chunked = "transfer-encoding: chunked\r\n";
    for twice in [host.as_str(), chunked] {
        let head = format!("POST /ldp/messages HTTP/1.1\r\n{host}{chunked}{twice}");
        let mut wire = world.wire().await;
        let json = "content-type: application/json\r\n";
        wire.send(format!("{head}{json}\r\n2\r\n{{}}\r\n0\r\n\r\n{behind}")).await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "REQUEST_AMBIGUOUS"), "{twice}");
        assert_eq!(reply.headers["connection"], "close");
        assert_eq!(wire.rest().await, b"", "{twice}");
    }
    // Two lengths, chunks that are not the last encoding, chunks of HTTP/1.0: no HTTP, in no words.
    for (version, lengths) in [
        ("1.1", "content-length: 2\r\ncontent-length: 3\r\n"),
        ("1.1", "content-length: +2\r\n"),
        ("1.1", "transfer-encoding: gzip\r\n"),
        ("1.1", "transfer-encoding: chunked, identity\r\n"),
        ("1.0", chunked),
    ] {
        let mut wire = world.wire().await;
        let head = format!("POST /ldp/messages HTTP/{version}\r\n{host}{lengths}");
        wire.send(format!("{head}\r\n{{}}{behind}")).await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.text.len()), (400, 0), "{lengths}");
        assert_eq!(wire.rest().await, b"", "{lengths}");
    }
    // With a length beside chunks the chunks count, and nothing that is behind them.
    for both in
        [format!("content-length: 2\r\n{chunked}"), format!("{chunked}content-length: 2\r\n")]
    {
        let mut wire = world.wire().await;
        let head = format!("POST /ldp/messages HTTP/1.1\r\n{host}{both}");
        let (json, hello) = ("content-type: application/json\r\n", hello());
        let body = format!("{:x}\r\n{hello}\r\n0\r\n\r\n", hello.len());
        wire.send(format!("{head}{json}\r\n{body}{behind}")).await;
        let reply = wire.reply().await;
        assert_eq!(reply.json()["body"]["type"], "CAPABILITY_MANIFEST");
        assert_eq!(reply.headers["connection"], "close");
        assert_eq!(wire.rest().await, b"", "{both}");
    }
    world.end().await;
}

/// LD-H10
#[tokio::test]
async fn beyond_loopback_callers_must_prove_who_they_are() {
    let far = || vec!["0.0.0.0:0".parse().unwrap()];
    let refused = LdpServer::bind(far(), LdpOptions::default()).await;
    let Err(error @ ListenError::Unproven { .. }) = refused else { panic!("it was bound") };
    let said = error.to_string();
    assert!(said.contains("token") && said.contains("127.0.0.1"), "{said}");
    LdpServer::bind(far(), with_token(Demand::Elsewhere)).await.unwrap();
    let near = vec!["127.0.0.1:0".parse().unwrap(), "[::1]:0".parse().unwrap()];
    LdpServer::bind(near, LdpOptions::default()).await.unwrap();
}

/// LD-H11
#[tokio::test]
async fn a_token_is_asked_for_and_compared_as_a_whole() {
    let world = World::with(with_token(Demand::Everyone)).await;
    let mut wire = world.wire().await;
    for path in ["/ldp/identity", "/ldp/capabilities", "/ldp/openapi.json", "/ldp/ws"] {
        let reply = wire.get(path, "").await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "TOKEN_REQUIRED"), "{path}");
        assert_eq!(reply.headers["www-authenticate"], "Bearer");
    }
    for wrong in ["Bearer open-sesam", "Bearer open-sesame2", "Bearer", "Basic open-sesame"] {
        let wrong = format!("authorization: {wrong}\r\n");
        let reply = wire.post("/ldp/messages", &wrong, &hello()).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "TOKEN_WRONG"), "{wrong}");
        assert_eq!(reply.headers["www-authenticate"], "Bearer");
    }
    let right = format!("authorization: Bearer {TOKEN}\r\n");
    let reply = wire.post("/ldp/messages", &right, &hello()).await;
    assert_eq!(reply.json()["body"]["type"], "CAPABILITY_MANIFEST");
    assert_eq!(world.refusals(), [""; 0]);
    // Who watches over the machine has no token.
    assert_eq!(wire.get("/healthz", "").await.status, 200);
    world.end().await;
}

/// LD-H11
#[tokio::test]
async fn where_tokens_are_for_others_this_machine_needs_none_but_a_wrong_one_is_wrong() {
    let world = World::with(with_token(Demand::Elsewhere)).await;
    let mut wire = world.wire().await;
    assert_eq!(wire.post("/ldp/messages", "", &hello()).await.status, 200);
    let wrong = "authorization: Bearer nonsense\r\n";
    assert_eq!(wire.post("/ldp/messages", wrong, &hello()).await.status, 401);
    world.end().await;
}

/// LD-H12
#[tokio::test]
async fn what_a_header_says_makes_nobody_nearer() {
    let propose = || message("", json!({ "type": "SESSION_PROPOSE", "config": {} }));
    let open = World::start().await;
    let mut wire = open.wire().await;
    let near = wire.post("/ldp/messages", "", &propose()).await.json();
    assert_eq!(near["body"]["type"], "SESSION_ACCEPT");
    for header in ["x-forwarded-for: 127.0.0.1", "forwarded: for=127.0.0.1", "x-real-ip: 10.0.0.1"]
    {
        let header = format!("{header}\r\n");
        // Where there are no tokens nobody from elsewhere is heard, at any route of a delegate.
        for said in [hello(), propose()] {
            for path in ["/ldp/messages", "/ldp/stream"] {
                let far = wire.post(path, &header, &said).await;
                assert_eq!((far.status, far.code().as_str()), (401, "TOKEN_REQUIRED"), "{header}");
            }
        }
        for path in ["/ldp/identity", "/ldp/capabilities", "/ldp/ws"] {
            assert_eq!(wire.get(path, &header).await.code(), "TOKEN_REQUIRED", "{path}");
        }
    }
    open.end().await;
    let asked = World::with(with_token(Demand::Elsewhere)).await;
    let mut wire = asked.wire().await;
    let far = wire.post("/ldp/messages", "x-forwarded-for: 127.0.0.1\r\n", &propose()).await;
    assert_eq!(far.status, 401);
    let health = wire.get("/healthz", "x-forwarded-for: 127.0.0.1\r\n").await;
    assert_eq!(health.json(), json!({ "status": "ok" }), "strangers learn no more");
    asked.end().await;
}
