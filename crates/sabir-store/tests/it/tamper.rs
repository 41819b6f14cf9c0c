//! Changes behind the store's back, each found at its place.

use std::path::Path;

use rusqlite::Connection;
use sabir_store::{Hash, Link, Scope, Store, StoreError, Tampered, entry_hash};

use crate::sample::{batch, event, filled, home, reader, session, two_sessions, unguarded};

/// What `verify` says after the statements were run on a store of ten entries.
fn after(change: &str) -> (u64, &'static str) {
    let home = home();
    filled(home.path());
    reader(home.path()).verify().unwrap();
    unguarded(home.path()).execute_batch(change).unwrap();
    tampered(home.path())
}

fn tampered(home: &Path) -> (u64, &'static str) {
    match reader(home).verify() {
        Err(StoreError::Tampered(Tampered { seq, why })) => (seq, why),
        other => panic!("not found: {other:?}"),
    }
}

const HASH: &str = "its hash does not fit its content and the entry before it";
const MISSING: &str = "it is missing";

/// QP-J1: nothing of an entry can be changed unseen.
#[test]
fn every_column_is_covered() {
    for change in [
        "UPDATE journal SET body = '{}' WHERE seq = 6",
        "UPDATE journal SET session_id = 's2' WHERE seq = 6",
        "UPDATE journal SET at_ms = at_ms + 1 WHERE seq = 6",
        "UPDATE journal SET kind = 'note' WHERE seq = 6",
        "UPDATE journal SET tag = 'x' WHERE seq = 6",
        "UPDATE journal SET key = 'x' WHERE seq = 6",
        "UPDATE journal SET hash = zeroblob(32) WHERE seq = 6",
        "UPDATE journal SET hash = x'00' WHERE seq = 6",
        "UPDATE journal SET at_ms = -1 WHERE seq = 6",
    ] {
        assert_eq!(after(change), (6, HASH), "{change}");
    }
}

/// QP-J6: the number of an entry is its place, without gaps.
#[test]
fn removed_added_and_moved_entries_are_found() {
    assert_eq!(after("DELETE FROM journal WHERE seq = 5"), (5, MISSING));
    assert_eq!(after("DELETE FROM journal WHERE seq = 1"), (1, MISSING));
    assert_eq!(after("UPDATE journal SET seq = 20 WHERE seq = 8"), (8, MISSING));
    let swap = "UPDATE journal SET seq = 100 WHERE seq = 7;
                UPDATE journal SET seq = 7 WHERE seq = 8;
                UPDATE journal SET seq = 8 WHERE seq = 100;";
    assert_eq!(after(swap), (7, HASH));
    let copy = |seq| {
        format!(
            "INSERT INTO journal (seq, session_id, at_ms, kind, tag, key, hash, body)
             SELECT {seq}, session_id, at_ms, kind, tag, key, hash, body FROM journal WHERE seq = 10"
        )
    };
    assert_eq!(after(&copy(11)), (11, HASH));
    assert_eq!(after(&copy(12)), (11, MISSING));
    assert_eq!(after(&copy(-3)), (1, "another one stands before it"));
    assert_eq!(after("UPDATE meta SET value = 'another store'"), (1, HASH));
}

#[test]
fn entries_cut_off_at_the_end_are_missed_by_the_tables() {
    let strange = "a table lists it and the journal does not have it so";
    assert_eq!(after("DELETE FROM journal WHERE seq = 10"), (10, strange));
    let (seq, why) = after("DELETE FROM journal WHERE seq > 6");
    assert!((7..=10).contains(&seq), "{seq}");
    assert_eq!(why, strange);
}

/// QP-J10: the tables say what the journal says.
#[test]
fn changed_tables_are_found() {
    let unlisted = "the table of its kind does not list it";
    assert_eq!(after("DELETE FROM items WHERE seq = 9"), (9, unlisted));
    assert_eq!(after("DELETE FROM events"), (3, unlisted));
    assert_eq!(after("UPDATE submissions SET sub_id = '2'"), (2, unlisted));
    assert_eq!(after("UPDATE approvals SET state = 'denied' WHERE seq = 8"), (8, unlisted));
    assert_eq!(after("UPDATE turns SET response_id = 'other'"), (10, unlisted));
    assert_eq!(after("UPDATE notes SET kind = 'grant'"), (5, unlisted));
    assert_eq!(after("UPDATE items SET session = 4 WHERE seq = 6"), (6, unlisted));
    let strange = "a table lists it and the journal does not have it so";
    assert_eq!(after("INSERT INTO items (session, seq) VALUES (1, 99)"), (99, strange));
    assert_eq!(after("INSERT INTO items (session, seq) VALUES (4, 6)"), (6, strange));
    assert_eq!(after("INSERT INTO items (session, seq) VALUES (1, 3)"), (3, strange));
    let unfit = "the table of sessions does not fit what began here";
    assert_eq!(after("UPDATE sessions SET model = 'other' WHERE id = 's2'"), (4, unfit));
    assert_eq!(after("UPDATE sessions SET items = 3 WHERE id = 's1'"), (1, unfit));
    let extra = "INSERT INTO sessions (first_seq, last_seq, id, created_at_ms, updated_at_ms, cwd,
                     model, turns, items) VALUES (99, 99, 'x', 0, 0, '', '', 0, 0)";
    let why = "the table of sessions has one that the journal does not have";
    assert_eq!(after(extra), (0, why));
}

