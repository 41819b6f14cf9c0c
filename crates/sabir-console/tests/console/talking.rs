//! Conversations with an agent: begun here, asked for approval here, gone on with later.

use sabir_store::{Batch, Entry, SessionFacts, SessionId};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use crate::world::{Wishes, World};

/// CO-23: a conversation is begun and heard live; what the agent must ask for waits in the inbox.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_live_and_asks() {
    let patch = "*** Begin Patch\n*** Add File: outside.txt\n+x\n*** End Patch";
    let call = responses::call("call-1", "apply_patch", &json!({ "input": patch }));
    let says = |text: &str| Reply::sse([responses::message(text), responses::completed("r2")]);
    let model = FakeModel::start([
        Reply::sse([call, responses::completed("r1")]),
        says("It was not allowed."),
        says("Goodbye."),
    ]);
    // Patches are asked for here, whatever they reach.
    let policy = "[[ask]]\ntool = \"apply_patch\"\n";
    let wishes = Wishes { model: Some(&model), policy, ..Wishes::default() };
    let world = World::with(wishes).await;
    let person = world.person().await;
    let started = person.post("/api/sessions", json!({ "text": "Write a file" })).await;
    assert_eq!(started.status, 201, "{started:?}");
    let id = started.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/sessions/{id}");
    let mut events = person.follow(&format!("{path}/events"), None).await;
    let asked = events.until("apply_patch_approval_request").await;
    assert!(asked.iter().any(|it| it.name == "submission"), "{asked:?}");
    let mut changes = world.inbox.watch();
    while world.inbox.list().is_empty() {
        changes.changed().await.unwrap();
    }
    let inbox = person.see("/api/inbox").await;
    let matter = &inbox["matters"][0];
    assert_eq!((&matter["session_id"], &matter["asker"]["type"]), (&json!(id), &json!("session")));
    assert!(matter["what"].as_str().unwrap().contains("outside.txt"), "{matter}");
    let shown = person.see(&path).await;
    assert_eq!((&shown["live"], &shown["running"]), (&json!(true), &json!(true)), "{shown}");
    assert_eq!(shown["held"], true, "{shown}");
    let decide = format!("/api/inbox/{}", matter["id"]);
    person.done(&decide, json!({ "decision": "deny" })).await;
    events.until("task_complete").await;
    assert!(!world.home.path().join("outside.txt").exists());
    person.done(&format!("{path}/input"), json!({ "text": "Bye" })).await;
    let said = events.until("task_complete").await;
    assert!(said.iter().any(|it| it.data.to_string().contains("Goodbye.")), "{said:?}");
    let listed = person.see("/api/sessions?limit=5").await;
    let ids: Vec<&Value> =
        listed["sessions"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, [&json!(id)]);
    assert_eq!(listed["sessions"][0]["title"], "Write a file");
    model.assert_done();
    world.end().await;
}

/// CO-27: a session whose last row says that something runs, and that nobody holds, was cut off.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_cut_off_is_held_by_nobody() {
    let world = World::start().await;
    let person = world.person().await;
    let facts = SessionFacts {
        cwd: String::new(),
        model: "m".to_owned(),
        title: Some("cut".to_owned()),
        parent: None,
    };
    let started = Entry::Event {
        sub_id: "s".to_owned(),
        kind: "task_started".to_owned(),
        body: json!({ "id": "s", "msg": { "type": "task_started" } }).to_string(),
    };
    let batch = Batch {
        session_id: SessionId::new("cut-off"),
        at_ms: 1,
        entries: vec![Entry::Session(facts), started],
    };
    let (done, stored) = tokio::sync::oneshot::channel();
    let taken = world.engine.store().append(batch, move |result| {
        let _ = done.send(result.is_ok());
    });
    assert!(taken.is_ok() && stored.await.unwrap());
    let shown = person.see("/api/sessions/cut-off").await;
    assert_eq!((&shown["held"], &shown["running"]), (&json!(false), &json!(false)), "{shown}");
    world.end().await;
}

/// CO-23: what the engine refuses is said; orders are no conversations.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_begun_is_said() {
    let world = World::start().await;
    let person = world.person().await;
    let refused = person.post("/api/sessions", json!({ "text": "Hello" })).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "refused"));
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("model"), "{refused:?}");
    assert_eq!(person.post("/api/sessions", json!({ "text": " " })).await.status, 400);
    for path in ["/api/sessions/none", "/api/sessions/none/events"] {
        assert_eq!(person.get(path).await.status, 404, "{path}");
    }
    for path in ["/api/sessions/none/input", "/api/sessions/none/interrupt"] {
        assert_eq!(person.post(path, json!({ "text": "x" })).await.status, 404, "{path}");
    }
    let order = person.done("/api/orders", json!({ "task": "hi", "skill": "echo" })).await;
    let id = order["id"].as_str().unwrap();
    person.follow(&format!("/api/orders/{id}/events"), None).await.until("report").await;
    assert_eq!(person.see("/api/sessions").await, json!({ "sessions": [] }));
    assert_eq!(person.get(&format!("/api/sessions/{id}")).await.status, 404);
    world.end().await;
}
