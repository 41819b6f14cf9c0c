//! Tasks and their answers: at once, later, never twice, and refused with one row in the journal.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, join_all};
use sabir_host::{Broken, Condition, News, Skill};
use sabir_ldp::{Finished, TaskOrder, Usage};
use sabir_store::Reader;
use serde_json::json;

use crate::world::{
    CALLER, SESSION, World, code, echo, message, rows, settings, shell, stamp, submission, until,
    with_small_disk,
};

/// LD-N1, LD-N3.
#[tokio::test(flavor = "multi_thread")]
async fn an_echo_is_answered_with_a_signed_provenance_and_is_one_row() {
    let world = World::new(&[echo()]).await;
    world.open().await;
    let answer = world.submit("t-1", "echo", json!({ "words": ["a", 1] })).await;
    assert_eq!(answer["type"], "TASK_RESULT", "{answer}");
    assert_eq!(answer["output"], json!({ "words": ["a", 1] }));
    let provenance = &answer["provenance"];
    assert_eq!(provenance["produced_by"], "ldp:delegate:harbor", "{provenance}");
    assert!(provenance["signature"].is_object(), "{provenance}");
    assert_eq!(rows(world.home.path()), 2, "one row for the session, one for the task");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_task_is_told_and_not_done_again() {
    let (name, skill) = shell("cat; echo ran >&2");
    let world = World::new(&[(name, skill)]).await;
    world.open().await;
    let first = world.submit("t-1", name, json!("once")).await;
    let again = world.submit("t-1", name, json!("once")).await;
    assert_eq!(first["output"], "once");
    assert_eq!(again, first);
    let other = world.submit("t-1", name, json!("another")).await;
    assert_eq!(code(&other), "MESSAGE_INVALID");
}

/// LD-N4.
#[tokio::test(flavor = "multi_thread")]
async fn each_refused_message_is_one_row_and_nothing_is_run() {
    let world = World::new(&[echo()]).await;
    world.open().await;
    let mut late = submission("t-2", "echo", json!(1));
    late["timestamp"] = json!("2020-01-01T00:00:00Z");
    let mut elsewhere = submission("t-3", "echo", json!(1));
    elsewhere["to"] = json!("ldp:delegate:other");
    let mut no_session = submission("t-4", "echo", json!(1));
    no_session["session_id"] = json!("s-none");
    let mut frame = submission("t-5", "echo", json!("no frame"));
    frame["payload_mode"] = json!("semantic_frame");
    let mut past = submission("t-6", "echo", json!(1));
    past["body"]["contract"] = json!({ "contract_id": "c", "deadline": "2020-01-01T00:00:00Z" });
    let replayed = submission("t-7", "echo", json!(1));
    world.ask(&replayed).await;
    let before = rows(world.home.path());
    let cases = [
        (late, "TIMESTAMP_OUT_OF_WINDOW"),
        (elsewhere, "WRONG_RECIPIENT"),
        (no_session, "SESSION_NOT_FOUND"),
        (frame, "FRAME_INVALID"),
        (past, "CONTRACT_VIOLATED"),
        (replayed, "REPLAY_DETECTED"),
        (submission("t-8", "sing", json!(1)), "SKILL_NOT_FOUND"),
        (json!({ "from": CALLER }), "MESSAGE_INVALID"),
    ];
    let count = cases.len() as u64;
    for (message, expected) in cases {
        assert_eq!(code(&world.ask(&message).await), expected);
    }
    let reader = Reader::open(world.home.path()).unwrap();
    assert_eq!(rows(world.home.path()), before + count);
    assert_eq!(reader.peer_refusals(0, 100).unwrap().len() as u64, count);
}

/// LD-N5: what waits is bounded, and all of it is answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_tasks_at_once_are_all_done_and_each_once() {
    let world = World::new(&[echo(), shell("cat")]).await;
    world.open().await;
    let tasks = (0..1000).map(|number| {
        let world = &world;
        async move {
            let skill = if number % 20 == 0 { "cat" } else { "echo" };
            let answer = world.submit(&format!("t-{number}"), skill, json!(number)).await;
            assert_eq!(answer["output"], json!(number), "{answer}");
        }
    });
    join_all(tasks).await;
    let counts = world.node.counts();
    assert_eq!((counts.running_tasks, counts.waiting_requests), (0, 0));
}

/// LD-N7.
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_too_long_is_told_the_state_and_the_task_goes_on() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let gate = home.path().join("gate");
    let script = format!("while [ ! -e {} ]; do sleep 0.05; done; echo '\"done\"'", gate.display());
    let mut settings = settings(&[shell(&script)]);
    settings.patience = Duration::from_millis(200);
    let world = World::at(home, settings).await;
    world.open().await;
    let state = world.submit("t-1", &script, json!(null)).await;
    assert_eq!((&state["type"], &state["state"]), (&json!("TASK_UPDATE"), &json!("working")));
    assert_eq!(world.node.counts().waiting_requests, 0);
    std::fs::write(&gate, "").unwrap();
    until("the task ends", || world.node.counts().running_tasks == 0).await;
    let done = world.submit("t-1", &script, json!(null)).await;
    assert_eq!(done["output"], "done");
}

