//! Tables that follow the journal late: when they do, and that nobody sees a difference.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use sabir_ldp::DelegateLimits;
use sabir_store::Options;

use crate::delegate_node::{Keys, Node, Tables, finish_many, key, start};
use crate::sample::{batch, facts, home, item, reader};

/// The last entry that the tables know of, and how many tasks are in them.
fn known(home: &Path) -> (i64, i64) {
    let sql =
        "SELECT (SELECT coalesce(max(seq), 0) FROM peer_mark), (SELECT count(*) FROM peer_tasks)";
    let connection = Connection::open(home.join("sabir.db")).unwrap();
    connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

/// QP-J21
#[test]
fn tables_follow_when_they_have_to() {
    let home = home();
    let mut node = Node::with_tables(home.path(), Tables::Behind);
    let made = node.finished();
    assert_eq!(known(home.path()), (0, 0));
    // Keys are in no entry.
    node.keys = Keys::Made;
    node.open("s-2");
    assert_eq!(known(home.path()), (4, 1));
    finish_many(&node.store, &made, (0..511).map(|number| format!("a-{number}")));
    node.submit("s-1", "t-2");
    assert_eq!(known(home.path()), (516, 512));
    node.finish("t-2");
    assert_eq!(known(home.path()), (516, 512));
    node.store.reader().unwrap().verify().unwrap();
    // Who closes the store leaves nothing to be done.
    drop(node);
    assert_eq!(known(home.path()), (517, 513));
    reader(home.path()).verify().unwrap();
}

/// QP-J21: who looks for a task reads a bounded part of the journal, whatever stands in it.
#[test]
fn tables_follow_what_is_long() {
    let home = home();
    let mut node = Node::with_tables(home.path(), Tables::Behind);
    node.open("s-1");
    let long = item(&"x".repeat(1 << 19));
    node.store.append_and_wait(batch("s", 1, vec![facts(), long.clone()])).unwrap();
    assert_eq!(known(home.path()), (0, 0));
    node.store.append_and_wait(batch("s", 2, vec![long])).unwrap();
    assert_eq!(known(home.path()), (4, 0));
    for at in 3..66 {
        node.store.append_and_wait(batch("s", at, vec![item("short")])).unwrap();
    }
    assert_eq!(known(home.path()), (4, 0));
    node.store.append_and_wait(batch("s", 66, vec![item("short")])).unwrap();
    assert_eq!(known(home.path()), (68, 0));
    node.store.reader().unwrap().verify().unwrap();
}

/// QP-J21: who looks again and again finds each task, wherever the tables are by then.
#[test]
fn a_reader_that_stays_follows_the_tables() {
    let home = home();
    let mut node = Node::with_tables(home.path(), Tables::Behind);
    let made = node.finished();
    let reader = node.store.reader().unwrap();
    let finds = |name: &str| reader.peer_task_ended(&key(name)).unwrap().is_some();
    let mut marks = BTreeSet::new();
    node.store.append_and_wait(batch("s", 1, vec![facts()])).unwrap();
    for number in 0..1200 {
        let name = format!("a-{number}");
        assert!(!finds(&name), "{name}");
        finish_many(&node.store, &made, [name.clone()].into_iter());
        // Until that is on disk.
        node.store.append_and_wait(batch("s", 2, vec![item("another")])).unwrap();
        assert!(finds(&name), "{name}");
        let earlier = format!("a-{}", number / 2);
        assert!(finds(&earlier), "{earlier}");
        marks.insert(known(home.path()).0);
    }
    assert!(marks.len() > 2, "{marks:?}");
    // Made anew, the tables are at the end, and go on from there.
    drop((reader, node));
    let reader = self::reader(home.path());
    assert!(reader.peer_task_ended(&key("a-1199")).unwrap().is_some());
    assert!(reader.peer_task_ended(&key("a-1200")).unwrap().is_none());
}

/// QP-J10: in a store that is used by few, the tables say what the journal says.
#[test]
fn tables_follow_at_once_when_few_write() {
    let home = home();
    let mut node = Node::new(home.path());
    node.finished();
    assert_eq!(known(home.path()), (3, 1));
    assert_eq!(Options::default().crowd, 4);
}

/// QP-J21: a file whose writer was ended is read by any number of others, and written by the next.
#[test]
fn whoever_comes_next_knows_what_the_tables_do_not() {
    let (home, copy) = (home(), home());
    let mut node = Node::with_tables(home.path(), Tables::Behind);
    node.open("s-1");
    node.submit("s-1", "t-1");
    node.update("t-1", "half");
    node.finish("t-1");
    node.submit("s-1", "t-2");
    // As it would be found after the power went.
    for name in ["sabir.db", "sabir.db-wal"] {
        std::fs::copy(home.path().join(name), copy.path().join(name)).unwrap();
    }
    assert_eq!(known(copy.path()), (0, 0));
    let reader = reader(copy.path());
    reader.verify().unwrap();
    let state = reader.peer_state(&node.limits, start()).unwrap();
    assert_eq!(state, node.store.reader().unwrap().peer_state(&node.limits, start()).unwrap());
    let ended = reader.peer_task_ended(&key("t-1")).unwrap().unwrap();
    drop(reader);
    let next = Node::over(copy.path(), DelegateLimits::default(), "n", Tables::AtOnce);
    let reader = next.store.reader().unwrap();
    reader.verify().unwrap();
    assert_eq!(reader.peer_task_ended(&key("t-1")).unwrap().unwrap(), ended);
    assert_eq!(reader.peer_task_updates(&key("t-1"), 0, 9).unwrap().len(), 1);
    // The one that ran was interrupted, which is an entry of its own.
    assert_eq!(known(copy.path()), (6, 2));
}
