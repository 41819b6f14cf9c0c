//! Entries of peers as the journal has them, and what does not get in.

use std::path::Path;

use sabir_ldp::{DelegateLimits, Record};
use sabir_store::{Batch, Entry, PeerEntry, Reader, Scope, Store, StoreError, Tampered};
use serde_json::{Value, json};

use crate::delegate_node::{Keys, Node, START, key, keys_of, start};
use crate::sample::{batch, facts, home, item, reader, unguarded};

/// QP-J15
#[test]
fn an_input_is_one_row_without_a_session() {
    let home = home();
    let mut node = Node::new(home.path());
    node.open("s-1");
    let lines = node.store.reader().unwrap().journal(Scope::All, 0, 10).unwrap();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((line.kind.as_str(), line.session_id.as_str()), ("peer", ""));
    assert_eq!((line.tag.as_str(), line.key.as_str()), ("", ""));
    let body: Value = serde_json::from_str(&line.body).unwrap();
    let names: Vec<&str> =
        body.as_array().unwrap().iter().map(|it| it["record"].as_str().unwrap()).collect();
    assert_eq!(names, ["seen", "opened"]);
    assert!(line.follows(&node.store.reader().unwrap().hash_before(1).unwrap()));
}

/// QP-J20
#[test]
fn a_task_that_is_done_at_once_is_one_record() {
    let (several, one) = (home(), home());
    let mut node = Node::new(several.path());
    node.finished();
    let store = Store::open(one.path()).unwrap();
    let (opening, task) = node.records.split_at(2);
    for records in [opening, task] {
        store.append_and_wait(Batch::of_peers(START, records.to_vec())).unwrap();
    }
    let (reader, other) = (store.reader().unwrap(), node.store.reader().unwrap());
    let lines = reader.journal(Scope::All, 0, 10).unwrap();
    let body: Value = serde_json::from_str(&lines[1].body).unwrap();
    let [done] = body.as_array().unwrap().as_slice() else { panic!("{body}") };
    assert_eq!((&done["record"], &done["key"]["id"]), (&json!("done"), &json!("t")));
    for _ in 0..2 {
        reader.verify().unwrap();
        let state = |reader: &Reader| reader.peer_state(&node.limits, start()).unwrap();
        assert_eq!(state(&reader), state(&other));
        let ended = |reader: &Reader| reader.peer_task_ended(&key("t")).unwrap().unwrap();
        assert_eq!(ended(&reader), ended(&other));
        store.rebuild().unwrap();
    }
}

/// QP-J15
#[test]
fn entries_of_peers_come_by_themselves() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let peer = || Entry::Peer(PeerEntry::new(vec![Record::Forgot]));
    for wrong in [
        batch("s", 0, vec![facts(), peer()]),
        batch("", 0, vec![peer(), item("x")]),
        batch("s", 0, vec![peer()]),
        Batch::of_peers(0, Vec::new()),
    ] {
        let error = store.append_and_wait(wrong).unwrap_err();
        assert!(matches!(error, StoreError::BadBatch { .. }), "{error}");
    }
    let many = Batch::of_peers(0, vec![Record::Forgot; (1 << 16) + 1]);
    let error = store.append_and_wait(many).unwrap_err();
    assert!(matches!(error, StoreError::TooMany { .. }), "{error}");
    store.append_and_wait(Batch::of_peers(0, vec![Record::Forgot; 1 << 16])).unwrap();
    // The others are not hurt.
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    store.reader().unwrap().verify().unwrap();
}

/// Whether a file of the home holds the text.
fn is_in_a_file(home: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path());
    let bytes = files.map(|file| std::fs::read(file).unwrap());
    let text = text.as_bytes();
    bytes.into_iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text))
}

/// QP-J16
#[test]
fn keys_are_in_no_journal_and_go_with_their_session() {
    let home = home();
    let mut node = Node::new(home.path());
    node.keys = Keys::Made;
    node.open("s-1");
    node.open("s-2");
    node.close("s-2", json!(true));
    let resume = json!({ "type": "SESSION_PROPOSE", "config": { "resume_session_id": "s-2" } });
    node.say("", "text", resume);
    let texts = [keys_of("s-1"), keys_of("s-2"), keys_of("s-2+")];
    let reader = node.store.reader().unwrap();
    for line in reader.journal(Scope::All, 0, 100).unwrap() {
        assert!(texts.iter().all(|text| !line.body.contains(text.as_str())), "{}", line.body);
    }
    let kept = serde_json::to_string(&reader.peer_state(&node.limits, start()).unwrap()).unwrap();
    assert_eq!(texts.clone().map(|text| kept.contains(&text)), [true, false, true]);
    // Making the tables again does not cost anybody the keys.
    node.store.rebuild().unwrap();
    assert_eq!(
        serde_json::to_string(&reader.peer_state(&node.limits, start()).unwrap()).unwrap(),
        kept
    );
    drop(reader);
    let mut node = node.reopen();
    assert!(is_in_a_file(home.path(), &texts[0]));
    node.close("s-1", json!(false));
    node.wait(40_000);
    assert_eq!(node.delegate.sessions(), 0);
    let records = format!("{:?}", Batch::of_peers(START, node.records.clone()));
    drop(node);
    for text in texts {
        assert!(!is_in_a_file(home.path(), &text), "{text}");
        assert!(!records.contains(&text));
    }
}

