//! A delegate that is read back from the store is the one that wrote it.

use proptest::prelude::*;
use sabir_ldp::{DelegateLimits, Record, Timestamp};
use sabir_store::{Store, StoreError};
use serde_json::json;

use crate::delegate_node::{
    CALLER, Keys, LOOPBACK, Node, TOKENS, Tables, finish_many, key, restored, showing, start,
};
use crate::sample::{home, unguarded};

#[derive(Debug, Clone)]
enum Step {
    Open(u8),
    Submit(u8, u8),
    BadFrame(u8),
    Update(u8),
    Finish(u8),
    Close(u8),
    Suspend(u8),
    Resume(u8),
    Again,
    Wait(u32),
    Reopen,
    /// Those who come from now on show this token, or none.
    Show(Option<u8>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3u8).prop_map(Step::Open),
        5 => (0..3u8, 0..9u8).prop_map(|(session, task)| Step::Submit(session, task)),
        1 => (0..3u8).prop_map(Step::BadFrame),
        2 => (0..9u8).prop_map(Step::Update),
        4 => (0..9u8).prop_map(Step::Finish),
        1 => (0..3u8).prop_map(Step::Close),
        1 => (0..3u8).prop_map(Step::Suspend),
        1 => (0..3u8).prop_map(Step::Resume),
        1 => Just(Step::Again),
        2 => (0..20_000u32).prop_map(Step::Wait),
        1 => (300_000..500_000u32).prop_map(Step::Wait),
        1 => Just(Step::Reopen),
        2 => prop::option::of(0..2u8).prop_map(Step::Show),
    ];
    prop::collection::vec(step, 1..50)
}

fn run(mut node: Node, steps: &[Step]) -> Node {
    let session = |number: &u8| format!("s-{number}");
    let task = |number: &u8| format!("t-{number}");
    let mut last = None;
    for step in steps {
        match step {
            Step::Open(number) => node.open(&session(number)),
            Step::Submit(number, id) => last = Some(node.submit(&session(number), &task(id))),
            Step::BadFrame(number) => {
                let body = json!({
                    "type": "TASK_SUBMIT", "task_id": "bad", "skill": "echo", "input": "no frame",
                });
                node.say(&session(number), "semantic_frame", body);
            }
            Step::Update(id) => node.update(&task(id), "so far"),
            Step::Finish(id) => node.finish(&task(id)),
            Step::Close(number) => node.close(&session(number), json!(false)),
            Step::Suspend(number) => node.close(&session(number), json!(true)),
            Step::Resume(number) => {
                let config = json!({ "resume_session_id": session(number) });
                let body = json!({ "type": "SESSION_PROPOSE", "config": config });
                node.say("", "text", body);
            }
            Step::Again => last.iter().for_each(|message| node.post(message)),
            Step::Wait(millis) => node.wait(u64::from(*millis)),
            Step::Reopen => node = node.reopen(),
            Step::Show(None) => node.channel = LOOPBACK,
            Step::Show(Some(number)) => node.channel = showing(TOKENS[usize::from(*number)]),
        }
    }
    node
}

