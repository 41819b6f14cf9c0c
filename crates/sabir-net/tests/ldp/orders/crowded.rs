//! Many orders at once: who leaves room for whom, and what a list of them shows.

use sabir_net::{OrderError, OrderLimits, OrderLoad, OrderRequest, OrderVisit, Orders, Placer};
use serde_json::json;

use super::{Buyer, ask, own, steps};
use crate::world::{World, until};

fn by(caller: &str, request: OrderRequest) -> OrderRequest {
    OrderRequest { by: Placer::A2a, visit: Some(OrderVisit::of(caller)), ..request }
}

async fn refused(orders: &Orders, request: OrderRequest) -> OrderError {
    orders.place(request, None).await.unwrap_err()
}

/// OR-24
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_orders_without_end_keeps_nobody_else_from_ordering() {
    let load = |orders| OrderLoad { orders, bytes: 100_000 };
    let limits = OrderLimits { all: load(4), of_programs: load(3), of_one: load(2) };
    let (buyer, world) = (Buyer::with_limits(limits), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let mut placed = Vec::new();
    for _ in 0..2 {
        placed.push(orders.place(by("a", steps(1)), None).await.unwrap());
    }
    assert_eq!(refused(&orders, by("a", steps(1))).await, OrderError::TooMany { limit: 2 });
    placed.push(orders.place(by("b", steps(1)), None).await.unwrap());
    assert_eq!(refused(&orders, by("b", steps(1))).await, OrderError::TooMany { limit: 3 });
    placed.push(orders.place(steps(1), None).await.unwrap());
    assert_eq!(refused(&orders, steps(1)).await, OrderError::TooMany { limit: 4 });
    // Nothing was written down of what was refused.
    assert_eq!(orders.list(None, 10).await.unwrap().len(), 4);
    // Who was there before a restart is there afterwards, and counts.
    orders.leave().await;
    drop(orders);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.resume_all(), 4);
    assert_eq!(refused(&orders, steps(1)).await, OrderError::TooMany { limit: 4 });
    world.steps.send_replace(1);
    for id in &placed {
        orders.wait(id).await.unwrap();
    }
    // What takes much memory counts as much, and a text as what it is.
    world.steps.send_replace(0);
    let large =
        || OrderRequest { input: Some(json!({ "steps": 1, "x": vec![0; 1000] })), ..steps(1) };
    until(async || orders.place(by("a", large()), None).await.is_ok()).await;
    assert_eq!(refused(&orders, by("a", large())).await.code(), "TOO_LARGE");
    let text =
        OrderRequest { input: Some(json!({ "steps": 1, "x": "0".repeat(1000) })), ..steps(1) };
    orders.place(by("a", text), None).await.unwrap();
    orders.leave().await;
    world.end().await;
}

/// OR-25
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_shows_a_long_task_in_short_also_while_it_runs() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let long = format!("walk\n{}", "word ".repeat(50_000));
    let running = OrderRequest { task: long.clone(), ..steps(1) };
    let running = orders.place(running, None).await.unwrap();
    let ended = orders.place(ask("echo", &long), None).await.unwrap();
    orders.wait(&ended).await.unwrap();
    let listed = orders.list(None, 10).await.unwrap();
    assert_eq!(listed.iter().map(|it| &it.id).collect::<Vec<_>>(), [&ended, &running]);
    for brief in &listed {
        assert!(brief.task.starts_with("walk word word"), "{}", brief.task);
        assert!(brief.task.chars().count() < 210, "{}", brief.task.len());
    }
    assert_eq!(orders.get(&running).await.unwrap().task, long);
    orders.leave().await;
    world.end().await;
}
