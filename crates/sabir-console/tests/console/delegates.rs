//! Delegates: those of the node, those that are known, and who gave work to whom.

use std::sync::Arc;

use sabir_ldp::SigningKey;
use sabir_net::{OrderRequest, Placer};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::world::{OWN, Wishes, World};

fn by_name<'a>(delegates: &'a Value, name: &str) -> &'a Value {
    let all = delegates["delegates"].as_array().unwrap();
    all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}: {delegates}"))
}

/// CO-21: delegates of the node say whether they take tasks, and what to do if not.
#[tokio::test(flavor = "multi_thread")]
async fn own_delegates_are_shown_with_their_state() {
    let world = World::start().await;
    let person = world.person().await;
    let shown = person.see("/api/delegates").await;
    let harbor = by_name(&shown, "harbor");
    assert_eq!((&harbor["state"], &harbor["builtin"]), (&json!("ready"), &json!(true)));
    assert_eq!((&harbor["delegate_id"], &harbor["url"]), (&json!(OWN), &json!(world.url)));
    assert_eq!(harbor["skills"][0]["name"], "echo");
    assert_eq!(harbor["skills"][0]["measured"], Value::Null);
    assert_eq!(harbor["card"]["delegate_id"], OWN);
    assert_eq!(by_name(&shown, "coder")["state"], "no_model");
    assert_eq!(by_name(&shown, "coder")["why"], "name a model in sabir.toml");
    assert_eq!(by_name(&shown, "linguist")["state"], "off");
    let probed = person.done("/api/delegates/probe", json!({ "url": world.url })).await;
    assert_eq!(probed["name"], "harbor");
    world.end().await;
}

/// CO-21: the node reaches its own by a way of its own, wherever others do: behind TLS or a token.
#[tokio::test(flavor = "multi_thread")]
async fn own_delegates_are_reached_wherever_they_are_shown() {
    // Nobody listens there.
    let shown = "http://127.0.0.1:1";
    let world = World::with(Wishes { shown_at: Some(shown), ..Wishes::default() }).await;
    let person = world.person().await;
    let all = person.see("/api/delegates").await;
    assert_eq!(by_name(&all, "harbor")["url"], shown);
    let probed = person.done("/api/delegates/probe", json!({ "url": shown })).await;
    assert_eq!((&probed["name"], &probed["url"]), (&json!("harbor"), &json!(shown)));
    // As the form names it.
    let form = include_str!("../../assets/views/tasks.js");
    assert!(form.contains("value=${builtin ? name : url}"));
    let placed = json!({ "task": "say hi", "skill": "echo", "to": "harbor" });
    let id = person.done("/api/orders", placed).await["id"].as_str().unwrap().to_owned();
    person.follow(&format!("/api/orders/{id}/events"), None).await.until("report").await;
    assert_eq!(person.see(&format!("/api/orders/{id}")).await["state"], "done");
    world.end().await;
}

