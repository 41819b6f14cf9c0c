//! kill -9 of a node: what it acknowledged is there, and the node that comes after knows it.

use std::path::Path;

use sabir_ldp::DelegateLimits;

use crate::child::{Child, report};
use crate::delegate_node::{Node, Tables, key};
use crate::sample::{home, reader};

/// The part of the child: tasks without end, each reported when it is on disk.
pub(crate) fn run(home: &Path) {
    let name = std::process::id();
    let messages = format!("m-{name}");
    let mut node = Node::over(home, DelegateLimits::default(), &messages, Tables::Behind);
    let session = format!("s-{name}");
    node.open(&session);
    for number in 0.. {
        let task = format!("t-{name}-{number}");
        node.submit(&session, &task);
        node.update(&task, "half");
        node.finish(&task);
        report(&task);
    }
}

/// QP-J12, QP-J17, QP-J21: whoever kills it does so while its tables are behind.
#[test]
fn what_a_node_finished_is_known_after_kill_9() {
    let home = home();
    let mut finished = Vec::new();
    for round in 1..=5 {
        let mut child = Child::start("delegate", home.path());
        finished.extend((0..10 * round).map(|_| child.line().unwrap()));
        finished.extend(child.kill());
        let reader = reader(home.path());
        reader.verify().unwrap();
        for task in &finished {
            assert!(reader.peer_task_ended(&key(task)).unwrap().is_some(), "{task}");
            assert_eq!(reader.peer_task_updates(&key(task), 0, 10).unwrap().len(), 1);
        }
        let node = Node::new(home.path());
        assert_eq!((node.delegate.sessions(), node.delegate.running_tasks()), (round, 0));
        node.store.reader().unwrap().verify().unwrap();
    }
}
