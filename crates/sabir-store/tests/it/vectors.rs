//! `spec/vectors/journal.json`, which other programs can check themselves against, and the bytes
//! that are hashed, written out once.

use std::path::Path;

use expect_test::expect_file;
use sabir_store::{
    ApprovalState, Entry, Hash, Line, Link, Options, Parent, Scope, SessionFacts, Store,
    entry_hash, genesis_hash,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::sample::{approval, batch, event, home, item, note, reader, session, turn, user_input};

fn lines(store_id: &str) -> Vec<Line> {
    let home = home();
    let options = Options { store_id: Some(store_id.to_owned()), ..Options::default() };
    let store = Store::open_with(home.path(), &options).unwrap();
    let facts = |title: Option<&str>, parent| {
        let (cwd, model) = ("/project".to_owned(), "model-1".to_owned());
        Entry::Session(SessionFacts { cwd, model, title: title.map(str::to_owned), parent })
    };
    let parent = Parent { session_id: session("s1"), response_id: Some("resp-1".to_owned()) };
    for batch in [
        batch(
            "s1",
            1_700_000_000_000,
            vec![facts(None, None), user_input("1", "grüße"), event("1", "task_started")],
        ),
        batch(
            "s1",
            1_700_000_000_250,
            vec![
                item(r#"{"type":"message","role":"user"}"#),
                approval("call-1", ApprovalState::Requested),
                approval("call-1", ApprovalState::ApprovedForSession),
                turn("resp-1"),
            ],
        ),
        batch(
            "s2",
            1_700_000_000_500,
            vec![facts(Some("a fork"), Some(parent)), note("settings", ""), item("\u{0}\n")],
        ),
    ] {
        store.append_and_wait(batch).unwrap();
    }
    drop(store);
    reader(home.path()).journal(Scope::All, 0, usize::MAX).unwrap()
}

/// QP-J5: the committed file is what the store writes.
#[test]
fn the_vectors_are_what_the_store_writes() {
    let journals: Vec<_> = ["", "example store"]
        .into_iter()
        .map(|store_id| {
            let lines = lines(store_id);
            let head = lines.last().unwrap().hash;
            json!({
                "store_id": store_id,
                "genesis_hash": genesis_hash(store_id),
                "entries": lines,
                "head_hash": head,
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&json!({ "journals": journals })).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/journal.json");
    expect_file![path].assert_eq(&(text + "\n"));
}

/// QP-J2 and QP-J3: the hashes are those of these bytes, put together here by hand.
#[test]
fn the_hashed_bytes_are_those_of_the_page() {
    let genesis = b"\0\0\0\0\0\0\0\x18sabir journal genesis v1\0\0\0\0\0\0\0\x02id";
    assert_eq!(genesis_hash("id"), sha256(genesis));
    let previous = Hash::from_bytes([7; 32]);
    let link = Link {
        seq: 258,
        session_id: b"s1",
        at_ms: 3,
        kind: b"event",
        tag: b"error",
        key: b"",
        body: b"{}",
    };
    let mut bytes = b"\0\0\0\0\0\0\0\x16sabir journal entry v1\0\0\0\0\0\0\0\x20".to_vec();
    bytes.extend([7; 32]);
    bytes.extend(b"\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\x01\x02");
    bytes.extend(b"\0\0\0\0\0\0\0\x02s1");
    bytes.extend(b"\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x03");
    bytes.extend(b"\0\0\0\0\0\0\0\x05event\0\0\0\0\0\0\0\x05error");
    bytes.extend(b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02{}");
    assert_eq!(entry_hash(&previous, &link), sha256(&bytes));
}

#[test]
fn a_text_cannot_move_from_one_field_to_the_next() {
    let previous = genesis_hash("");
    let link = Link {
        seq: 1,
        session_id: b"s",
        at_ms: 0,
        kind: b"note",
        tag: b"ab",
        key: b"",
        body: b"c",
    };
    let moved = Link { tag: b"a", key: b"b", ..link };
    assert_ne!(entry_hash(&previous, &link), entry_hash(&previous, &moved));
    let moved = Link { tag: b"", body: b"abc", ..link };
    assert_ne!(entry_hash(&previous, &link), entry_hash(&previous, &moved));
}

#[test]
fn a_hash_is_read_only_in_its_one_spelling() {
    let hash = genesis_hash("");
    let text = hash.to_string();
    assert_eq!(Hash::from_hex(&text), Some(hash));
    for wrong in ["", "00", &text.to_uppercase(), &text[1..], &format!("{text}00"), &"g".repeat(64)]
    {
        assert_eq!(Hash::from_hex(wrong), None, "{wrong}");
    }
    assert!(serde_json::from_str::<Hash>("\"00\"").is_err());
}

fn sha256(bytes: &[u8]) -> Hash {
    Hash::from_bytes(Sha256::digest(bytes).into())
}
