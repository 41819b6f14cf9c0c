//! A delegate is its records: cut off anywhere, it goes on as it was.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sabir_ldp::{DelegateLimits, Ending, Record, TaskEvent, TaskKey, TaskOrder, TaskStart};
use serde_json::json;

use crate::node::{CALLER, Node, START, code, key};

/// LD-M5, LD-M9, LD-M4
#[test]
fn after_a_restart_everything_is_known() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let body = json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo", "input": "x" });
    let message = node.message(CALLER, "s-1", body);
    node.post(&message);
    node.finish(&key(CALLER, "t-1"), json!("done"));
    node.submit("s-1", "t-2", json!("x"));
    let mut node = node.restart();
    assert_eq!(code(&node.ask(&message)), "REPLAY_DETECTED");
    let stored = node.submit("s-1", "t-1", json!("x"));
    assert_eq!(node.answer(stored)["output"], "done");
    let cut_off = node.submit("s-1", "t-2", json!("x"));
    let failed = node.answer(cut_off);
    assert_eq!(code(&failed), "INTERRUPTED");
    assert_eq!(failed["error"]["retryable"], true);
    assert_eq!(node.started.len(), 2);
}

/// LD-M5: what lasts is started once more, as it was ordered, and ends once.
#[test]
fn a_task_that_lasts_is_started_again() {
    for by_snapshot in [false, true] {
        let mut node = Node::new();
        node.open(CALLER, "s-1", json!({}));
        node.submit("s-1", "t-1", json!("lost"));
        let sum = |node: &mut Node| {
            let body =
                json!({ "type": "TASK_SUBMIT", "task_id": "t-2", "skill": "sum", "input": "x" });
            let message = node.message(CALLER, "s-1", body);
            node.post(&message)
        };
        sum(&mut node);
        let task = key(CALLER, "t-2");
        let told =
            |words: &str| TaskEvent::Progress { message: Some(words.into()), progress: None };
        node.tell(&task, told("half"));
        if by_snapshot {
            node.records = node.delegate.snapshot();
        }
        node.now += 1_000;
        let mut node = node.restart();
        let [_, first, again] = &node.started[..] else { panic!("{:?}", node.started) };
        let as_before = TaskOrder { start: TaskStart::First, ..again.clone() };
        assert_eq!((&as_before, again.start), (first, TaskStart::Again));
        // Whoever asks waits for it, and the updates go on where they were.
        let waits = sum(&mut node);
        assert!(node.is_waiting(waits));
        node.tell(&task, told("more"));
        let last = node.records.iter().rev().find_map(|record| match record {
            Record::Updated(updated) => Some(updated.seq),
            _ => None,
        });
        assert_eq!(last, Some(2));
        node.finish(&task, json!(7));
        assert_eq!(node.answer(waits)["output"], 7);
        let mut node = node.restart();
        assert_eq!(node.started.len(), 3, "what has ended is not started again");
        let told = sum(&mut node);
        assert_eq!(node.answer(told)["output"], 7);
    }
}

/// LD-M9, LD-S17: the clock ran ahead, the node forgot what could not pass any more, and then both were
/// set right. Nothing that was there before passes again; what is new does at once.
#[test]
fn a_clock_that_is_set_right_brings_nothing_back() {
    for by_snapshot in [false, true] {
        let mut node = Node::new();
        node.open(CALLER, "s-1", json!({}));
        let old = node.message(CALLER, "", json!({ "type": "HELLO", "delegate_id": CALLER }));
        assert_eq!(node.ask(&old)["type"], "CAPABILITY_MANIFEST");
        node.now = START + 3_600_000;
        node.open(CALLER, "s-2", json!({}));
        if by_snapshot {
            node.records = node.delegate.snapshot();
        }
        node.now = START + 1_000;
        // Before and after a restart.
        for restarts in [false, true] {
            if restarts {
                node = node.restart();
            }
            let code = code(&node.ask(&old)).to_owned();
            assert!(["REPLAY_DETECTED", "TIMESTAMP_OUT_OF_WINDOW"].contains(&&*code), "{code}");
        }
        node.now = START + 2_000;
        let new = node.message(CALLER, "", json!({ "type": "HELLO", "delegate_id": CALLER }));
        let request = node.post(&new);
        assert_eq!(node.answer(request)["type"], "CAPABILITY_MANIFEST");
        assert_eq!(node.replies[&request]["timestamp"], node.stamp());
    }
}

/// LD-M4: a store that gives a record twice gives the same node.
#[test]
fn a_record_that_is_read_twice_counts_once() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    node.submit("s-1", "t-1", json!("x"));
    let twice: Vec<Record> = node.records.iter().flat_map(|it| [it.clone(), it.clone()]).collect();
    let node = Node::restored(DelegateLimits::default(), twice, START);
    assert_eq!((node.delegate.sessions(), node.delegate.running_tasks()), (1, 0));
    assert_eq!(node.records.iter().filter(|it| matches!(it, Record::Ended(_))).count(), 1);
}