/// CO-21: who is not who it says is not kept, also when whoever added it is gone by then.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_half_added() {
    let world = World::start().await;
    let person = world.person().await;
    let placed = json!({ "task": "say hi", "skill": "echo" });
    let id = person.done("/api/orders", placed).await["id"].as_str().unwrap().to_owned();
    person.follow(&format!("/api/orders/{id}/events"), None).await.until("report").await;
    // Somebody with the name of one who is known, and another key.
    let mut card = by_name(&person.see("/api/delegates").await, "harbor")["card"].clone();
    let other = SigningKey::from_seed(&[8; 32]).public_key();
    card["public_key"] = json!(other.to_hex());
    // Whatever it is asked, it answers when it may, and then always.
    let (asked, answers) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let impostor = {
        let (asked, answers) = (Arc::clone(&asked), Arc::clone(&answers));
        axum::Router::new().fallback(move || {
            let (asked, answers, card) = (Arc::clone(&asked), Arc::clone(&answers), card.clone());
            async move {
                asked.notify_one();
                let _open = answers.acquire().await;
                axum::Json(card)
            }
        })
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, impostor).await });
    tokio::select! {
        reply = person.post("/api/delegates", json!({ "url": url })) => panic!("{reply:?}"),
        // The page is closed meanwhile.
        () = asked.notified() => {}
    }
    let is_known = async || {
        let all = person.see("/api/delegates").await;
        all["delegates"].as_array().unwrap().iter().any(|it| it["url"] == url)
    };
    assert!(is_known().await);
    answers.add_permits(1);
    let gone = async {
        while is_known().await {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let gone = tokio::time::timeout(std::time::Duration::from_secs(30), gone).await;
    assert!(gone.is_ok(), "{:#}", person.see("/api/delegates").await);
    serving.abort();
    world.end().await;
}

/// CO-21: others are added, looked at again and removed; one that does not answer is kept, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn others_are_added_and_removed() {
    let id = Some("ldp:delegate:pier");
    let other = World::with(Wishes { id, ..Wishes::default() }).await;
    let world = World::start().await;
    let person = world.person().await;
    let added = person.post("/api/delegates", json!({ "url": other.url })).await;
    assert_eq!(added.status, 201, "{added:?}");
    let added = added.json();
    assert_eq!((&added["state"], &added["builtin"]), (&json!("ready"), &json!(false)));
    let url = added["url"].as_str().unwrap().to_owned();
    assert!(added["pinned_key"].is_string() && added["card"].is_object(), "{added}");
    let probed = person.done("/api/delegates/probe", json!({ "url": url })).await;
    assert_eq!(probed["state"], "ready");
    other.end().await;
    let probed = person.done("/api/delegates/probe", json!({ "url": url })).await;
    assert_eq!(probed["state"], "unreachable", "{probed}");
    assert!(!probed["why"].as_str().unwrap().is_empty());
    assert!(probed["card"].is_object(), "the card that was read stays");
    person.done("/api/delegates/remove", json!({ "url": url })).await;
    let again = person.post("/api/delegates/remove", json!({ "url": url })).await;
    assert_eq!(again.status, 404);
    for url in ["not an address", "mcp+stdio:python3 -m server", ""] {
        let reply = person.post("/api/delegates", json!({ "url": url })).await;
        assert_eq!(reply.status, 400, "{url}");
    }
    let unknown = person.post("/api/delegates/probe", json!({ "url": "ldp://a.example" })).await;
    assert_eq!(unknown.status, 404);
    world.end().await;
}

/// CO-21: a task that was done counts: as measured quality of a skill, and as an edge of the map.
#[tokio::test(flavor = "multi_thread")]
async fn work_that_was_done_is_measured_and_drawn() {
    let world = World::start().await;
    let person = world.person().await;
    let placed = json!({ "task": "say hi", "skill": "echo" });
    let id = person.done("/api/orders", placed).await["id"].as_str().unwrap().to_owned();
    person.follow(&format!("/api/orders/{id}/events"), None).await.until("report").await;
    let shown = person.see("/api/delegates").await;
    let measured = &by_name(&shown, "harbor")["skills"][0]["measured"];
    assert_eq!(measured["success"], 1.0, "{measured}");
    assert!(measured["count"].as_f64().unwrap() > 0.9 && measured["latency_ms"].is_number());
    assert_eq!(measured["quality"], Value::Null, "nobody looked at it");
    let edges = person.see("/api/delegations?limit=5").await;
    let edge = &edges["edges"][0];
    assert_eq!((&edge["from"], &edge["to"]), (&json!(OWN), &json!(OWN)));
    assert_eq!((&edge["skill"], &edge["status"]), (&json!("echo"), &json!("succeeded")));
    assert!(edge["latency_ms"].is_number(), "{edge}");
    world.end().await;
}

/// CO-21: who gave work away is who did, also where this node only wrote it down.
#[tokio::test(flavor = "multi_thread")]
async fn work_is_drawn_from_whoever_gave_it_away() {
    let id = Some("ldp:delegate:pier");
    let other = World::with(Wishes { id, ..Wishes::default() }).await;
    let world = World::start().await;
    let person = world.person().await;
    let ask = async |by, parent: Option<String>, to: &str| {
        let mut request = OrderRequest { by, parent, ..OrderRequest::new("say hi") };
        (request.skill, request.to) = (Some("echo".to_owned()), vec![to.to_owned()]);
        let id = world.orders.place(request, None).await.unwrap();
        assert!(world.orders.wait(&id).await.unwrap().error.is_none());
        let edges = person.see("/api/delegations?limit=1").await;
        (id.to_string(), edges["edges"][0]["from"].clone())
    };
    let (above, from) = ask(Placer::Person, None, &other.url).await;
    assert_eq!(from, OWN);
    let (_, from) = ask(Placer::Agent, Some(above), "harbor").await;
    assert_eq!(from, "ldp:delegate:pier");
    let (_, from) = ask(Placer::Agent, Some("a conversation".to_owned()), "harbor").await;
    assert_eq!(from, OWN);
    let (_, from) = ask(Placer::Mcp, None, "harbor").await;
    assert_eq!(from, "mcp");
    world.end().await;
    other.end().await;
}
