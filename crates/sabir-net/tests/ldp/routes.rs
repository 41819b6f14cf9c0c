//! What is where, and in which form.

use sabir_ldp::IdentityCard;
use serde_json::json;

use crate::world::{World, hello, open_session, say, submit};

/// LD-H1, LD-T1
#[tokio::test]
async fn the_card_has_two_places_and_is_read_as_what_it_is() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let known = wire.get("/.well-known/ldp-identity", "").await;
    let other = wire.get("/ldp/identity", "").await;
    assert_eq!((known.status, &known.text), (200, &other.text));
    assert_eq!(known.headers["content-type"], "application/json");
    let card = IdentityCard::check(&known.text).into_card().unwrap();
    assert_eq!(card, *world.node.card());
    assert!(card.public_key.is_some());
    let tag = &known.headers["etag"];
    let again = wire.get("/ldp/identity", &format!("if-none-match: {tag}\r\n")).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    world.end().await;
}

/// LD-H2
#[tokio::test]
async fn capabilities_name_the_modes_in_both_places() {
    let world = World::start().await;
    let found = world.wire().await.get("/ldp/capabilities", "").await.json();
    assert_eq!(found["capabilities"][0]["name"], "echo");
    for place in ["supported_modes", "supported_payload_modes"] {
        assert_eq!(found[place], json!(["semantic_frame", "text"]));
    }
    world.end().await;
}

/// LD-H3, LD-H4
#[tokio::test]
async fn a_message_has_one_answer_and_a_refusal_is_one() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let manifest = say(&mut wire, &hello()).await;
    assert_eq!(manifest["body"]["type"], "CAPABILITY_MANIFEST");
    let session = open_session(&mut wire).await;
    let result = say(&mut wire, &submit(&session, "t1", "echo", json!("ahoy"))).await;
    assert_eq!(result["body"]["type"], "TASK_RESULT", "{result}");
    assert_eq!(result["body"]["output"], "ahoy");
    let failed = say(&mut wire, &submit("nowhere", "t2", "echo", json!(1))).await;
    assert_eq!(failed["body"]["type"], "TASK_FAILED");
    assert_eq!(failed["body"]["error"]["code"], "SESSION_NOT_FOUND");
    assert_eq!(world.refusals(), ["SESSION_NOT_FOUND"]);
    world.end().await;
}

/// LD-H5
#[tokio::test]
async fn health_tells_how_much_there_is_to_do() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let session = open_session(&mut wire).await;
    let health = wire.get("/healthz", "").await;
    assert_eq!(health.status, 200);
    assert_eq!(
        health.json(),
        json!({ "status": "ok", "delegate_id": "ldp:delegate:harbor", "sessions": 1, "tasks": 0, "waiting": 0 })
    );
    let mut other = world.wire().await;
    other
        .send(crate::wire::posted(
            "/ldp/messages",
            "",
            &submit(&session, "t", "steps", json!({ "steps": 1 })),
        ))
        .await;
    crate::world::until(async || wire.get("/healthz", "").await.json()["tasks"] == 1).await;
    world.steps.send_replace(1);
    assert_eq!(other.reply().await.json()["body"]["output"], 1);
    world.node.stop().await;
    let stopped = wire.get("/healthz", "").await;
    assert_eq!((stopped.status, &stopped.json()["status"]), (503, &json!("stopping")));
    world.end().await;
}