/// Few enough that some are forgotten.
fn small() -> DelegateLimits {
    DelegateLimits { finished: 4, faded: 3, ended: 2, history: 2, ..DelegateLimits::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    /// QP-J17, QP-J18, QP-J21
    #[test]
    fn a_delegate_is_read_back_as_it_was(
        steps in steps(),
        keys in prop_oneof![Just(Keys::None), Just(Keys::Made)],
        tables in prop_oneof![Just(Tables::AtOnce), Just(Tables::Behind)],
    ) {
        let home = home();
        let mut node = Node::over(home.path(), small(), "m", tables);
        node.keys = keys;
        let node = run(node, &steps);
        let reader = node.store.reader().unwrap();
        let now = Timestamp::from_millis(node.now);
        let stored = reader.peer_state(&node.limits, now).unwrap();
        let from_store = restored(&node.limits, stored.clone(), node.now).snapshot();
        let from_records = restored(&node.limits, node.records.clone(), node.now).snapshot();
        prop_assert_eq!(one_mark(from_store.clone()), one_mark(from_records));
        if keys == Keys::None && node.delegate.running_tasks() == 0 {
            prop_assert_eq!(without_seen(from_store.clone()), without_seen(node.delegate.snapshot()));
        }
        reader.verify().unwrap();
        node.store.rebuild().unwrap();
        let again = reader.peer_state(&node.limits, now).unwrap();
        match tables {
            Tables::AtOnce => prop_assert_eq!(again, stored),
            // What the tables did not know was told record by record.
            Tables::Behind => {
                let again = restored(&node.limits, again, node.now).snapshot();
                prop_assert_eq!(one_mark(again), one_mark(from_store));
            }
        }
        reader.verify().unwrap();
    }
}

/// The tables say until when there was something to forget, and the records also since when.
fn one_mark(records: Vec<Record>) -> (Vec<Record>, Option<Timestamp>) {
    let mut last = None;
    let kept = records.into_iter().filter(|record| match record {
        Record::Seen(seen) if seen.replay.digest.len() != 32 => {
            last = last.max(Some(seen.replay.forget_at));
            false
        }
        _ => true,
    });
    (kept.collect(), last)
}

/// A window forgets when it is asked, which a refusal does and a record does not show.
fn without_seen(records: Vec<Record>) -> Vec<Record> {
    records.into_iter().filter(|record| !matches!(record, Record::Seen(_))).collect()
}

/// QP-J17
#[test]
fn what_ran_is_reported_and_stored_as_interrupted() {
    let home = home();
    let mut node = Node::new(home.path());
    node.open("s-1");
    node.submit("s-1", "t-1");
    node.update("t-1", "half");
    node.submit("s-1", "t-2");
    node.finish("t-2");
    drop(node);
    let node = Node::new(home.path());
    assert_eq!((node.delegate.sessions(), node.delegate.running_tasks()), (1, 0));
    let reader = node.store.reader().unwrap();
    let ended = reader.peer_task_ended(&key("t-1")).unwrap().unwrap();
    assert_eq!(serde_json::to_value(&ended.ending).unwrap()["failed"]["code"], "INTERRUPTED");
    reader.verify().unwrap();
}

/// QP-J17: to whom it belongs is read back, too, and the token is nowhere.
#[test]
fn what_a_holder_began_is_its_own_after_a_restart() {
    let home = home();
    let mut node = Node::new(home.path());
    let [one, other] = TOKENS;
    node.channel = showing(one);
    node.open("s-1");
    node.open("s-2");
    node.close("s-2", json!(false));
    node.submit("s-1", "t-1");
    node.finish("t-1");
    drop(node);
    for rebuilds in 0..2 {
        let mut node = Node::with(home.path(), DelegateLimits::default(), &format!("m{rebuilds}"));
        for (text, codes) in [
            (other, ["SESSION_NOT_YOURS", "SESSION_NOT_YOURS", "TASK_NOT_FOUND"].as_slice()),
            (one, ["SESSION_CLOSED"].as_slice()),
        ] {
            let reader = node.store.reader().unwrap();
            let after = reader.verify().unwrap().entries;
            node.channel = showing(text);
            for session in ["s-1", "s-2", ""] {
                let body = json!({
                    "type": "TASK_UPDATE", "task_id": "t-1", "message": "status_query",
                });
                node.say(session, "text", body);
            }
            let refused = reader.peer_refusals(after, 10).unwrap();
            let refused: Vec<&str> = refused.iter().map(|it| it.refused.code.as_str()).collect();
            assert_eq!(refused, codes, "{text}");
        }
        node.store.rebuild().unwrap();
        node.store.reader().unwrap().verify().unwrap();
    }
    let journal = Store::open(home.path()).unwrap().reader().unwrap();
    let lines = journal.journal(sabir_store::Scope::All, 0, 100).unwrap();
    let fingerprint = sabir_ldp::Fingerprint::of(one.as_bytes()).to_hex();
    assert!(lines.iter().any(|line| line.body.contains("\"shown\":")));
    for line in lines {
        assert!(!line.body.contains(one) && !line.body.contains(&fingerprint[..16]), "{line:?}");
    }
}

/// QP-J18: what was seen last is known, also when the clock is behind it.
#[test]
fn a_message_is_a_replay_after_a_restart() {
    let home = home();
    let mut node = Node::new(home.path());
    node.open("s-1");
    let message = node.submit("s-1", "t-1");
    node.wait(1000);
    drop(node);
    let mut node = Node::new(home.path());
    node.post(&message);
    let refusals = node.store.reader().unwrap().peer_refusals(0, 10).unwrap();
    assert_eq!(refusals.last().unwrap().refused.code, "REPLAY_DETECTED");
}

/// QP-J17: the journal behind what is live is not looked at, however long it is.
#[test]
fn a_hundred_thousand_tasks_are_known_without_reading_them() {
    let home = home();
    let mut node = Node::new(home.path());
    let made = node.finished();
    finish_many(&node.store, &made, (0..100_050).map(|number| format!("task-{number}")));
    // Long after, so that no message could pass again.
    node.now += 3_600_000;
    node.open("s-2");
    let limits = node.limits.clone();
    drop(node);
    unguarded(home.path())
        .execute_batch("UPDATE journal SET body = '[]' WHERE seq BETWEEN 1000 AND 90000")
        .unwrap();
    let store = Store::open(home.path()).unwrap();
    let reader = store.reader().unwrap();
    let records = reader.peer_state(&limits, start().plus_millis(3_600_000)).unwrap();
    let known = records.iter().filter(|it| matches!(it, Record::Known { .. })).count();
    assert_eq!(known, 100_000);
    let faded = records.iter().find_map(|record| match record {
        Record::Faded { traces } => Some(traces.len()),
        _ => None,
    });
    // The one that was finished first is among them.
    assert_eq!(faded, Some(51));
    let history = records.iter().find_map(|record| match record {
        Record::Opened(opened) if opened.session.as_str() == "s-1" => Some(opened.history.clone()),
        _ => None,
    });
    let names: Vec<String> = history.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!((names.len(), names.last().unwrap().as_str()), (32, "task-100049"));
    // A task that is not known by name is found; one that was changed is not believed.
    let oldest = reader.peer_task_ended(&key("task-0")).unwrap().unwrap();
    assert_eq!(oldest.key.owner.as_str(), CALLER);
    let changed = reader.peer_task_ended(&key("task-5000")).unwrap_err();
    assert!(matches!(changed, StoreError::Tampered(_)), "{changed}");
}

/// QP-J17: the name of a session that is long over may be used again; tables that are made again
/// have the keys of the one that is open.
#[test]
fn a_name_that_was_used_before_has_its_new_keys() {
    let home = home();
    let mut node = Node::with(home.path(), small(), "m");
    node.keys = Keys::Made;
    let steps = [
        Step::Open(1),
        Step::Close(1),
        Step::Open(0),
        Step::Open(0),
        Step::Wait(300_000),
        Step::Open(1),
    ];
    let node = run(node, &steps);
    let reader = node.store.reader().unwrap();
    let stored = reader.peer_state(&node.limits, start()).unwrap();
    let has_keys =
        |record: &Record| matches!(record, Record::Opened(opened) if opened.keys.is_some());
    assert_eq!(stored.iter().filter(|record| has_keys(record)).count(), 1);
    node.store.rebuild().unwrap();
    assert_eq!(reader.peer_state(&node.limits, start()).unwrap(), stored);
    reader.verify().unwrap();
}
