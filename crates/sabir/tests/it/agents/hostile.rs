//! Peers who mean harm, or know no better: each gets a clear answer in time, nothing runs, and the
//! node's memory stays bounded.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harbor::{
    Answer, NODE, Node, connect, exchange, fresh, logged, logging_skill, message, open,
    open_for_text, post, stamp, submit,
};

const ASKER: &str = "ldp:delegate:asker";

/// What an answer must be.
enum Wanted {
    /// An envelope with this error.
    Code(&'static str),
    /// An error of HTTP.
    Status(u16),
    /// Some error, whichever is found first.
    AnyError,
}

use Wanted::{AnyError, Code, Status};

fn check(what: &str, wanted: &Wanted, answer: &Answer) {
    let Answer { status, body } = answer;
    let code = || {
        let envelope: Value = serde_json::from_str(body).unwrap_or_default();
        envelope["body"]["error"]["code"].as_str().unwrap_or_default().to_owned()
    };
    match wanted {
        Code(expected) => {
            assert_eq!((*status, code().as_str()), (200, *expected), "{what}: {body}");
        }
        Status(expected) => assert_eq!(status, expected, "{what}: {body}"),
        AnyError if *status == 200 => assert!(!code().is_empty(), "{what}: {body}"),
        AnyError => assert!((400..500).contains(status), "{what}: {status} {body}"),
    }
    assert!(body.len() < 64 * 1024, "{what}: an answer of {} bytes", body.len());
}

#[test]
fn bad_messages_get_clear_answers() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let sections = format!(
        "{}\n[[peers]]\ndelegate_id = \"ldp:delegate:friend\"\nhmac_secret_env = \"FRIEND\"\n",
        logging_skill(&log)
    );
    let node = Node::start_with(home.path(), &sections, &[("FRIEND", "secret")]);
    let session = open_for_text(&node, ASKER);
    let frames =
        json!({ "preferred_payload_modes": ["semantic_frame"], "trust_domain": "default" });
    let framed = open(&node, ASKER, frames);

    let task = || message(ASKER, &session, submit(&fresh("t"), "log", "x"));
    let with = |key: &str, value: Value| {
        let mut message = task();
        message[key] = value;
        message
    };
    let without = |key: &str| {
        let mut message = task();
        message.as_object_mut().unwrap().remove(key);
        message
    };
    let body = |body: Value| message(ASKER, &session, body);
    let in_body = |key: &str, value: Value| {
        let mut message = task();
        message["body"][key] = value;
        message
    };
    let frame = |input: Value| {
        let mut message = message(ASKER, &framed, submit(&fresh("t"), "log", input));
        message["payload_mode"] = json!("semantic_frame");
        message
    };
    let propose =
        |config: Value| message(ASKER, "", json!({ "type": "SESSION_PROPOSE", "config": config }));
    let contract = |key: &str, value: Value| {
        let mut contract = json!({
            "contract_id": "c", "objective": "o", "success_criteria": [],
            "policy": { "failure_policy": "fail_closed", "safety_constraints": [] },
            "created_at": stamp(0),
        });
        contract[key] = value;
        in_body("contract", contract)
    };
    let path = |ids: Vec<String>| in_body("delegation_path", json!(ids));
    let long_path: Vec<String> = (0..100).map(|it| format!("ldp:delegate:hop-{it}")).collect();

