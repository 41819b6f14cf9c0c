//! What is found of single tasks.

use sabir_ldp::TaskState;
use sabir_store::Batch;

use crate::delegate_node::{Node, START, Tables, key};
use crate::sample::{home, two_sessions};

/// QP-J19, QP-J21
#[test]
fn a_task_is_found_by_its_key() {
    for tables in [Tables::AtOnce, Tables::Behind] {
        find_tasks(tables);
    }
}

fn find_tasks(tables: Tables) {
    let home = home();
    let mut node = Node::with_tables(home.path(), tables);
    node.open("s-1");
    node.submit("s-1", "t-1");
    for number in 1..=50 {
        node.update("t-1", &format!("step {number}"));
    }
    // Entries of others do not matter.
    for batch in two_sessions() {
        node.store.append_and_wait(batch).unwrap();
    }
    let reader = node.store.reader().unwrap();
    let id = key("t-1");
    assert_eq!(reader.peer_task_ended(&id).unwrap(), None);
    let started = reader.peer_task_started(&id).unwrap().unwrap();
    assert_eq!((started.key.clone(), started.skill.as_str()), (id.clone(), "echo"));
    for state in ["running", "ended"] {
        let updates = reader.peer_task_updates(&id, 20, 10).unwrap();
        let seqs: Vec<u64> = updates.iter().map(|update| update.seq).collect();
        assert_eq!(seqs, (21..=30).collect::<Vec<_>>(), "{state}");
        assert_eq!(updates[0].message.as_deref(), Some("step 21"));
        assert_eq!(updates[0].state, TaskState::Working);
        assert_eq!(reader.peer_task_updates(&id, 50, 10).unwrap(), []);
        assert_eq!(reader.peer_task_updates(&id, 0, 1000).unwrap().len(), 50);
        assert_eq!(reader.peer_task_started(&id).unwrap().unwrap(), started);
        node.finish("t-1");
    }
    let ended = reader.peer_task_ended(&id).unwrap().unwrap();
    assert_eq!(serde_json::to_value(&ended.ending).unwrap()["result"]["output"], "t-1");
    let unknown = key("t-2");
    assert_eq!(reader.peer_task_ended(&unknown).unwrap(), None);
    assert_eq!(reader.peer_task_started(&unknown).unwrap(), None);
    assert_eq!(reader.peer_task_updates(&unknown, 0, 10).unwrap(), []);
}

/// QP-J19: a task ends once, whatever is written later.
#[test]
fn the_first_ending_counts() {
    for tables in [Tables::AtOnce, Tables::Behind] {
        end_twice(tables);
    }
}

fn end_twice(tables: Tables) {
    let home = home();
    let mut node = Node::with_tables(home.path(), tables);
    node.open("s-1");
    node.submit("s-1", "t-1");
    node.finish("t-1");
    let reader = node.store.reader().unwrap();
    let first = reader.peer_task_ended(&key("t-1")).unwrap().unwrap();
    let mut later = first.clone();
    later.at = later.at.plus_millis(5);
    let again = vec![sabir_ldp::Record::Ended(Box::new(later))];
    node.store.append_and_wait(Batch::of_peers(START, again)).unwrap();
    assert_eq!(reader.peer_task_ended(&key("t-1")).unwrap().unwrap(), first);
    reader.verify().unwrap();
}

/// QP-J19, QP-J21
#[test]
fn refusals_are_listed_in_order() {
    for tables in [Tables::AtOnce, Tables::Behind] {
        list_refusals(tables);
    }
}

fn list_refusals(tables: Tables) {
    let home = home();
    let mut node = Node::with_tables(home.path(), tables);
    for number in 0..5 {
        node.submit("nowhere", &format!("t-{number}"));
        node.open(&format!("s-{number}"));
    }
    let reader = node.store.reader().unwrap();
    let all = reader.peer_refusals(0, 100).unwrap();
    assert_eq!(all.len(), 5);
    assert!(all.iter().all(|it| it.refused.code == "SESSION_NOT_FOUND"));
    assert_eq!(reader.peer_refusals(all[1].seq, 2).unwrap(), all[2..4]);
    assert_eq!(reader.peer_refusals(all[4].seq, 2).unwrap(), []);
}