/// Something in every table of a delegate.
pub(crate) fn filled(home: &Path) -> DelegateLimits {
    let mut node = Node::new(home);
    node.keys = Keys::Made;
    node.open("s-1");
    node.open("s-2");
    node.submit("s-1", "t-1");
    node.update("t-1", "half");
    node.update("t-1", "more");
    node.finish("t-1");
    node.submit("s-1", "t-2");
    node.finish("t-2");
    node.submit("s-1", "t-3");
    node.submit("s-9", "t-4");
    node.close("s-2", json!(false));
    node.limits
}

/// QP-J10: verification finds every change to the tables of a delegate, and `rebuild` undoes it.
#[test]
fn a_changed_table_is_found_and_made_again() {
    for change in [
        "UPDATE peer_sessions SET used_at_ms = used_at_ms + 1",
        "UPDATE peer_sessions SET spent_tokens = 0",
        "UPDATE peer_sessions SET state = 'suspended'",
        "DELETE FROM peer_sessions",
        "UPDATE peer_past_sessions SET owner = 'me'",
        "DELETE FROM peer_past_sessions",
        "DELETE FROM peer_running",
        "UPDATE peer_running SET place = place + 1",
        "UPDATE peer_tasks SET digest = zeroblob(32) WHERE num = 2",
        "UPDATE peer_tasks SET authentication = 3",
        "UPDATE peer_tasks SET shown = zeroblob(16) WHERE num = 1",
        "UPDATE peer_past_sessions SET shown = zeroblob(16)",
        "UPDATE peer_tasks SET before = NULL WHERE num = 2",
        "DELETE FROM peer_tasks WHERE num = 1",
        "INSERT INTO peer_tasks VALUES (3, 'me', 't', zeroblob(32), 0, NULL, 1, NULL, NULL)",
        "DELETE FROM peer_task_names WHERE num = 1",
        "UPDATE peer_task_names SET stretch = -1 WHERE num = 2",
        "DELETE FROM peer_updates WHERE n = 2",
        "UPDATE peer_updates SET seq = seq + 1",
        "UPDATE peer_seen SET forget_at_ms = 0",
        "DELETE FROM peer_seen",
        "DELETE FROM peer_refusals",
        "INSERT INTO peer_refusals VALUES (1)",
        "INSERT INTO peer_keys VALUES ('s-2', '00')",
        "UPDATE peer_mark SET seq = seq - 1",
        "DELETE FROM peer_mark",
    ] {
        let home = home();
        let limits = filled(home.path());
        let before = reader(home.path()).peer_state(&limits, start()).unwrap();
        assert!(unguarded(home.path()).execute(change, []).unwrap() > 0, "{change}");
        let found = reader(home.path()).verify();
        assert!(matches!(found, Err(StoreError::Tampered(_))), "{change}: {found:?}");
        let store = Store::open(home.path()).unwrap();
        store.rebuild().unwrap();
        let reader = store.reader().unwrap();
        reader.verify().unwrap();
        assert_eq!(reader.peer_state(&limits, start()).unwrap(), before, "{change}");
    }
}

/// QP-J21: tables that know of more than the journal has do not belong to it.
#[test]
fn a_mark_beyond_the_journal_is_found() {
    let home = home();
    filled(home.path());
    let sql = "UPDATE peer_mark SET seq = seq + 1 RETURNING seq";
    let mark: i64 = unguarded(home.path()).query_row(sql, [], |row| row.get(0)).unwrap();
    for found in [reader(home.path()).verify().err(), Store::open(home.path()).err()] {
        let Some(StoreError::Tampered(Tampered { seq, .. })) = found else { panic!("{found:?}") };
        assert_eq!(seq.cast_signed(), mark);
    }
}

/// QP-J17: what a delegate is read back from is held against its hashes.
#[test]
fn a_changed_entry_is_not_restored_from() {
    let home = home();
    let limits = filled(home.path());
    unguarded(home.path())
        .execute("UPDATE journal SET body = replace(body, 'caller', 'friend') WHERE seq = 1", [])
        .unwrap();
    let error = reader(home.path()).peer_state(&limits, start()).unwrap_err();
    let StoreError::Tampered(Tampered { seq, .. }) = error else { panic!("{error}") };
    assert_eq!(seq, 1);
}