    let texts: Vec<(&str, Wanted, String)> = vec![
        ("nothing", AnyError, String::new()),
        ("no JSON", Status(400), "hello".to_owned()),
        ("half of an object", Status(400), "{\"message_id\":".to_owned()),
        ("a number", AnyError, "7".to_owned()),
        ("an array", AnyError, "[]".to_owned()),
        ("an empty object", AnyError, "{}".to_owned()),
        ("two objects", Status(400), format!("{}{}", task(), task())),
        ("deeper than anybody nests", AnyError, "[".repeat(200_000)),
        ("a deep input", AnyError, {
            let deep = "[".repeat(5_000) + &"]".repeat(5_000);
            task().to_string().replace("\"x\"", &deep)
        }),
        (
            "a key twice",
            AnyError,
            task().to_string().replacen('{', "{\"from\":\"ldp:delegate:a\",", 1),
        ),
        ("a key of the body twice", AnyError, {
            task().to_string().replace("\"skill\":", "\"skill\":\"other\",\"skill\":")
        }),
        ("a lone surrogate", AnyError, task().to_string().replace("\"x\"", "\"\\ud800\"")),
        ("a number beyond all", AnyError, task().to_string().replace("\"x\"", "1e999999")),
    ];
    let messages: Vec<(&str, Wanted, Value)> = vec![
        ("no message_id", AnyError, without("message_id")),
        ("no from", AnyError, without("from")),
        ("no timestamp", AnyError, without("timestamp")),
        ("no body", AnyError, without("body")),
        ("an empty message_id", AnyError, with("message_id", json!(""))),
        ("a message_id of a megabyte", AnyError, with("message_id", json!("x".repeat(1 << 20)))),
        ("a message_id that is a list", AnyError, with("message_id", json!(["a"]))),
        ("an empty from", AnyError, with("from", json!(""))),
        ("a from with a line break", AnyError, with("from", json!("ldp:delegate:a\nb"))),
        ("our own name as from", AnyError, with("from", json!(NODE))),
        ("for somebody else", Code("WRONG_RECIPIENT"), with("to", json!("ldp:delegate:other"))),
        ("no time at all", AnyError, with("timestamp", json!("now"))),
        ("a time without an offset", AnyError, with("timestamp", json!("2026-11-16T12:00:00"))),
        ("a time of 1969", AnyError, with("timestamp", json!("1969-12-31T23:59:59Z"))),
        ("an hour ago", Code("TIMESTAMP_OUT_OF_WINDOW"), with("timestamp", json!(stamp(-3600)))),
        ("an hour ahead", Code("TIMESTAMP_OUT_OF_WINDOW"), with("timestamp", json!(stamp(3600)))),
        ("an unknown mode", AnyError, with("payload_mode", json!("telepathy"))),
        ("latent capsules", AnyError, with("payload_mode", json!("latent_capsules"))),
        ("a signature of nothing known", AnyError, {
            let mut message = with("signature", json!("00"));
            message["signature_algorithm"] = json!("rot13");
            message
        }),
        ("a signature without an algorithm", AnyError, with("signature", json!("00"))),
        ("a signature of an unknown key", AnyError, {
            let mut message = with("signature", json!("0".repeat(128)));
            message["signature_algorithm"] = json!("ed25519");
            message["nonce"] = json!("0".repeat(32));
            message
        }),
        ("a friend who does not sign", Code("SIGNATURE_REQUIRED"), {
            with("from", json!("ldp:delegate:friend"))
        }),
        ("a friend with another secret", Code("BAD_SIGNATURE"), {
            let mut message = with("from", json!("ldp:delegate:friend"));
            message["signature"] = json!("0".repeat(64));
            message["signature_algorithm"] = json!("hmac-sha256");
            message
        }),
        ("an unknown type", AnyError, body(json!({ "type": "TASK_STEAL", "task_id": "t" }))),
        ("no type", AnyError, body(json!({ "task_id": "t" }))),
        ("a type that we send", Code("UNEXPECTED_MESSAGE"), {
            body(json!({ "type": "SESSION_ACCEPT", "session_id": "s", "negotiated_mode": "text" }))
        }),
        ("a result that nobody asked for", AnyError, {
            body(json!({ "type": "TASK_RESULT", "task_id": "t", "output": "all yours" }))
        }),
        (
            "no task_id",
            AnyError,
            body(json!({ "type": "TASK_SUBMIT", "skill": "log", "input": 1 })),
        ),
        ("no skill", AnyError, body(json!({ "type": "TASK_SUBMIT", "task_id": "t", "input": 1 }))),
        (
            "a skill that is a path",
            Code("SKILL_NOT_FOUND"),
            in_body("skill", json!("../../bin/sh")),
        ),
        ("a skill that is a command", Code("SKILL_NOT_FOUND"), in_body("skill", json!("log; id"))),
        ("no session", Code("SESSION_NOT_FOUND"), with("session_id", json!(""))),
        ("a guessed session", Code("SESSION_NOT_FOUND"), with("session_id", json!("1"))),
        (
            "somebody else's session",
            Code("SESSION_NOT_YOURS"),
            with("from", json!("ldp:delegate:x")),
        ),
        ("an unknown task is cancelled", AnyError, {
            body(json!({ "type": "TASK_CANCEL", "task_id": "never" }))
        }),
        ("somebody else's session is closed", Code("SESSION_NOT_YOURS"), {
            message(
                "ldp:delegate:x",
                &session,
                json!({ "type": "SESSION_CLOSE", "reason": "mine" }),
            )
        }),
        ("a frame that is a text", Code("FRAME_INVALID"), frame(json!("do it"))),
        ("a frame without a type", Code("FRAME_INVALID"), frame(json!({ "instruction": "do it" }))),
        ("a frame without words", Code("FRAME_INVALID"), frame(json!({ "task_type": "log" }))),
        ("a frame with an empty instruction", Code("FRAME_INVALID"), {
            frame(json!({ "task_type": "log", "instruction": "" }))
        }),
        ("a ttl below zero", AnyError, propose(json!({ "ttl_secs": -1 }))),
        ("half a second of ttl", AnyError, propose(json!({ "ttl_secs": 0.5 }))),
        (
            "another domain",
            Code("TRUST_DOMAIN_MISMATCH"),
            propose(json!({ "trust_domain": "acme" })),
        ),
        ("a required domain", Code("TRUST_DOMAIN_MISMATCH"), {
            propose(json!({ "trust_domain": "default", "required_trust_domain": "acme" }))
        }),
        ("a domain that is no text", AnyError, propose(json!({ "trust_domain": ["default"] }))),
        (
            "a deadline in the past",
            Code("CONTRACT_VIOLATED"),
            contract("deadline", json!(stamp(-1))),
        ),
        ("a deadline that is no time", AnyError, contract("deadline", json!("soon"))),
        ("a budget below zero", AnyError, {
            contract("policy", json!({ "budget": { "max_tokens": -1 } }))
        }),
        ("a contract that is a text", AnyError, in_body("contract", json!("trust me"))),
        ("a task that came from here", Code("LOOP_DETECTED"), {
            path(vec![NODE.to_owned(), ASKER.to_owned()])
        }),
        ("a task of a hundred hands", AnyError, path(long_path)),
        ("an attestation of nobody", AnyError, {
            body(json!({ "type": "ATTESTATION", "claim": "all is well", "evidence": {} }))
        }),
    ];
    let mut count = 0;
    for (what, wanted, text) in &texts {
        check(what, wanted, &post(node.address, "/ldp/messages", text));
        count += 1;
    }
    for (what, wanted, message) in &messages {
        check(what, wanted, &post(node.address, "/ldp/messages", &message.to_string()));
        count += 1;
    }

