//! Messages of every dialect: what was understood, shown by what we would send in its place; and
//! messages that are none, with the place of their fault.

use expect_test::expect_file;
use sabir_ldp::{Fault, MessageType, Received};
use sabir_testkit::cases;

use crate::made::data;

/// LD-W1, LD-W2, LD-W4, LD-W6, LD-W9, LD-W10, LD-W11, LD-W12, LD-W13, LD-W14, LD-W15, LD-W16, LD-W17, LD-W18: each file is a message in the shape that a dialect
/// gives it, and beside it stands what we send for the same message. That is read again to the same.
#[test]
fn every_dialect_is_read() {
    let mut seen = Vec::new();
    for case in cases(data("envelopes/ok")) {
        let received =
            Received::read(&case.text).unwrap_or_else(|why| panic!("{}: {why}", case.name));
        assert_eq!(received.text(), case.text, "{}", case.name);
        let sent = received.envelope.to_value();
        expect_file![case.out_path()].assert_eq(&format!("{sent:#}\n"));
        let again = Received::read(&received.envelope.to_text()).unwrap();
        assert_eq!(again.envelope.to_value(), sent, "{}", case.name);
        seen.push(received.envelope.body.message_type());
    }
    for kind in MessageType::ALL {
        let count = seen.iter().filter(|it| **it == kind).count();
        assert!(count >= 3, "{kind} has {count} cases, and there are three dialects");
    }
}

/// LD-W3, LD-W5, LD-W7, LD-W8, LD-W13: each is refused with the place of its fault, and the refusal
/// names what could be read.
#[test]
fn what_is_no_message_is_refused_with_its_place() {
    for case in cases(data("envelopes/err")) {
        let malformed = match Received::read(&case.text) {
            Err(malformed) => malformed,
            Ok(received) => panic!("{}: read as {:?}", case.name, received.envelope),
        };
        let id = |id: Option<String>| id.unwrap_or_else(|| "-".to_owned());
        let shown = format!(
            "{:?} at {:?}\n{}\nmessage {} of {} in session {}, {} about task {}\n",
            malformed.fault,
            malformed.pointer,
            malformed.message,
            id(malformed.message_id.as_ref().map(ToString::to_string)),
            id(malformed.from.as_ref().map(ToString::to_string)),
            id(malformed.session_id.as_ref().map(ToString::to_string)),
            id(malformed.message_type.map(|kind| kind.to_string())),
            id(malformed.task_id.as_ref().map(ToString::to_string)),
        );
        expect_file![case.out_path()].assert_eq(&shown);
    }
}

/// LD-W3: the bounds of lists and texts, one below and one above.
#[test]
fn sizes_are_bounded() {
    let submit = |path: usize| {
        let path = vec!["a"; path];
        message(&serde_json::json!({
            "type": "TASK_SUBMIT", "task_id": "t", "skill": "s", "delegation_path": path,
        }))
    };
    assert!(Received::read(&submit(1024)).is_ok());
    assert_eq!(Received::read(&submit(1025)).unwrap_err().pointer, "/body/delegation_path");
    let update = |length: usize| {
        let text = "m".repeat(length);
        message(&serde_json::json!({ "type": "TASK_UPDATE", "task_id": "t", "message": text }))
    };
    assert!(Received::read(&update(64 * 1024)).is_ok());
    assert_eq!(Received::read(&update(64 * 1024 + 1)).unwrap_err().pointer, "/body/message");
    let deep = |levels: usize| {
        let input = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        message(&serde_json::json!({ "type": "TASK_SUBMIT", "task_id": "t", "skill": "s" }))
            .replace("\"skill\"", &format!("\"input\":{input},\"skill\""))
    };
    assert!(Received::read(&deep(62)).is_ok());
    assert_eq!(Received::read(&deep(63)).unwrap_err().fault, Fault::Text);
}

/// LD-W4: what a session or a machine keeps is stored as it is sent.
#[test]
fn messages_are_stored_as_their_text() {
    let text = message(&serde_json::json!({ "type": "SESSION_CLOSE", "later": { "a": 1 } }));
    let received = Received::read(&text).unwrap();
    let stored = serde_json::to_string(&received).unwrap();
    let again: Received = serde_json::from_str(&stored).unwrap();
    assert_eq!(again, received);
    assert_eq!(again.text(), text);
    let stored = serde_json::to_value(&received.envelope).unwrap();
    assert_eq!(serde_json::from_value::<sabir_ldp::Envelope>(stored).unwrap(), received.envelope);
}

fn message(body: &serde_json::Value) -> String {
    serde_json::json!({
        "message_id": "m-1",
        "from": "ldp:delegate:a",
        "timestamp": "2026-11-16T12:00:00Z",
        "body": body,
    })
    .to_string()
}
