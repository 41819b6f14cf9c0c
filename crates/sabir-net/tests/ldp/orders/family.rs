//! Orders that were placed for others.

use sabir_net::{OrderCapacity, OrderError, OrderId, OrderRequest, OrderState, Orders, Placer};

use super::{Buyer, ask, own, steps};
use crate::world::World;

fn under(parent: &OrderId, request: OrderRequest) -> OrderRequest {
    OrderRequest { by: Placer::Agent, parent: Some(parent.to_string()), ..request }
}

async fn place(orders: &Orders, request: OrderRequest) -> OrderId {
    orders.place(request, None).await.unwrap()
}

/// OR-3, OR-9, OR-22.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_shows_its_children_and_takes_them_with_it() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let parent = place(&orders, steps(1)).await;
    let quick = place(&orders, under(&parent, ask("echo", "say hi"))).await;
    orders.wait(&quick).await.unwrap();
    let slow = place(&orders, under(&parent, steps(1))).await;
    let deeper = place(&orders, under(&slow, steps(1))).await;
    let mut watch = orders.watch();
    let shown = loop {
        let order = orders.get(&parent).await.unwrap();
        let states: Vec<_> =
            order.children.iter().map(|child| (child.id.clone(), child.state)).collect();
        let has_deeper = orders.get(&deeper).await.unwrap().chosen.is_some();
        if has_deeper && order.children.iter().all(|child| child.delegate.is_some()) {
            break states;
        }
        watch.changed().await.unwrap();
    };
    let order = orders.get(&parent).await.unwrap();
    let capacities: Vec<_> = order.children.iter().map(|child| child.capacity).collect();
    let says = world.node.card().tasks_at_once();
    assert!(says.is_some());
    // The parent is there, too, and what was handed on further; what is over has none.
    let has = OrderCapacity { tasks_at_once: says, in_use: 3 };
    assert_eq!(capacities, [None, Some(has)]);
    let expected = [(quick.clone(), OrderState::Done), (slow.clone(), OrderState::Running)];
    assert_eq!(shown, expected);
    let mut children: Vec<OrderId> =
        orders.children(parent.as_str()).await.unwrap().into_iter().map(|it| it.id).collect();
    children.sort();
    assert_eq!(children, [quick, slow.clone()]);
    orders.cancel(&parent).await.unwrap();
    for id in [&parent, &slow, &deeper] {
        assert_eq!(orders.wait(id).await.unwrap().state, OrderState::Cancelled);
    }
    orders.leave().await;
    drop(orders);
    // The journal says the same.
    let orders = buyer.orders(Vec::new()).await;
    let order = orders.get(&parent).await.unwrap();
    let states: Vec<_> = order.children.iter().map(|child| child.state).collect();
    assert_eq!(states, [OrderState::Done, OrderState::Cancelled]);
    assert_eq!(orders.get(&deeper).await.unwrap().parent.as_deref(), Some(slow.as_str()));
    world.end().await;
}

/// OR-9.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_are_nested_only_so_deep() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let mut last = place(&orders, steps(1)).await;
    for _ in 0..4 {
        last = place(&orders, under(&last, steps(1))).await;
    }
    let refused = orders.place(under(&last, steps(1)), None).await;
    assert_eq!(refused, Err(OrderError::TooDeep { limit: 4 }));
    assert_eq!(refused.unwrap_err().code(), "TOO_DEEP");
    orders.leave().await;
    world.end().await;
}