/// QP-J7: whoever hashes an entry anew has to do so for all that follow, up to the head.
#[test]
fn an_entry_with_a_new_hash_breaks_the_next() {
    let home = home();
    filled(home.path());
    let lines = reader(home.path()).journal(Scope::All, 0, 10).unwrap();
    let head = reader(home.path()).verify().unwrap().head_hash;
    let connection = unguarded(home.path());
    rewrite(&connection, &lines[4].hash, &lines[5], "forged");
    assert_eq!(tampered(home.path()), (7, HASH));
    // Forged to the end, only the head that was kept elsewhere tells.
    let mut previous = rewrite(&connection, &lines[4].hash, &lines[5], "forged");
    for line in &lines[6..] {
        previous = rewrite(&connection, &previous, line, &line.body);
    }
    let forged = reader(home.path()).verify().unwrap();
    assert_eq!(forged.head_hash, previous);
    assert_ne!(forged.head_hash, head);
}

fn rewrite(connection: &Connection, previous: &Hash, line: &sabir_store::Line, body: &str) -> Hash {
    let link = Link {
        seq: line.seq,
        session_id: line.session_id.as_str().as_bytes(),
        at_ms: line.at_ms,
        kind: line.kind.as_bytes(),
        tag: line.tag.as_bytes(),
        key: line.key.as_bytes(),
        body: body.as_bytes(),
    };
    let hash = entry_hash(previous, &link);
    connection
        .execute(
            "UPDATE journal SET body = ?1, hash = ?2 WHERE seq = ?3",
            rusqlite::params![body, hash.as_bytes(), line.seq.cast_signed()],
        )
        .unwrap();
    hash
}

/// QP-J9: the database itself refuses to change or remove an entry.
#[test]
fn the_journal_is_append_only() {
    let home = home();
    filled(home.path());
    let connection = Connection::open(home.path().join("sabir.db")).unwrap();
    for change in ["UPDATE journal SET body = '' WHERE seq = 1", "DELETE FROM journal"] {
        let error = connection.execute_batch(change).unwrap_err();
        assert!(error.to_string().contains("the journal is append-only"), "{error}");
    }
    reader(home.path()).verify().unwrap();
}

#[test]
fn a_changed_end_is_found_when_the_store_is_opened() {
    let home = home();
    filled(home.path());
    let change = "UPDATE journal SET body = '{\"role\":\"root\"}' WHERE seq = 9";
    unguarded(home.path()).execute_batch(change).unwrap();
    let error = Store::open(home.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal was changed after it was written: entry 9: its hash does not fit its content \
         and the entry before it; `sabir audit verify` looks at all of it"
    );
}

/// QP-J14: what a session is resumed from is held against its hashes, however far back it stands.
#[test]
fn a_forged_record_is_not_read() {
    let home = home();
    {
        let store = Store::open(home.path()).unwrap();
        for batch in two_sessions() {
            store.append_and_wait(batch).unwrap();
        }
        // Far more than the end of the chain that is looked at when a store is opened.
        for at in 0..200 {
            store.append_and_wait(batch("s2", at, vec![event("1", "x")])).unwrap();
        }
    }
    let read = || reader(home.path()).records(&session("s1"));
    assert_eq!(read().unwrap().len(), 5);
    let connection = unguarded(home.path());
    let change = |sql: &str| connection.execute_batch(sql).unwrap();
    for (forge, restore, expected) in [
        (
            "UPDATE journal SET body = replace(body, 'user', 'root') WHERE seq = 6",
            "UPDATE journal SET body = replace(body, 'root', 'user') WHERE seq = 6",
            (6, HASH),
        ),
        (
            "UPDATE journal SET tag = 'denied' WHERE seq = 8",
            "UPDATE journal SET tag = 'approved' WHERE seq = 8",
            (8, HASH),
        ),
        (
            "INSERT INTO notes (session, seq, kind) VALUES (1, 5, 'settings')",
            "DELETE FROM notes WHERE session = 1",
            (5, "a table lists it for another session"),
        ),
    ] {
        change(forge);
        // The store opens, because it looks at the end only.
        drop(Store::open(home.path()).unwrap());
        match read() {
            Err(StoreError::Tampered(tampered)) => {
                assert_eq!((tampered.seq, tampered.why), expected, "{forge}");
                assert!(tampered.to_string().contains("sabir audit verify"), "{tampered}");
            }
            other => panic!("{forge}: {other:?}"),
        }
        change(restore);
        assert_eq!(read().unwrap().len(), 5);
    }
}
