//! Orders that had not ended when the node stopped.

use sabir_net::{LdpOptions, OrderState, Orders, OwnDelegate};
use sabir_store::{Batch, Entry, SessionFacts, SessionId};
use serde_json::json;

use super::{Buyer, ask, own, rows, steps, tags};
use crate::world::World;

/// Until the delegate has taken a step.
async fn under_way(orders: &Orders, world: &World) -> sabir_net::OrderId {
    let id = orders.place(steps(2), None).await.unwrap();
    world.steps.send_replace(1);
    let mut watch = orders.watch();
    while orders.get(&id).await.unwrap().progress.is_none() {
        watch.changed().await.unwrap();
    }
    id
}

/// OR-7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delegate_that_went_on_is_asked_what_became_of_it() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let id = under_way(&orders, &world).await;
    let waiting = tokio::spawn({
        let (orders, id) = (orders.clone(), id.clone());
        async move { orders.wait(&id).await }
    });
    tokio::task::yield_now().await;
    orders.leave().await;
    assert_eq!(waiting.await.unwrap(), Err(sabir_net::OrderError::Stopping));
    drop(orders);
    // Nobody told it to stop.
    assert_eq!(world.node.counts().running_tasks, 1);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.get(&id).await.unwrap().state, OrderState::Running);
    assert_eq!(orders.resume_all(), 1);
    world.steps.send_replace(2);
    let order = orders.wait(&id).await.unwrap();
    assert_eq!((order.state, order.output.as_ref()), (OrderState::Done, Some(&json!(2))));
    assert_eq!(order.attempts.len(), 1);
    let rows = rows(&orders, &id).await;
    assert!(tags(&rows).contains(&"resumed"), "{:?}", tags(&rows));
    orders.leave().await;
    world.end().await;
}

/// OR-8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_delegate_was_cut_short_in_is_interrupted_unless_it_may_be_repeated() {
    for repeats in [false, true] {
        let (buyer, world) = (Buyer::new(), World::start().await);
        let orders = buyer.orders(vec![own("harbor", &world)]).await;
        let id = under_way(&orders, &world).await;
        orders.leave().await;
        drop(orders);
        // It listens elsewhere afterwards.
        let world = world.restart(LdpOptions::default(), Vec::new()).await;
        world.steps.send_replace(2);
        let own = OwnDelegate { repeats, ..own("harbor", &world) };
        let orders = buyer.orders(vec![own]).await;
        assert_eq!(orders.resume_all(), 1);
        let order = orders.wait(&id).await.unwrap();
        if repeats {
            let done = (OrderState::Done, Some(&json!(2)));
            assert_eq!((order.state, order.output.as_ref()), done, "{order:?}");
        } else {
            assert_eq!(order.state, OrderState::Interrupted, "{order:?}");
            assert_eq!(order.error.unwrap().code, "INTERRUPTED");
        }
        orders.leave().await;
        world.end().await;
    }
}

/// OR-8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_had_is_done_and_what_nobody_can_say_is_interrupted() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let ids = ["11111111", "22222222", "33333333"];
    let ids = ids.map(|id| format!("order-{id}-0000-7000-8000-000000000000"));
    {
        let store = buyer.store().await;
        let facts =
            || SessionFacts { cwd: String::new(), model: String::new(), title: None, parent: None };
        let body = serde_json::to_string(&ask("echo", "say hi")).unwrap();
        let submission = Entry::Submission { sub_id: String::new(), body };
        let trying = |address: &str| {
            let body = json!({
                "event": "trying", "delegate_id": "ldp:delegate:other", "address": address,
            });
            let kind = "trying".to_owned();
            Entry::Event { sub_id: String::new(), kind, body: body.to_string() }
        };
        let news = [None, Some(trying("a2a://127.0.0.1:1/")), Some(trying("http://127.0.0.1:1/"))];
        for (id, news) in ids.iter().zip(news) {
            let mut entries = vec![Entry::Session(facts()), submission.clone()];
            entries.extend(news);
            let batch = Batch { session_id: SessionId::new(id.as_str()), at_ms: 1, entries };
            store.append_and_wait(batch).unwrap();
        }
    }
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.running(), 3);
    assert_eq!(orders.resume_all(), 3);
    let [done, lost, unreachable] = ids.map(|id| sabir_net::OrderId::parse(&id).unwrap());
    assert_eq!(orders.wait(&done).await.unwrap().state, OrderState::Done);
    let lost = orders.wait(&lost).await.unwrap();
    assert_eq!(lost.state, OrderState::Interrupted);
    assert!(lost.error.unwrap().message.contains("no way to ask"));
    let unreachable = orders.wait(&unreachable).await.unwrap();
    assert_eq!(unreachable.state, OrderState::Interrupted, "{unreachable:?}");
    // OR-21: it was waited for, and not for ever.
    assert_eq!(unreachable.error.as_ref().unwrap().code, "AWAY", "{unreachable:?}");
    let rows = rows(&orders, &unreachable.id).await;
    assert!(tags(&rows).contains(&"away"), "{:?}", tags(&rows));
    orders.leave().await;
    world.end().await;
}

async fn until_away(orders: &Orders, id: &sabir_net::OrderId) {
    let mut watch = orders.watch();
    while orders.get(id).await.unwrap().state != OrderState::Away {
        watch.changed().await.unwrap();
    }
}

/// OR-21: whether the node or its delegate was away first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delegate_that_is_away_is_waited_for() {
    for is_restarted in [true, false] {
        let (buyer, mut world) = (Buyer::patient(), World::start().await);
        let mut orders = buyer.orders(vec![own("harbor", &world)]).await;
        let id = under_way(&orders, &world).await;
        if is_restarted {
            orders.leave().await;
            drop(orders);
            world.stop_serving().await;
            orders = buyer.orders(vec![own("harbor", &world)]).await;
            assert_eq!(orders.resume_all(), 1);
        } else {
            world.stop_serving().await;
        }
        until_away(&orders, &id).await;
        assert_eq!(orders.running(), 1);
        world.serve_again().await;
        world.steps.send_replace(2);
        let order = orders.wait(&id).await.unwrap();
        assert_eq!((order.state, order.output.as_ref()), (OrderState::Done, Some(&json!(2))));
        // What was on the way is done once.
        assert_eq!(world.node.counts().running_tasks, 0);
        orders.leave().await;
        world.end().await;
    }
}

/// OR-21: who waits for a delegate can still take the order back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_whose_delegate_is_away_can_be_cancelled() {
    let (buyer, mut world) = (Buyer::patient(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let id = under_way(&orders, &world).await;
    world.stop_serving().await;
    until_away(&orders, &id).await;
    orders.cancel(&id).await.unwrap();
    assert_eq!(orders.wait(&id).await.unwrap().state, OrderState::Cancelled);
    orders.leave().await;
    world.serve_again().await;
    world.end().await;
}
