//! A node that ends and starts again: what was told stays told, what ran is reported, nothing runs
//! twice.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use sabir_host::Node;
use sabir_store::Store;
use sabir_store::peers::Peers;
use serde_json::json;

use crate::programs::is_alive;
use crate::world::{World, all, code, echo, id, key, settings, shell, submission, until};

/// LD-N12: after a restart.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_results_and_used_ids_survive() {
    let (name, skill) = shell("echo one >&2; echo two >&2; cat");
    let skills = [echo(), (name, skill)];
    let world = World::new(&skills).await;
    world.open().await;
    let order = submission("t-1", name, json!("kept"));
    world.ask(&order).await;
    let world = world.restart(&skills).await;
    assert_eq!(world.node.counts().sessions, 1);
    assert_eq!(code(&world.ask(&order).await), "REPLAY_DETECTED");
    let told = all(world.follow(&submission("t-1", name, json!("kept")), None).await).await;
    let ids: Vec<u64> = told.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(told[2].1["output"], "kept");
    assert_eq!(world.submit("t-2", "echo", json!(2)).await["output"], 2);
}

/// LD-N21, LD-N18: the stop of the node.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_what_runs_with_all_that_it_started_and_answers_who_waits() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let pid = home.path().join("pid");
    let script = format!("printf half; sleep 600 & echo $! > {}; wait", pid.display());
    let skills = [shell(&script)];
    let world = World::at(home, settings(&skills)).await;
    world.open().await;
    let order = submission("t-1", &script, json!(1));
    let stop = async {
        until("it runs", || is_alive(&pid)).await;
        world.node.stop().await;
    };
    let (answer, ()) = tokio::join!(world.ask(&order), stop);
    assert_eq!(code(&answer), "INTERRUPTED", "{answer}");
    assert_eq!(answer["error"]["partial_output"], "half");
    assert!(!is_alive(&pid));
    let world = world.restart(&skills).await;
    let again = world.submit("t-1", &script, json!(1)).await;
    assert_eq!(code(&again), "INTERRUPTED");
    assert_eq!(again["error"]["retryable"], true);
}

/// LD-N2, LD-N21: the home is copied while the node works, which is what a machine that loses its
/// power leaves.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_nothing_runs_twice_and_what_ran_is_reported() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let count = home.path().join("count");
    let script = format!("echo x >> {}; echo up >&2; exec sleep 600", count.display());
    let skills = [echo(), shell(&script)];
    let world = World::at(home, settings(&skills)).await;
    world.open().await;
    let mut follow = world.follow(&submission("t-long", &script, json!(1)), None).await;
    follow.next().await.unwrap();
    join_all((0..200).map(|n| {
        let world = &world;
        async move { world.submit(&format!("t-{n}"), "echo", json!(n)).await }
    }))
    .await;
    let copy = Arc::new(tempfile::tempdir().unwrap());
    for name in ["sabir.db", "sabir.db-wal"] {
        let from = world.home.path().join(name);
        if from.exists() {
            std::fs::copy(from, copy.path().join(name)).unwrap();
        }
    }
    let restarted = World::at(copy, settings(&skills)).await;
    let long = restarted.submit("t-long", &script, json!(1)).await;
    assert_eq!(code(&long), "INTERRUPTED");
    for n in [0, 77, 199] {
        let answer = restarted.submit(&format!("t-{n}"), "echo", json!(n)).await;
        assert_eq!(answer["output"], json!(n), "{answer}");
    }
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "x\n");
    drop(follow);
    world.node.stop().await;
}

/// Every key that is kept is enforced: where there is no room for one, nothing is served.
#[tokio::test]
async fn a_pinned_key_that_cannot_be_enforced_keeps_the_node_from_starting() {
    let home = tempfile::tempdir().unwrap();
    let peers = Peers::open(home.path()).unwrap();
    let known = key().public_key();
    peers.pin(&id("ldp:delegate:kept"), &known, "a test", 1).unwrap();
    let mut full = settings(&[echo()]);
    for number in 0.. {
        if full.trust.pin(&id(&format!("ldp:delegate:d-{number}")), known).is_err() {
            break;
        }
    }
    let store = Store::open(home.path()).unwrap();
    let refused = Node::start(full, store, peers, key()).await.unwrap_err().to_string();
    assert!(refused.contains("ldp:delegate:kept"), "{refused}");
}
