//! Streams: each row once, in order, and on from where a viewer was.

use std::collections::BTreeSet;

use sabir_store::{Batch, Entry, SessionFacts, SessionId, Store};
use serde_json::json;

use crate::world::World;

fn tell(store: &Store, id: &str, entries: Vec<Entry>) {
    let batch = Batch { session_id: SessionId::new(id), at_ms: 1_000, entries };
    store.append_and_wait(batch).unwrap();
}

fn facts() -> Entry {
    let (cwd, model) = ("/project".to_owned(), "m".to_owned());
    Entry::Session(SessionFacts { cwd, model, title: Some("Tides".to_owned()), parent: None })
}

fn event(number: u64) -> Entry {
    let body = json!({ "type": "agent_message", "message": format!("word {number}") });
    let (sub_id, kind) = ("1".to_owned(), "agent_message".to_owned());
    Entry::Event { sub_id, kind, body: body.to_string() }
}

/// CO-12, CO-13: rows come as they are committed, under their numbers; whoever comes back with the last
/// number, in the header or in the query, misses nothing and gets nothing twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_goes_on_where_it_was_left() {
    let world = World::start().await;
    let (person, store) = (world.person().await, world.engine.store());
    let submission =
        Entry::Submission { sub_id: "1".to_owned(), body: json!({ "op": 1 }).to_string() };
    tell(store, "talk", vec![facts(), submission, event(1), Entry::Item { body: "{}".to_owned() }]);
    tell(store, "other", vec![facts(), event(99)]);
    let path = "/api/sessions/talk/events";
    let mut events = person.follow(path, None).await;
    let first = events.next().await.unwrap();
    assert_eq!((first.name.as_str(), &first.data), ("submission", &json!({ "op": 1 })));
    let second = events.next().await.unwrap();
    assert_eq!(
        (second.name.as_str(), &second.data["message"]),
        ("agent_message", &json!("word 1"))
    );
    // What is written now is told now.
    tell(store, "talk", vec![event(2)]);
    let third = events.next().await.unwrap();
    assert_eq!(third.data["message"], "word 2");
    assert!(first.id < second.id && second.id < third.id);
    drop(events);
    tell(store, "talk", vec![event(3)]);
    tell(store, "other", vec![event(98)]);
    tell(store, "talk", vec![event(4)]);
    let mut by_header = person.follow(path, third.id).await;
    let mut by_query = person.follow(&format!("{path}?after={}", third.id.unwrap()), None).await;
    for events in [&mut by_header, &mut by_query] {
        for word in ["word 3", "word 4"] {
            assert_eq!(events.next().await.unwrap().data["message"], word);
        }
    }
    for (path, status) in
        [("/api/sessions/nobody/events", 404), ("/api/orders/order-1/events", 404)]
    {
        assert_eq!(person.get(path).await.status, status);
    }
    let request = person.request(&axum::http::Method::GET, path).header("last-event-id", "x");
    let reply = person.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(reply.status, 400);
    world.end().await;
}

/// CO-6: a stream ends when its person signs out.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_session() {
    let world = World::start().await;
    let person = world.person().await;
    tell(world.engine.store(), "talk", vec![facts(), event(1)]);
    let mut events = person.follow("/api/sessions/talk/events", None).await;
    assert!(events.next().await.is_some());
    person.done("/api/logout", json!({})).await;
    assert_eq!(events.next().await, None);
    world.end().await;
}

/// CO-14: what changes is told by its kind, whoever changed it; all of it first.
#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_by_kind() {
    let world = World::start().await;
    let person = world.person().await;
    let mut changes = person.follow("/api/changes", None).await;
    let mut first = BTreeSet::new();
    for _ in 0..6 {
        first.insert(changes.next().await.unwrap().name);
    }
    let all = ["collections", "decisions", "delegates", "inbox", "orders", "sessions"];
    assert_eq!(first.iter().map(String::as_str).collect::<Vec<_>>(), all);
    person.done("/api/collections", json!({ "name": "Ports" })).await;
    changes.until("collections").await;
    tell(world.engine.store(), "talk", vec![facts(), event(1)]);
    changes.until("sessions").await;
    // Another program of this home.
    let peers = sabir_store::peers::Peers::open(world.home.path()).unwrap();
    let seen = async {
        // The first look only remembers what is there.
        for number in 0.. {
            let url = format!("ldp://127.0.0.1:{}", 1000 + number);
            peers.add_delegate(&url, 1).unwrap();
            let told =
                tokio::time::timeout(std::time::Duration::from_secs(3), changes.until("delegates"));
            if told.await.is_ok() {
                break;
            }
        }
    };
    seen.await;
    world.end().await;
}
