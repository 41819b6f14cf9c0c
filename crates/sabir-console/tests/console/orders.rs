//! Tasks for the router, from the form to the result.

use axum::body::Body;
use axum::http::Method;
use sabir_host::{Asker, Matter, MatterKind};
use sabir_ldp::{DelegateId, SkillName, TaskId, TaskKey};
use serde_json::{Value, json};

use crate::world::World;

/// CO-22: a task is placed, routed, followed to its end; its order has who did it, how and at what cost.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_placed_and_followed_to_its_end() {
    let world = World::start().await;
    world.steps.send_replace(1);
    let person = world.person().await;
    let placed =
        json!({ "task": "walk", "skill": "steps", "input": { "steps": 3 }, "to": "harbor" });
    let placed = person.post("/api/orders", placed).await;
    assert_eq!(placed.status, 201, "{placed:?}");
    let id = placed.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/orders/{id}");
    let mut events = person.follow(&format!("{path}/events"), None).await;
    let mut seen = events.until("progress").await;
    let order = person.see(&path).await;
    assert_eq!((&order["state"], &order["task"]), (&json!("running"), &json!("walk")));
    assert_eq!(person.see("/api/me").await["counts"]["orders_running"], 1);
    world.steps.send_replace(3);
    seen.extend(events.until("report").await);
    assert!(seen.windows(2).all(|pair| pair[0].id < pair[1].id), "{seen:?}");
    let names: Vec<&str> = seen.iter().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"chosen") && names.contains(&"delivered"), "{names:?}");
    let order = person.see(&path).await;
    assert_eq!((&order["state"], &order["output"]), (&json!("done"), &json!({ "steps": 3 })));
    assert_eq!(order["chosen"]["delegate_id"], "ldp:delegate:harbor");
    assert!(order["provenance"].is_object() && order["payload_mode"].is_string(), "{order}");
    assert!(order["cost"]["latency_ms"].is_number(), "{order}");
    // Whoever comes back in the middle is told the rest.
    let middle = seen[seen.len() / 2].id.unwrap();
    let mut rest = person.follow(&format!("{path}/events"), Some(middle)).await;
    let rest = rest.until("report").await;
    assert_eq!(rest, seen[seen.len() / 2 + 1..]);
    let listed = person.see("/api/orders?limit=10").await;
    assert_eq!(listed["orders"][0]["id"], id);
    assert_eq!(listed["orders"][0]["chosen"]["name"], "harbor");
    let again = person.post(&format!("{path}/again"), json!({})).await;
    assert_eq!(again.status, 201);
    let again = again.json()["id"].as_str().unwrap().to_owned();
    assert_ne!(again, id);
    person.follow(&format!("/api/orders/{again}/events"), None).await.until("report").await;
    let older = person.see(&format!("/api/orders?before={again}")).await;
    assert_eq!(older["orders"].as_array().unwrap().len(), 1);
    world.end().await;
}

/// CO-22: a task is taken back wherever it is; one that has ended cannot be.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_taken_back() {
    let world = World::start().await;
    world.steps.send_replace(1);
    let person = world.person().await;
    let placed = json!({ "task": "walk", "skill": "steps", "input": { "steps": 3 } });
    let id = person.done("/api/orders", placed).await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/orders/{id}");
    let mut events = person.follow(&format!("{path}/events"), None).await;
    events.until("progress").await;
    person.done(&format!("{path}/cancel"), json!({})).await;
    events.until("report").await;
    assert_eq!(person.see(&path).await["state"], "cancelled");
    let late = person.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!((late.status, late.code().as_str()), (409, "over"));
    world.end().await;
}

/// CO-22: the same key is the same order, and what cannot be ordered is said by its field.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_twice_is_taken_once() {
    let world = World::start().await;
    let person = world.person().await;
    let place = async |key: &str, body: Value| {
        let request = person.request(&Method::POST, "/api/orders").header("idempotency-key", key);
        person.send(request.body(Body::from(body.to_string())).unwrap()).await
    };
    let task = json!({ "task": "say hi", "skill": "echo" });
    let (first, second) = (place("k-1", task.clone()).await, place("k-1", task).await);
    assert_eq!(first.json()["id"], second.json()["id"]);
    let other = place("k-1", json!({ "task": "say no", "skill": "echo" })).await;
    assert_eq!((other.status, other.code().as_str()), (409, "key_taken"));
    for (body, word) in [
        (json!({ "task": " " }), "task"),
        (json!({ "task": "x", "deadline_secs": 0 }), "deadline_secs"),
        (json!({ "task": "x", "verify": "magic" }), "verify"),
        (json!({ "task": "x", "verify": { "who": "tool", "command": ["true"] } }), "verify"),
        (json!({ "task": "x", "to": 7 }), "to"),
        (json!({ "task": "x", "to": "mcp+stdio:false" }), "to"),
        (
            json!({ "task": "x", "to": "harbor", "verify": {
            "who": "peer", "to": "mcp+stdio:false", "skill": "verify",
        } }),
            "to",
        ),
        (json!({ "task": "x", "strategy": "luck" }), "strategy"),
    ] {
        let reply = person.post("/api/orders", body.clone()).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"), "{body}");
        let said = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(said.contains(word) || said.contains("luck"), "{said}");
    }
    for path in ["/api/orders/x", "/api/orders/order-00000000-0000-7000-8000-000000000000"] {
        assert_eq!(person.get(path).await.status, 404, "{path}");
    }
    world.end().await;
}

/// CO-25: what a delegate of the node asks for stands with its order, also where the node's own has it;
/// what somebody else's task asks for stands alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_stands_with_the_order_that_it_is_about() {
    let world = World::start().await;
    let person = world.person().await;
    let task = "0190a1b2-0000-7000-8000-000000000000";
    let node = person.see("/api/me").await["node"]["delegate_id"].as_str().unwrap().to_owned();
    for (owner, order) in [
        (node.clone(), json!(format!("order-{task}"))),
        (format!("{node}:caller"), json!(format!("order-{task}"))),
        (format!("{node}2"), Value::Null),
    ] {
        let key =
            TaskKey { owner: DelegateId::new(owner).unwrap(), id: TaskId::new(task).unwrap() };
        let skill = SkillName::new("code").unwrap();
        let asker = Asker::Task { key, skill, delegate: String::new() };
        let _asked =
            world.inbox.ask(Matter::new(asker, MatterKind::Approval, "rm -r x".to_owned()));
        let matters = person.see("/api/inbox").await;
        assert_eq!(matters["matters"][0]["order_id"], order, "{matters}");
    }
    world.end().await;
}