/// LD-H6
#[tokio::test]
async fn other_paths_and_methods_are_told_so_in_json() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    for path in
        ["/", "/ldp", "/ldp/messages/", "/LDP/identity", "/ldp/../healthz", "/ldp/messages/x"]
    {
        let reply = wire.get(path, "").await;
        assert_eq!((reply.status, reply.code().as_str()), (404, "NO_SUCH_PATH"), "{path}");
    }
    for (method, path, allow) in [
        ("GET", "/ldp/messages", "POST"),
        ("PUT", "/ldp/stream", "POST"),
        ("POST", "/ldp/identity", "GET, HEAD"),
        ("DELETE", "/healthz", "GET, HEAD"),
        ("OPTIONS", "/ldp/messages", "POST"),
        ("POST", "/ldp/ws", "GET"),
    ] {
        wire.send(format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")).await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (405, "METHOD_NOT_ALLOWED"));
        assert_eq!(reply.headers["allow"], allow);
    }
    wire.send("HEAD /ldp/identity HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let head = wire.head().await;
    assert_eq!(head.status, 200);
    assert_ne!(head.headers["content-length"], "0");
    assert_eq!(wire.get("/healthz", "").await.status, 200, "a HEAD has no body");
    world.end().await;
}

/// LD-H7
#[tokio::test]
async fn only_json_is_taken_and_only_what_is_wanted_is_sent() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    for headers in
        ["", "content-type: text/plain\r\n", "content-type: application/json; charset=latin1\r\n"]
    {
        let body = hello();
        let length = body.len();
        wire.send(format!(
            "POST /ldp/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        ))
        .await;
        let reply = wire.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (415, "CONTENT_TYPE_NOT_JSON"));
    }
    let packed = wire.post("/ldp/messages", "content-encoding: gzip\r\n", &hello()).await;
    assert_eq!(packed.status, 415);
    for (path, accept) in [("/ldp/messages", "text/html"), ("/ldp/stream", "application/json")] {
        let reply = wire.post(path, &format!("accept: {accept}\r\n"), &hello()).await;
        assert_eq!((reply.status, reply.code().as_str()), (406, "NOT_ACCEPTABLE"));
    }
    let reply = wire.post("/ldp/messages", "accept: application/*;q=0.5\r\n", &hello()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(world.refusals(), [""; 0], "what is turned away is no message");
    world.end().await;
}

/// LD-H8
#[tokio::test]
async fn what_is_no_json_has_a_place_a_status_and_a_row() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let twice = r#"{"message_id":"1","message_id":"2"}"#;
    let deep = "[".repeat(1000);
    for text in ["", "{", "{\"a\":}", "nonsense", twice, &deep] {
        for path in ["/ldp/messages", "/ldp/stream"] {
            let reply = wire.post(path, "", text).await;
            assert_eq!((reply.status, reply.code().as_str()), (400, "MESSAGE_INVALID"), "{text}");
            let json = reply.json();
            assert_eq!(json["body"]["type"], "TASK_FAILED");
            assert_eq!(json["body"]["error"], json["error"]);
            assert_ne!(json["error"]["message"], "");
        }
    }
    assert_eq!(world.refusals(), ["MESSAGE_INVALID"; 12]);
    // JSON that is no message is refused as a message is.
    let reply = wire.post("/ldp/messages", "", r#"{"message_id":"m"}"#).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["body"]["error"]["code"], "MESSAGE_INVALID");
    assert_eq!(world.refusals().len(), 13);
    world.end().await;
}

/// LD-H8
#[tokio::test]
async fn what_is_no_text_has_a_place_a_status_and_a_row() {
    let world = World::start().await;
    let mut wire = world.wire().await;
    let whole = hello().into_bytes();
    let within = whole.iter().position(|byte| *byte == b'v').unwrap();
    let mut broken = whole.clone();
    broken[within] = 0xff;
    let mut trailing = whole.clone();
    trailing.push(0xff);
    for (bytes, place) in [(broken, within), (trailing, whole.len()), (vec![0xc3], 0)] {
        for path in ["/ldp/messages", "/ldp/stream"] {
            let head = crate::wire::posted(path, "", &"x".repeat(bytes.len()));
            wire.send(&head.as_bytes()[..head.len() - bytes.len()]).await;
            wire.send(&bytes).await;
            let reply = wire.reply().await;
            assert_eq!((reply.status, reply.code().as_str()), (400, "MESSAGE_INVALID"));
            let said = format!("the message is not UTF-8: see byte {place}");
            assert_eq!(reply.json()["error"]["message"], said);
        }
    }
    assert_eq!(world.refusals(), ["MESSAGE_INVALID"; 6]);
    world.end().await;
}
