//! Files of older and newer programs.

use std::path::Path;

use rusqlite::Connection;
use sabir_store::{Reader, Scope, Store, StoreError, genesis_hash};

use crate::delegate_node::{Node, finish_many, key, start};
use crate::sample::{batch, filled, home, item, reader, session, two_sessions};

/// A store as the program of version `version` left it: its tables, and what [`filled`] writes.
fn old_store(home: &Path, version: usize) {
    let new = crate::sample::home();
    filled(new.path());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(version <= files.len());
    let connection = Connection::open(home.join("sabir.db")).unwrap();
    for file in &files[..version] {
        connection.execute_batch(&std::fs::read_to_string(file).unwrap()).unwrap();
    }
    let source = new.path().join("sabir.db");
    connection.execute("ATTACH ?1 AS new", [source.to_str().unwrap()]).unwrap();
    for table in [
        "meta",
        "journal",
        "sessions",
        "session_facts",
        "submissions",
        "events",
        "items",
        "turns",
        "approvals",
        "notes",
    ] {
        let copy = format!("INSERT INTO main.{table} SELECT * FROM new.{table}");
        connection.execute_batch(&copy).unwrap();
    }
    connection
        .execute_batch(&format!(
            "DETACH new; PRAGMA application_id = 0x53616272; PRAGMA user_version = {version};"
        ))
        .unwrap();
}

fn schema(home: &Path) -> Vec<String> {
    let connection = Connection::open(home.join("sabir.db")).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1",
        )
        .unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn every_old_version_is_opened_and_becomes_the_newest() {
    let fresh = home();
    filled(fresh.path());
    for version in 1..=4 {
        let home = home();
        old_store(home.path(), version);
        // Before anyone migrates it, it can be read.
        let found = reader(home.path()).find_response("resp-1").unwrap().unwrap();
        assert_eq!((found.session_id, found.seq), (session("s1"), 10));
        assert_eq!(reader(home.path()).verify().unwrap().entries, 10);
        let store = Store::open(home.path()).unwrap();
        let receipt = store.append_and_wait(batch("s1", 9, vec![item("new")])).unwrap();
        assert_eq!(receipt.first_seq, 11);
        drop(store);
        assert_eq!(schema(home.path()), schema(fresh.path()), "version {version}");
        assert_eq!(reader(home.path()).verify().unwrap().entries, 11);
    }
}

/// QP-J17: what an older program did for peers: before marks of holders were kept, before names had a
/// table of their own, and when the tables always followed the journal at once.
#[test]
fn a_delegate_of_an_older_program_is_read_before_and_after_it_is_migrated() {
    for version in [3, 4, 5] {
        let home = home();
        let limits = crate::delegate_rows::filled(home.path());
        let state = reader(home.path()).peer_state(&limits, start()).unwrap();
        let newest = schema(home.path());
        make_old(home.path(), version);
        assert_ne!(schema(home.path()), newest);
        let look = || {
            assert_eq!(reader(home.path()).peer_state(&limits, start()).unwrap(), state);
            let ended = |id| reader(home.path()).peer_task_ended(&key(id)).unwrap();
            assert!(ended("t-1").is_some() && ended("t-2").is_some() && ended("t-3").is_none());
            reader(home.path()).verify().unwrap();
        };
        look();
        drop(Store::open(home.path()).unwrap());
        assert_eq!(schema(home.path()), newest, "version {version}");
        look();
    }
}

/// QP-J17: names that an older program left are found in the stretches where new ones would be.
#[test]
fn many_names_are_migrated_to_where_new_ones_would_be() {
    let home = home();
    let name = |number: u32| format!("task-{number}");
    let mut node = Node::new(home.path());
    let made = node.finished();
    // With that one a long stretch, some short ones, and a task more.
    finish_many(&node.store, &made, (0..17_000).map(name));
    drop(node);
    make_old(home.path(), 4);
    let store = Store::open(home.path()).unwrap();
    finish_many(&store, &made, (17_000..33_000).map(name));
    drop(store);
    let reader = reader(home.path());
    reader.verify().unwrap();
    for number in [0, 255, 256, 16_383, 16_384, 16_999, 17_000, 32_767, 32_768, 32_999] {
        let ended = reader.peer_task_ended(&key(&name(number))).unwrap();
        assert_eq!(ended.unwrap().key, key(&name(number)), "{number}");
    }
    assert_eq!(reader.peer_task_ended(&key("task-33000")).unwrap(), None);
}

/// Makes the tables of a delegate what they were in an older version.
fn make_old(home: &Path, version: u32) {
    let connection = Connection::open(home.join("sabir.db")).unwrap();
    connection.execute_batch("DROP TABLE peer_mark; PRAGMA user_version = 5;").unwrap();
    if version == 5 {
        return;
    }
    connection
        .execute_batch(
            "CREATE TABLE old (
                 num INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL,
                 digest BLOB NOT NULL, authentication INTEGER NOT NULL, place INTEGER,
                 ended_seq INTEGER NOT NULL, before INTEGER, shown BLOB, UNIQUE (owner, id)
             ) STRICT;
             INSERT INTO old SELECT * FROM peer_tasks;
             DROP TABLE peer_tasks;
             ALTER TABLE old RENAME TO peer_tasks;
             DROP TABLE peer_task_names;
             PRAGMA user_version = 4;",
        )
        .unwrap();
    if version == 3 {
        connection
            .execute_batch(
                "ALTER TABLE peer_tasks DROP COLUMN shown;
                 ALTER TABLE peer_past_sessions DROP COLUMN shown;
                 PRAGMA user_version = 3;",
            )
            .unwrap();
    }
}

#[test]
fn a_newer_store_is_left_alone() {
    let home = home();
    filled(home.path());
    let connection = Connection::open(home.path().join("sabir.db")).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    let path = home.path().join("sabir.db");
    let expected = StoreError::NewerSchema { path, found: 99, known: 6 };
    assert_eq!(Store::open(home.path()).unwrap_err(), expected);
    assert_eq!(Reader::open(home.path()).unwrap_err(), expected);
    assert!(expected.to_string().contains("was written by a newer sabir (schema 99"));
}

/// QP-J4: the hash before the first entry comes from the store's id.
#[test]
fn a_store_keeps_the_id_it_was_made_with() {
    let home = home();
    for id in ["first", "second"] {
        let options = sabir_store::Options { store_id: Some(id.to_owned()), ..Default::default() };
        let store = Store::open_with(home.path(), &options).unwrap();
        for batch in two_sessions() {
            store.append_and_wait(batch).unwrap();
        }
    }
    let lines = reader(home.path()).journal(Scope::All, 0, 1).unwrap();
    assert!(lines[0].follows(&genesis_hash("first")));
    assert!(!lines[0].follows(&genesis_hash("second")));
    reader(home.path()).verify().unwrap();
}

/// QP-J4: two stores of equal content are told apart, and an id is never given twice.
#[test]
fn every_new_store_has_an_id_of_its_own() {
    let made: Vec<_> = (0..3)
        .map(|_| {
            let home = home();
            filled(home.path());
            let verified = reader(home.path()).verify().unwrap();
            assert_eq!(verified.store_id.len(), 32);
            // Opening it again changes nothing.
            drop(Store::open(home.path()).unwrap());
            assert_eq!(reader(home.path()).verify().unwrap(), verified);
            (verified.store_id, verified.head_hash.to_string())
        })
        .collect();
    for (index, one) in made.iter().enumerate() {
        for other in &made[..index] {
            assert!(one.0 != other.0 && one.1 != other.1);
        }
    }
}
