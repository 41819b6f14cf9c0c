//! Orders whose placers go away, and orders that nobody wants any more when the node starts again.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use sabir_host::Skill;
use sabir_net::{
    Address, DelegationEvent, DelegationRequest, LdpOptions, OrderId, OrderRequest, OrderState,
    Orders, OwnDelegate, Placer, PlainHttp, TaskInput,
};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::spawning::{Place, Terms, Waits, home_domain};
use super::{Buyer, ask, own, rows, steps};
use crate::world::{World, until};

/// Begins to place an order, and goes away.
fn hang_up(orders: &Orders, request: OrderRequest, key: &str) {
    let mut placing = Box::pin(orders.place(request, Some(key)));
    let polled = placing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Pending);
}

async fn running(orders: &Orders) -> usize {
    let all = orders.list(None, 10).await.unwrap();
    all.iter().filter(|order| !order.state.is_over()).count()
}

/// OR-13.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_hangs_up_has_placed_one_order() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let parent = orders.place(steps(1), None).await.unwrap();
    let child = || {
        let parent = Some(parent.to_string());
        OrderRequest { by: Placer::Agent, parent, ..ask("echo", "say hi") }
    };
    hang_up(&orders, child(), "k-1");
    let id = orders.place(child(), Some("k-1")).await.unwrap();
    assert_eq!(orders.wait(&id).await.unwrap().state, OrderState::Done);
    // The first one was not placed beside it, and is nowhere left over.
    let all = orders.list(None, 10).await.unwrap();
    let mut ids: Vec<OrderId> = all.into_iter().map(|order| order.id).collect();
    ids.sort();
    let mut expected = [parent.clone(), id];
    expected.sort();
    assert_eq!(ids, expected);
    assert_eq!(running(&orders).await, 1);
    world.steps.send_replace(1);
    assert_eq!(orders.wait(&parent).await.unwrap().children.len(), 1);
    orders.leave().await;
    drop(orders);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.resume_all(), 0);
    world.end().await;
}

/// An order that a delegate has taken a step of.
async fn under_way(orders: &Orders, world: &World, request: OrderRequest) -> OrderId {
    let id = orders.place(request, None).await.unwrap();
    world.steps.send_replace(1);
    let mut watch = orders.watch();
    while orders.get(&id).await.unwrap().progress.is_none() {
        watch.changed().await.unwrap();
    }
    id
}

/// Writes into the journal of a node that is not there what it would have told.
async fn write_down(buyer: &Buyer, id: &OrderId, event: &str) {
    let store = buyer.store().await;
    let body = json!({ "event": event }).to_string();
    let kind = event.to_owned();
    let entries = vec![sabir_store::Entry::Event { sub_id: String::new(), kind, body }];
    let session_id = sabir_store::SessionId::new(id.as_str());
    store.append_and_wait(sabir_store::Batch { session_id, at_ms: 1, entries }).unwrap();
}

/// OR-14: the delegate goes on until it is told, and it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_outlives_the_node_that_took_it() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let id = under_way(&orders, &world, steps(2)).await;
    orders.leave().await;
    drop(orders);
    // As a node leaves it that is killed before its delegate heard of it.
    write_down(&buyer, &id, "cancelling").await;
    assert_eq!(world.node.counts().running_tasks, 1);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.resume_all(), 1);
    let order = orders.wait(&id).await.unwrap();
    assert_eq!(order.state, OrderState::Cancelled, "{order:?}");
    assert_eq!(world.node.counts().running_tasks, 0);
    let rows = rows(&orders, &id).await;
    let resumed = rows.iter().find(|row| row.tag == "resumed").unwrap();
    assert!(resumed.body.contains("was cancelled before the node stopped"), "{}", resumed.body);
    orders.leave().await;
    world.end().await;
}

/// OR-14: what nobody had is not begun.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_cancelled_before_anybody_had_it_is_over() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let id = OrderId::parse("order-11111111-0000-7000-8000-000000000000").unwrap();
    {
        let store = buyer.store().await;
        let body = serde_json::to_string(&ask("echo", "say hi")).unwrap();
        let (cwd, model, title, parent) = (String::new(), String::new(), None, None);
        let facts = sabir_store::SessionFacts { cwd, model, title, parent };
        let submission = sabir_store::Entry::Submission { sub_id: String::new(), body };
        let entries = vec![sabir_store::Entry::Session(facts), submission];
        let session_id = sabir_store::SessionId::new(id.as_str());
        store.append_and_wait(sabir_store::Batch { session_id, at_ms: 1, entries }).unwrap();
    }
    write_down(&buyer, &id, "cancelling").await;
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.resume_all(), 1);
    let order = orders.wait(&id).await.unwrap();
    assert_eq!((order.state, order.attempts.len()), (OrderState::Cancelled, 0), "{order:?}");
    assert_eq!(order.error.unwrap().code, "CANCELLED");
    orders.leave().await;
    world.end().await;
}

/// OR-15.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_placed_is_taken_back_when_the_agent_is_gone() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let by = Placer::Agent;
    let request = OrderRequest { by, parent: Some("a-session".to_owned()), ..steps(2) };
    let childs = under_way(&orders, &world, request).await;
    let persons = orders.place(steps(2), None).await.unwrap();
    until(async || world.node.counts().running_tasks == 2).await;
    orders.leave().await;
    drop(orders);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.resume_all(), 2);
    let order = orders.wait(&childs).await.unwrap();
    assert_eq!(order.state, OrderState::Cancelled, "{order:?}");
    world.steps.send_replace(2);
    assert_eq!(orders.wait(&persons).await.unwrap().state, OrderState::Done);
    orders.leave().await;
    world.end().await;
}