    // What is wrong with the request around the message.
    let good = task().to_string();
    let address = node.address;
    let request = |head: &str, body: &[u8]| {
        let length = body.len();
        let head = format!("{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        [head.as_bytes(), body].concat()
    };
    let host = format!("host: {address}");
    let json_type = "content-type: application/json";
    let line = "POST /ldp/messages HTTP/1.1";
    let large = vec![b' '; 16 << 20];
    let requests: Vec<(&str, Wanted, Vec<u8>)> = vec![
        ("a form", Status(415), {
            let kind = "content-type: application/x-www-form-urlencoded";
            request(&format!("{line}\r\n{host}\r\n{kind}"), good.as_bytes())
        }),
        ("no content type", Status(415), request(&format!("{line}\r\n{host}"), good.as_bytes())),
        ("a page of another site", Status(403), {
            let origin = "origin: https://evil.example";
            request(&format!("{line}\r\n{host}\r\n{json_type}\r\n{origin}"), good.as_bytes())
        }),
        ("another name for this machine", Status(403), {
            request(&format!("{line}\r\nhost: evil.example\r\n{json_type}"), good.as_bytes())
        }),
        ("a body that is too large", Status(413), {
            request(&format!("{line}\r\n{host}\r\n{json_type}"), &large)
        }),
        ("a promise of a body that is too large", Status(413), {
            format!("{line}\r\n{host}\r\n{json_type}\r\ncontent-length: 99999999999\r\n\r\n").into()
        }),
        ("chunks without an end", Status(413), {
            let head =
                format!("{line}\r\n{host}\r\n{json_type}\r\ntransfer-encoding: chunked\r\n\r\n");
            let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
            (head + &chunk.repeat(16)).into_bytes()
        }),
        ("bytes that are no text", Status(400), {
            request(&format!("{line}\r\n{host}\r\n{json_type}"), b"\"\xff\xfe\"")
        }),
        ("no such place", Status(404), {
            request(
                &format!("POST /ldp/secrets HTTP/1.1\r\n{host}\r\n{json_type}"),
                good.as_bytes(),
            )
        }),
        ("no such method", Status(405), {
            request(&format!("DELETE /ldp/messages HTTP/1.1\r\n{host}\r\n{json_type}"), b"")
        }),
        ("headers without an end", AnyError, {
            format!("{line}\r\n{host}\r\nx: {}\r\n\r\n", "x".repeat(1 << 20)).into_bytes()
        }),
        ("no HTTP", AnyError, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n".to_vec()),
    ];
    for (what, wanted, bytes) in &requests {
        check(what, wanted, &exchange(address, bytes));
        count += 1;
    }
    assert!(count >= 60, "only {count}");
    println!("{count} bad messages");

    // It serves those who behave, and has run nothing before.
    assert!(logged(&log).is_empty(), "something ran: {:?}", logged(&log));
    assert_eq!(node.send(&task())["body"]["type"], "TASK_RESULT");
    let megabytes = node.resident_bytes() >> 20;
    assert!(megabytes < 300, "{megabytes} MB");
    node.end();
}

/// A flood of large bodies, and of connections that say nothing: others are served meanwhile.
#[test]
fn those_who_hold_on_hold_up_nobody() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let node = Node::start(home.path(), &logging_skill(&log));
    let session = open_for_text(&node, ASKER);
    let begun = Instant::now();
    let mut held = Vec::new();
    for _ in 0..200 {
        let mut socket = connect(node.address);
        // Half of a head, or a body that was promised and does not come.
        let promise = format!(
            "POST /ldp/messages HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: 4000000\r\n\r\n{}",
            node.address,
            " ".repeat(1 << 16)
        );
        let text = if held.len() % 2 == 0 { "POST /ldp/mess" } else { &promise };
        socket.write_all(text.as_bytes()).unwrap();
        held.push(socket);
    }
    for _ in 0..20 {
        let task = message(ASKER, &session, submit(&fresh("t"), "log", "x"));
        assert_eq!(node.send(&task)["body"]["type"], "TASK_RESULT");
    }
    let megabytes = node.resident_bytes() >> 20;
    assert!(megabytes < 300, "{megabytes} MB");
    // Within its time each is told to go, or just let go.
    for mut socket in held {
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        let text = String::from_utf8_lossy(&answer);
        assert!(text.is_empty() || text.contains(" 408 "), "{text}");
    }
    // Headers have twenty seconds and bodies thirty; the rest is for a busy machine.
    assert!(begun.elapsed() < Duration::from_secs(60), "{} s", begun.elapsed().as_secs());
    node.end();
}
