//! Many sessions in one process.

use std::collections::BTreeSet;

use sabir_engine::{EventMsg, decode};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{Connection, Defaults, Engine, Incoming, McpConfig, Providers, Setup, Shown};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

fn engine(home: &std::path::Path) -> Engine {
    let runner = Runner::new("/nonexistent", LayerChoice::None);
    let (providers, defaults) = (Providers::none(), Defaults::default());
    Engine::open(Setup {
        home: home.to_owned(),
        runner,
        providers,
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults,
    })
    .unwrap()
}

async fn submit(connection: &Connection, id: &str, op: &Value) {
    let line = json!({ "id": id, "op": op }).to_string();
    let decoded = decode(line.as_bytes()).unwrap();
    connection.submissions.send(Incoming::Submission(decoded)).await.unwrap();
}

/// Opens a session and returns its name, or why there is none.
async fn configure(connection: &mut Connection, op: &Value) -> Result<String, String> {
    submit(connection, "c", op).await;
    match connection.events.recv().await.unwrap().event.msg {
        EventMsg::SessionConfigured { session_id, .. } => Ok(session_id),
        EventMsg::Error { message } => Err(message),
        other => panic!("{other:?}"),
    }
}

async fn until(connection: &mut Connection, mut found: impl FnMut(&Shown) -> bool) -> Vec<Shown> {
    let mut seen = Vec::new();
    while let Some(shown) = connection.events.recv().await {
        let is_last = found(&shown);
        seen.push(shown);
        if is_last {
            return seen;
        }
    }
    panic!("the session ended: {seen:?}");
}

fn operation(model: &FakeModel, cwd: &std::path::Path) -> Value {
    json!({
        "type": "configure_session", "model": "m", "cwd": cwd, "approval_policy": "never",
        "provider": { "base_url": model.base_url(), "wire_api": "responses" },
    })
}

fn input(text: &str) -> Value {
    json!({ "type": "user_input", "items": [{ "type": "text", "text": text }] })
}

#[tokio::test]
async fn a_hundred_sessions_are_open_at_once_and_each_is_one_connections_own() {
    let home = tempfile::tempdir().unwrap();
    let model = FakeModel::answering(|request, _| {
        let said = request.body["input"][0]["content"][0]["text"].as_str()?.to_owned();
        Some(Reply::sse([responses::message(&said), responses::completed("r")]))
    });
    let engine = engine(home.path());
    let op = operation(&model, home.path());
    let mut connections = Vec::new();
    for _ in 0..100 {
        let mut connection = engine.connect();
        let id = configure(&mut connection, &op).await.unwrap();
        connections.push((id, connection));
    }
    let ids: BTreeSet<String> = connections.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids.len(), 100);
    for (id, connection) in &connections {
        submit(connection, "t", &input(id)).await;
    }
    for (id, connection) in &mut connections {
        let seen =
            until(connection, |it| matches!(it.event.msg, EventMsg::TaskComplete { .. })).await;
        let answer = EventMsg::AgentMessage { message: id.clone() };
        assert!(seen.iter().any(|shown| shown.event.msg == answer), "{seen:?}");
    }

    let mut stranger = engine.connect();
    let mut resumes = op.clone();
    resumes["session_id"] = json!(connections[0].0);
    let refused = configure(&mut stranger, &resumes).await.unwrap_err();
    assert!(refused.contains("is open in another connection"), "{refused}");
    let (_, Connection { submissions, events, done }) = connections.remove(0);
    drop((submissions, events));
    done.await.unwrap();
    assert_eq!(configure(&mut stranger, &resumes).await.unwrap(), resumes["session_id"]);
}

#[tokio::test]
async fn the_end_of_a_task_stays_with_the_session_that_it_belongs_to() {
    let home = tempfile::tempdir().unwrap();
    let model = FakeModel::start([
        Reply::sse([responses::completed("r0")]),
        Reply::sse([responses::call("c1", "list_dir", &json!({})), responses::message("hm")])
            .then_hold_open(),
        Reply::sse([responses::completed("r2")]),
    ]);
    let engine = engine(home.path());
    let op = operation(&model, home.path());

    let mut other = engine.connect();
    let other_id = configure(&mut other, &op).await.unwrap();
    submit(&other, "t0", &input("first")).await;
    until(&mut other, |it| matches!(it.event.msg, EventMsg::TaskComplete { .. })).await;
    let Connection { submissions, events, done } = other;
    drop((submissions, events));
    done.await.unwrap();

    // The connection goes over to the other session in the middle of a task.
    let mut connection = engine.connect();
    let id = configure(&mut connection, &op).await.unwrap();
    submit(&connection, "t1", &input("second")).await;
    until(&mut connection, |it| matches!(it.event.msg, EventMsg::AgentMessage { .. })).await;
    let mut resumes = op.clone();
    resumes["session_id"] = json!(other_id);
    submit(&connection, "c2", &resumes).await;
    let seen = until(&mut connection, |it| {
        matches!(&it.event.msg, EventMsg::SessionConfigured { session_id, .. } if *session_id == other_id)
    })
    .await;
    let aborted = seen.iter().find(|it| matches!(it.event.msg, EventMsg::TurnAborted { .. }));
    let aborted = aborted.expect("the task is aborted").line.clone();
    submit(&connection, "t2", &input("third")).await;
    until(&mut connection, |it| matches!(it.event.msg, EventMsg::TaskComplete { .. })).await;
    model.assert_done();
    let said = model.requests()[2].body["input"].to_string();
    assert!(said.contains("first") && said.contains("third") && !said.contains("second"), "{said}");

    let reader = sabir_store::Reader::open(home.path()).unwrap();
    let lines = |id: &str| {
        let id = sabir_store::SessionId::new(id);
        reader.journal(sabir_store::Scope::Session(&id), 0, 1000).unwrap()
    };
    assert!(lines(&id).iter().any(|line| line.body == aborted));
    assert!(!lines(&other_id).iter().any(|line| line.body == aborted));
    assert!(lines(&other_id).iter().any(|line| line.kind == "submission" && line.key == "c2"));
    reader.verify().unwrap();
}