/// OR-8: as often as it is cut short.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_be_repeated_is_repeated_each_time() {
    let (buyer, mut world) = (Buyer::new(), World::start().await);
    let mine = |world: &World| OwnDelegate { repeats: true, ..own("harbor", world) };
    let mut orders = buyer.orders(vec![mine(&world)]).await;
    let id = under_way(&orders, &world, steps(2)).await;
    for turn in 2..4 {
        orders.leave().await;
        drop(orders);
        world = world.restart(LdpOptions::default(), Vec::new()).await;
        orders = buyer.orders(vec![mine(&world)]).await;
        assert_eq!(orders.resume_all(), 1);
        let mut events = orders.events(&id, 0);
        // Until it is at work on it once more.
        let mut begun = 0;
        while begun < turn {
            let row = futures_util::StreamExt::next(&mut events).await.unwrap().unwrap();
            assert_ne!(row.tag, "report", "{}", row.body);
            begun +=
                usize::from(row.tag == "repeated") + usize::from(row.tag == "found" && begun == 0);
        }
        until(async || world.node.counts().running_tasks == 1).await;
    }
    world.steps.send_replace(2);
    let order = orders.wait(&id).await.unwrap();
    assert_eq!((order.state, order.output), (OrderState::Done, Some(json!(2))));
    orders.leave().await;
    world.end().await;
}

/// OR-16: four skills have the word of the task, which is rare among nine and common among four.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_skill_that_words_chose_stays_the_one() {
    let skill = |name| (name, Arc::new(Waits) as Arc<dyn Skill>);
    let tides = ["tide", "tide.now", "tide.low", "tide.high"].map(skill);
    let other = ["a", "b", "c", "d", "e"].map(|name| (name, Arc::new(Terms) as Arc<dyn Skill>));
    let tides = Place::open("tides", home_domain(), tides.into()).await;
    let other = Place::open("other", home_domain(), other.into()).await;
    let own = || vec![tides.own("tides", None), other.own("other", None)];
    let buyer = Buyer::new();
    let orders = buyer.orders(own()).await;
    let id = orders.place(OrderRequest::new("research the tides"), None).await.unwrap();
    until(async || tides.node.counts().running_tasks == 1).await;
    let mut watch = orders.watch();
    while orders.get(&id).await.unwrap().progress.is_none() {
        watch.changed().await.unwrap();
    }
    assert_eq!(orders.get(&id).await.unwrap().skill.as_deref(), Some("tide"));
    orders.leave().await;
    drop(orders);
    let orders = buyer.orders(own()).await;
    assert_eq!(orders.resume_all(), 1);
    // It is asked for under the same skill, and goes on.
    let mut events = orders.events(&id, 0);
    let mut told = 0;
    while told < 2 {
        let row = futures_util::StreamExt::next(&mut events).await.unwrap().unwrap();
        assert_ne!(row.tag, "report", "{}", row.body);
        told += usize::from(row.tag == "session_opened");
    }
    orders.cancel(&id).await.unwrap();
    assert_eq!(orders.wait(&id).await.unwrap().state, OrderState::Cancelled);
    orders.leave().await;
    tides.end().await;
    other.end().await;
}

/// OR-17: while somebody has the event in their hands, the delegate has heard of nothing, though it does
/// another task from beginning to end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_sent_after_who_gets_it_is_written_down() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let delegation = buyer.delegation();
    let url = format!("http://{}", world.address);
    let request = |is_written_down| DelegationRequest {
        skill: Some(sabir_ldp::SkillName::new("echo").unwrap()),
        to: vec![Address::parse(&url, PlainHttp::LoopbackOnly).unwrap()],
        is_written_down,
        ..DelegationRequest::new(TaskInput::Text("say hi".to_owned()))
    };
    let (events, mut told) = mpsc::channel(64);
    let held = tokio::spawn({
        let (delegation, request) = (delegation.clone(), request(true));
        async move { delegation.run(&request, &events, &CancellationToken::new()).await.unwrap() }
    });
    let trying = loop {
        let event = told.recv().await.unwrap();
        if matches!(event, DelegationEvent::Trying { .. }) {
            break event;
        }
    };
    let (events, mut news) = mpsc::channel(64);
    let stop = CancellationToken::new();
    let (asked, quick) = (request(false), async { while news.recv().await.is_some() {} });
    let run = async {
        let report = delegation.run(&asked, &events, &stop).await.unwrap();
        drop(events);
        report
    };
    let (report, ()) = tokio::join!(run, quick);
    assert!(report.is_done(), "{report:?}");
    assert!(told.try_recv().is_err(), "it was sent before it was written down");
    drop(trying);
    let listen = async { while told.recv().await.is_some() {} };
    let (report, ()) = tokio::join!(held, listen);
    assert!(report.unwrap().is_done());
    delegation.close().await;
    world.end().await;
}

/// OR-18: another node's researcher is not ours, whatever its address looks like.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_nodes_own_are_called_by_their_names() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let to = vec![format!("http://{}/delegates/pilot", world.address)];
    let foreign = orders.place(OrderRequest { to, ..ask("echo", "a") }, None).await.unwrap();
    let mine = orders.place(ask("echo", "a"), None).await.unwrap();
    for (id, name) in [(foreign, None), (mine, Some("harbor"))] {
        let order = orders.wait(&id).await.unwrap();
        assert_eq!(order.state, OrderState::Done, "{order:?}");
        assert_eq!(order.chosen.unwrap().name.as_deref(), name);
        assert_eq!(orders.get(&id).await.unwrap().chosen.unwrap().name.as_deref(), name);
    }
    orders.leave().await;
    world.end().await;
}