#[derive(Debug, Clone)]
enum Step {
    Open(u8),
    Submit(u8, u8),
    Finish(u8),
    Close(u8, bool),
    Resume(u8),
    Wait(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..3u8).prop_map(Step::Open),
        (0..3u8, 0..6u8).prop_map(|(session, task)| Step::Submit(session, task)),
        (0..6u8).prop_map(Step::Finish),
        (0..3u8, any::<bool>()).prop_map(|(session, suspend)| Step::Close(session, suspend)),
        (0..3u8).prop_map(Step::Resume),
        (0..20_000u32).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

fn take(node: &mut Node, step: &Step) {
    let session = |number: u8| format!("s-{number}");
    match step {
        Step::Open(number) => {
            node.open(CALLER, &session(*number), json!({ "ttl_secs": 30 }));
        }
        Step::Submit(number, task) => {
            node.submit(&session(*number), &format!("t-{task}"), json!("x"));
        }
        Step::Finish(task) => node.finish(&key(CALLER, &format!("t-{task}")), json!(task)),
        Step::Close(number, suspend) => {
            let body = json!({ "type": "SESSION_CLOSE", "reason": null, "suspend": suspend });
            let message = node.message(CALLER, &session(*number), body);
            node.post(&message);
        }
        Step::Resume(number) => {
            node.open(CALLER, "", json!({ "resume_session_id": session(*number) }));
        }
        Step::Wait(millis) => node.wait(u64::from(*millis)),
    }
}

fn started(records: &[Record]) -> Vec<TaskKey> {
    let started = records.iter().filter_map(|record| match record {
        Record::Started(started) => Some(started.key.clone()),
        _ => None,
    });
    started.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// LD-M4, LD-M5: at every record boundary.
    #[test]
    fn cut_off_anywhere_nothing_runs_twice(steps in steps(), more in steps()) {
        let mut whole = Node::new();
        for step in &steps {
            take(&mut whole, step);
        }
        for cut in 0..=whole.records.len() {
            let records = whole.records[..cut].to_vec();
            let mut node = Node::restored(DelegateLimits::default(), records, whole.now);
            prop_assert_eq!(node.delegate.running_tasks(), 0);
            for step in more.iter().take(8) {
                take(&mut node, step);
            }
            let all = started(&node.records);
            let different: BTreeSet<_> = all.iter().collect();
            prop_assert_eq!(all.len(), different.len(), "a task was started twice");
        }
    }

    /// LD-M4: a snapshot restores to what the records restore to.
    #[test]
    fn a_snapshot_is_as_good_as_the_past(steps in steps(), more in steps()) {
        let mut whole = Node::new();
        for step in &steps {
            take(&mut whole, step);
        }
        let limits = DelegateLimits::default();
        let mut snapshot = whole.delegate.snapshot();
        // The store keeps how tasks ended, whatever the snapshot says.
        let endings = whole.records.iter().filter(|it| matches!(it, Record::Ended(_)));
        let kept: Vec<Record> = endings.cloned().collect();
        let from_past = Node::restored(limits.clone(), whole.records.clone(), whole.now);
        let from_snapshot = Node::restored(limits, snapshot.clone(), whole.now);
        prop_assert_eq!(summary(&from_past), summary(&from_snapshot));
        snapshot.splice(0..0, kept);
        let (mut one, mut other) = (from_past, from_snapshot);
        other.records.splice(0..0, snapshot);
        for step in &more {
            take(&mut one, step);
            take(&mut other, step);
            prop_assert_eq!(one.delegate.sessions(), other.delegate.sessions());
            prop_assert_eq!(one.delegate.running_tasks(), other.delegate.running_tasks());
        }
        prop_assert_eq!(one.started.len(), other.started.len());
    }

    /// LD-M1
    #[test]
    fn the_same_inputs_give_the_same_outputs(steps in steps()) {
        let run = || {
            let mut node = Node::new();
            steps.iter().for_each(|step| take(&mut node, step));
            (node.records, node.replies, node.now)
        };
        prop_assert_eq!(run(), run());
    }
}

/// What is left of a node when the past is forgotten.
fn summary(node: &Node) -> Vec<String> {
    let lines = node.delegate.snapshot().into_iter().map(|record| format!("{record:?}"));
    let mut lines: Vec<String> = lines.filter(|line| !line.starts_with("SessionEnded")).collect();
    lines.sort();
    lines
}

/// LD-M2: an ending is stored before anybody hears of it.
#[test]
fn what_is_answered_is_on_record() {
    let mut node = Node::new();
    node.open(CALLER, "s-1", json!({}));
    let waiting = node.submit("s-1", "t-1", json!("x"));
    node.finish(&key(CALLER, "t-1"), json!("done"));
    assert!(!node.is_waiting(waiting));
    let ended = node.records.iter().any(|record| match record {
        Record::Ended(ended) => matches!(ended.ending, Ending::Result { .. }),
        _ => false,
    });
    assert!(ended && node.now == START);
}