/// LD-N18: a deadline.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_stops_a_task_while_it_runs_and_what_there_was_is_told() {
    let world = World::new(&[shell("printf half; exec sleep 600")]).await;
    world.open().await;
    let mut message = submission("t-1", "printf half; exec sleep 600", json!(1));
    let policy = json!({ "failure_policy": "fail_closed" });
    message["body"]["contract"] =
        json!({ "contract_id": "c-1", "deadline": stamp(3000), "policy": policy });
    let answer = world.ask(&message).await;
    assert_eq!(code(&answer), "CONTRACT_VIOLATED", "{answer}");
    assert_eq!(answer["error"]["partial_output"], "half");
}

/// LD-N20.
#[tokio::test(flavor = "multi_thread")]
async fn criteria_that_can_be_checked_are() {
    let world = World::new(&[echo()]).await;
    world.open().await;
    let schema = json!({ "type": "object", "required": ["sum"] }).to_string();
    let mut met = submission("t-1", "echo", json!({ "sum": 3 }));
    met["body"]["contract"] =
        json!({ "contract_id": "c-1", "success_criteria": [schema, "reads well"] });
    let mut unmet = submission("t-2", "echo", json!({}));
    unmet["body"]["contract"] = met["body"]["contract"].clone();
    let provenance = world.ask(&met).await["provenance"].clone();
    assert_eq!(provenance["contract_satisfied"], true, "{provenance}");
    let provenance = world.ask(&unmet).await["provenance"].clone();
    assert_eq!(provenance["contract_satisfied"], false, "{provenance}");
    assert_eq!(provenance["contract_id"], "c-1");
}

/// LD-N6.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_takes_nothing_new_and_says_so() {
    let world = World::new(&[echo()]).await;
    world.open().await;
    world.node.stop().await;
    let refused = world.submit("t-1", "echo", json!(1)).await;
    assert_eq!(code(&refused), "NODE_UNAVAILABLE");
    assert_eq!(refused["error"]["retryable"], true);
    let hello = json!({ "type": "HELLO", "delegate_id": CALLER, "supported_modes": ["text"] });
    let refused = world.ask(&message(CALLER, SESSION, hello)).await;
    assert_eq!(refused["type"], "SESSION_REJECT");
}

/// LD-N6: a disk that is full.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_cannot_write_says_so_and_does_nothing_any_more() {
    let world = with_small_disk(1 << 20).await;
    world.open().await;
    let large = json!("x".repeat(64 << 10));
    let mut answers = Vec::new();
    for number in 0..40 {
        answers.push(world.submit(&format!("t-{number}"), "echo", large.clone()).await);
    }
    let done = answers.iter().take_while(|answer| answer["type"] == "TASK_RESULT").count();
    assert!((1..40).contains(&done), "{done} tasks fit");
    for refused in &answers[done..] {
        assert_eq!(code(refused), "NODE_UNAVAILABLE");
        assert_eq!(refused["error"]["retryable"], true);
    }
    assert!(matches!(world.node.counts().condition, Condition::Failed { .. }));
}

/// Uses up tokens and never ends by itself.
#[derive(Debug)]
struct Spender;

impl Skill for Spender {
    fn run(&self, _order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        async move {
            let usage = Usage { tokens: Some(900), cost_usd: None };
            news.usage(Usage { tokens: Some(100), cost_usd: None }).await;
            news.usage(usage).await;
            news.stop().cancelled().await;
            Err(Broken { usage, ..Broken::new("stopped") })
        }
        .boxed()
    }
}

/// LD-N18: a budget.
#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_a_task_while_it_runs() {
    let world = World::new(&[("spend", Arc::new(Spender))]).await;
    world.open().await;
    let mut message = submission("t-1", "spend", json!(1));
    let policy = json!({ "failure_policy": "fail_closed", "budget": { "max_tokens": 500 } });
    message["body"]["contract"] = json!({ "contract_id": "c-1", "policy": policy });
    let answer = world.ask(&message).await;
    assert_eq!(code(&answer), "CONTRACT_VIOLATED", "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("budget_tokens_exceeded"));
}

/// A skill that fails in a way that it should not.
#[derive(Debug)]
struct Panicking;

impl Skill for Panicking {
    fn run(&self, _order: TaskOrder, _news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        async { panic!("this is what the test is about") }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_that_panics_fails_its_task_and_nothing_else() {
    let world = World::new(&[("panic", Arc::new(Panicking)), echo()]).await;
    world.open().await;
    assert_eq!(code(&world.submit("t-1", "panic", json!(1)).await), "TASK_FAILED");
    assert_eq!(world.submit("t-2", "echo", json!(1)).await["output"], 1);
}
