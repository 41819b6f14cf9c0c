//! Stores with something in them.

use std::path::Path;

use rusqlite::Connection;
use sabir_store::{ApprovalState, Batch, Entry, Reader, SessionFacts, SessionId, Store};
use tempfile::TempDir;

pub(crate) fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn session(id: &str) -> SessionId {
    SessionId::new(id)
}

pub(crate) fn facts() -> Entry {
    let (cwd, model) = ("/project".to_owned(), "m".to_owned());
    Entry::Session(SessionFacts { cwd, model, title: None, parent: None })
}

pub(crate) fn item(body: &str) -> Entry {
    Entry::Item { body: body.to_owned() }
}

pub(crate) fn user_input(sub_id: &str, text: &str) -> Entry {
    let op =
        serde_json::json!({ "type": "user_input", "items": [{ "type": "text", "text": text }] });
    let body = serde_json::json!({ "id": sub_id, "op": op }).to_string();
    Entry::Submission { sub_id: sub_id.to_owned(), body }
}

pub(crate) fn event(sub_id: &str, kind: &str) -> Entry {
    let body = format!(r#"{{"type":"{kind}"}}"#);
    Entry::Event { sub_id: sub_id.to_owned(), kind: kind.to_owned(), body }
}

pub(crate) fn turn(response_id: &str) -> Entry {
    Entry::Turn { response_id: response_id.to_owned(), body: "{}".to_owned() }
}

pub(crate) fn approval(call_id: &str, state: ApprovalState) -> Entry {
    Entry::Approval { call_id: call_id.to_owned(), state, body: "{}".to_owned() }
}

pub(crate) fn note(kind: &str, body: &str) -> Entry {
    Entry::Note { kind: kind.to_owned(), body: body.to_owned() }
}

pub(crate) fn batch(id: &str, at_ms: u64, entries: Vec<Entry>) -> Batch {
    Batch { session_id: session(id), at_ms, entries }
}

/// Ten entries of two sessions, with every kind among them.
pub(crate) fn two_sessions() -> [Batch; 3] {
    [
        batch("s1", 1000, vec![facts(), user_input("1", "hello"), event("1", "task_started")]),
        batch("s2", 2000, vec![facts(), note("settings", "{}")]),
        batch(
            "s1",
            3000,
            vec![
                item(r#"{"role":"user"}"#),
                approval("call-1", ApprovalState::Requested),
                approval("call-1", ApprovalState::Approved),
                item(r#"{"role":"assistant"}"#),
                turn("resp-1"),
            ],
        ),
    ]
}

/// A closed store that holds [`two_sessions`].
pub(crate) fn filled(home: &Path) {
    let store = Store::open(home).unwrap();
    for batch in two_sessions() {
        store.append_and_wait(batch).unwrap();
    }
}

pub(crate) fn reader(home: &Path) -> Reader {
    Reader::open(home).unwrap()
}

/// The database behind the store's back, with the guards against changes taken off.
pub(crate) fn unguarded(home: &Path) -> Connection {
    let connection = Connection::open(home.join("sabir.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             DROP TRIGGER journal_is_never_changed;
             DROP TRIGGER journal_is_never_shortened;",
        )
        .unwrap();
    connection
}
