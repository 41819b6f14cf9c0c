//! Taking orders: what comes of them, what is taken once, and what is refused.

use std::sync::Arc;

use sabir_host::{Asker, Decision, Inbox, Matter, MatterKind, Patrons as _, Standing, Undecided};
use sabir_ldp::{DelegateId, SkillName, TaskId, TaskKey};
use sabir_net::{
    OrderError, OrderId, OrderRequest, OrderState, OrderVerify, OrderVisit, People, Placer,
};
use serde_json::json;

use super::{Buyer, ask, own, rows, steps, tags};
use crate::world::World;

/// OR-1.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_routed_and_its_rows_tell_all_of_it() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let id = orders.place(ask("echo", "say hi"), None).await.unwrap();
    let order = orders.wait(&id).await.unwrap();
    assert_eq!(order.state, OrderState::Done, "{order:?}");
    assert!(order.output.as_ref().unwrap().to_string().contains("say hi"), "{order:?}");
    assert_eq!(order.provenance.as_ref().unwrap()["produced_by"], "ldp:delegate:harbor");
    assert_eq!(order.payload_mode.as_deref(), Some("semantic_frame"));
    assert_eq!((order.attempts.len(), order.error.as_ref()), (1, None));
    let chosen = order.chosen.as_ref().unwrap();
    assert_eq!(chosen.delegate_id.as_deref(), Some("ldp:delegate:harbor"));
    assert_eq!(chosen.ranking.len(), 1);
    assert!(!chosen.why.is_empty() && order.ended_at_ms.is_some());
    let rows = rows(&orders, &id).await;
    assert_eq!(
        tags(&rows),
        [
            "submission",
            "found",
            "key_pinned",
            "chosen",
            "trying",
            "session_opened",
            "delivered",
            "report"
        ]
    );
    // What is read back from the journal is what was there before.
    assert_eq!(orders.running(), 0);
    assert_eq!(orders.get(&id).await.unwrap(), order);
    orders.leave().await;
    drop(orders);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.resume_all(), 0);
    assert_eq!(orders.get(&id).await.unwrap(), order);
    world.end().await;
}

/// OR-2.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_stands_for_one_order_also_after_a_restart() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let place = async |task: &str, key| orders.place(ask("echo", task), Some(key)).await;
    let (first, twin) = tokio::join!(place("say hi", "k-1"), place("say hi", "k-1"));
    let first = first.unwrap();
    assert_eq!(twin.unwrap(), first);
    assert_ne!(place("say hi", "k-2").await.unwrap(), first);
    let other = place("say ho", "k-1").await.unwrap_err();
    assert_eq!(other, OrderError::KeyTaken { order: first.clone() });
    for key in ["", &"x".repeat(201)] {
        let refused = place("say hi", key).await.unwrap_err();
        assert!(matches!(refused, OrderError::Invalid { field: "key", .. }), "{refused}");
    }
    // Somebody else's keys are their own.
    let by_agent = OrderRequest { by: Placer::Agent, ..ask("echo", "say hi") };
    assert_ne!(orders.place(by_agent, Some("k-1")).await.unwrap(), first);
    orders.wait(&first).await.unwrap();
    orders.leave().await;
    drop(orders);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    assert_eq!(orders.place(ask("echo", "say hi"), Some("k-1")).await.unwrap(), first);
    orders.leave().await;
    world.end().await;
}

/// OR-3.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_runs_can_be_cancelled_once() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let id = orders.place(steps(2), None).await.unwrap();
    world.steps.send_replace(1);
    let mut watch = orders.watch();
    while orders.get(&id).await.unwrap().progress.is_none() {
        watch.changed().await.unwrap();
    }
    let running = orders.get(&id).await.unwrap();
    assert_eq!(running.state, OrderState::Running);
    assert_eq!(running.attempts.len(), 1);
    assert_eq!(orders.list(None, 10).await.unwrap(), [running_brief(&running)]);
    orders.cancel(&id).await.unwrap();
    let order = orders.wait(&id).await.unwrap();
    assert_eq!(order.state, OrderState::Cancelled, "{order:?}");
    assert_eq!(orders.cancel(&id).await, Err(OrderError::Over));
    let nobody = OrderId::parse("order-00000000-0000-7000-8000-000000000000").unwrap();
    assert_eq!(orders.cancel(&nobody).await, Err(OrderError::NotFound));
    assert_eq!(orders.get(&nobody).await, Err(OrderError::NotFound));
    assert_eq!(world.node.counts().running_tasks, 0);
    orders.leave().await;
    world.end().await;
}

fn running_brief(order: &sabir_net::Order) -> sabir_net::OrderBrief {
    sabir_net::OrderBrief {
        id: order.id.clone(),
        task: "walk".to_owned(),
        skill: Some("steps".to_owned()),
        state: OrderState::Running,
        created_at_ms: order.created_at_ms,
        ended_at_ms: None,
        delegate_id: Some("ldp:delegate:harbor".to_owned()),
        parent: None,
    }
}

/// OR-12.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_choose_among_skills() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let id = orders.place(OrderRequest::new("echo this"), None).await.unwrap();
    let order = orders.wait(&id).await.unwrap();
    assert_eq!(order.state, OrderState::Done, "{order:?}");
    assert_eq!(order.skill.as_deref(), Some("echo"));
    let why = order.chosen.unwrap().why;
    assert!(
        why.starts_with("skill echo was chosen because its description shares echo; "),
        "{why}"
    );
}

/// OR-4.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_says_why_and_can_be_placed_again() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let mut ended = Vec::new();
    for (request, code) in [
        (OrderRequest::new("anything"), "SKILL_NEEDED"),
        (ask("fly", "to the moon"), "NO_DELEGATE"),
        (OrderRequest { to: vec!["http://127.0.0.1:1".into()], ..ask("echo", "a") }, "UNREACHABLE"),
    ] {
        let id = orders.place(request, None).await.unwrap();
        let order = orders.wait(&id).await.unwrap();
        assert_eq!(order.state, OrderState::Failed, "{order:?}");
        assert_eq!(order.error.as_ref().unwrap().code, code, "{order:?}");
        ended.push(id);
    }
    let again = orders.again(&ended[1], Placer::Person).await.unwrap();
    let order = orders.wait(&again).await.unwrap();
    assert_eq!(order.request.again.as_ref(), Some(&ended[1]));
    assert_eq!(order.task, "to the moon");
    // The newest first, a page at a time.
    let listed = orders.list(None, 2).await.unwrap();
    let mut ids: Vec<_> = listed.iter().map(|brief| brief.id.clone()).collect();
    let rest = orders.list(ids.last(), 10).await.unwrap();
    assert!(rest.iter().chain(&listed).all(|brief| brief.state == OrderState::Failed));
    ids.extend(rest.into_iter().map(|brief| brief.id));
    let mut all = ended;
    all.push(again);
    all.sort();
    all.reverse();
    assert_eq!(ids, all);
    orders.leave().await;
    world.end().await;
}

/// OR-5.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_checked_as_the_order_says() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let verify = |schema| {
        let name = "shape".to_owned();
        let verify = Some(OrderVerify::Rule { name, schema });
        OrderRequest { verify, to: vec!["harbor".to_owned()], ..ask("echo", "say hi") }
    };
    for (schema, state) in
        [(json!({}), OrderState::Done), (json!({ "type": "number" }), OrderState::Failed)]
    {
        let id = orders.place(verify(schema), None).await.unwrap();
        let order = orders.wait(&id).await.unwrap();
        assert_eq!(order.state, state, "{order:?}");
        assert_eq!(order.checks[0].passed, state == OrderState::Done);
        assert!(order.output.is_some());
    }
    orders.leave().await;
    world.end().await;
}

/// OR-5.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_through_the_inbox() {
    for (decision, state) in
        [(Decision::Approve, OrderState::Done), (Decision::Deny, OrderState::Failed)]
    {
        let (buyer, world) = (Buyer::new(), World::start().await);
        let inbox = Inbox::default();
        let people: Arc<dyn People> = Arc::new(inbox.clone());
        let store = buyer.store().await;
        let orders = buyer.orders_with(store, vec![own("harbor", &world)], Some(people)).await;
        let verify = Some(OrderVerify::Person);
        let request = OrderRequest { verify, ..ask("echo", "say hi") };
        let id = orders.place(request, None).await.unwrap();
        let mut watch = inbox.watch();
        while inbox.list().is_empty() {
            watch.changed().await.unwrap();
        }
        let mut changes = orders.watch();
        while orders.get(&id).await.unwrap().state != OrderState::Waiting {
            changes.changed().await.unwrap();
        }
        let [matter] = <[_; 1]>::try_from(inbox.list()).unwrap();
        assert_eq!(matter.asker, Asker::Order { id: id.to_string() });
        assert!(matter.what.contains("say hi"), "{}", matter.what);
        inbox.decide(matter.id, decision).unwrap();
        let order = orders.wait(&id).await.unwrap();
        assert_eq!(order.state, state, "{order:?}");
        orders.leave().await;
        world.end().await;
    }
}

/// OR-23: what a delegate asks for its task, and what is asked about the result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_approves_anything_of_an_order_that_was_cancelled() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let inbox = Inbox::default();
    let store = buyer.store().await;
    let people: Arc<dyn People> = Arc::new(inbox.clone());
    let orders = buyer.orders_with(store, vec![own("harbor", &world)], Some(people)).await;
    let walking = orders.place(steps(2), None).await.unwrap();
    let approval = |owner: &str, order: &OrderId| {
        let (owner, skill) = (DelegateId::new(owner).unwrap(), SkillName::new("steps").unwrap());
        let key = TaskKey { owner, id: TaskId::new(order.task_id()).unwrap() };
        let asker = Asker::Task { key, skill, delegate: "harbor".to_owned() };
        inbox.ask(Matter::new(asker, MatterKind::Approval, "run `rm`".to_owned()))
    };
    let wanted = approval("ldp:delegate:buyer", &walking);
    let strangers = approval("ldp:delegate:stranger", &walking);
    orders.cancel(&walking).await.unwrap();
    let late = Err(Undecided::NotWaiting(wanted.id()));
    assert_eq!(inbox.decide(wanted.id(), Decision::Approve), late);
    assert_eq!(inbox.decide(strangers.id(), Decision::Approve), Ok(()));
    let request = OrderRequest { verify: Some(OrderVerify::Person), ..ask("echo", "say hi") };
    let judged = orders.place(request, None).await.unwrap();
    let mut watch = inbox.watch();
    while inbox.list().is_empty() {
        watch.changed().await.unwrap();
    }
    let asked = inbox.list()[0].id;
    orders.cancel(&judged).await.unwrap();
    assert_eq!(inbox.decide(asked, Decision::Approve), Err(Undecided::NotWaiting(asked)));
    for id in [&walking, &judged] {
        let order = orders.wait(id).await.unwrap();
        assert_eq!(order.state, OrderState::Cancelled, "{order:?}");
    }
    orders.leave().await;
    world.end().await;
}

/// OR-6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_names_only_delegates_that_a_person_made_known() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let stranger = World::start().await;
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let url = format!("http://{}", stranger.address);
    for to in [url.as_str(), "mcp+stdio:touch /tmp/x", "http://example.org", "nobody"] {
        let by = Placer::Agent;
        let request = OrderRequest { by, to: vec![to.to_owned()], ..ask("echo", "a") };
        let refused = orders.place(request, None).await.unwrap_err();
        assert!(matches!(refused, OrderError::Invalid { field: "to", .. }), "{refused}");
    }
    let command = vec!["true".to_owned()];
    let verify = Some(OrderVerify::Tool { command });
    let request = OrderRequest { by: Placer::Agent, verify, ..ask("echo", "a") };
    let refused = orders.place(request, None).await.unwrap_err();
    assert!(matches!(refused, OrderError::Invalid { field: "verify", .. }), "{refused}");
    let request = OrderRequest { verify: Some(OrderVerify::Person), ..ask("echo", "a") };
    let refused = orders.place(request, None).await.unwrap_err();
    assert_eq!(refused.to_string(), "verify: nobody can be asked here");
    // A person may, but starts no program from the page: not by placing an order, and not by
    // repeating one that was placed at the keyboard.
    let program = "mcp+stdio:false";
    let at_page =
        |to: &str| OrderRequest { by: Placer::Page, to: vec![to.to_owned()], ..ask("echo", "a") };
    let refused = orders.place(at_page(program), None).await.unwrap_err();
    assert!(matches!(refused, OrderError::Invalid { field: "to", .. }), "{refused}");
    let checked_by = |verify| OrderRequest { verify: Some(verify), ..at_page("harbor") };
    let to = Some(program.to_owned());
    let peer = checked_by(OrderVerify::Peer { to, skill: "verify".to_owned() });
    let refused = orders.place(peer, None).await.unwrap_err();
    assert!(matches!(refused, OrderError::Invalid { field: "to", .. }), "{refused}");
    let tool = checked_by(OrderVerify::Tool { command: vec!["true".to_owned()] });
    let refused = orders.place(tool, None).await.unwrap_err();
    assert!(matches!(refused, OrderError::Invalid { field: "verify", .. }), "{refused}");
    let at_keyboard = OrderRequest { by: Placer::Person, ..at_page(program) };
    let id = orders.place(at_keyboard, None).await.unwrap();
    orders.wait(&id).await.unwrap();
    let refused = orders.again(&id, Placer::Page).await.unwrap_err();
    assert!(matches!(refused, OrderError::Invalid { field: "to", .. }), "{refused}");
    let id = orders.again(&id, Placer::Person).await.unwrap();
    orders.wait(&id).await.unwrap();
    let id = orders.place(at_page(&url), None).await.unwrap();
    assert_eq!(orders.wait(&id).await.unwrap().state, OrderState::Done);
    let request = OrderRequest { to: vec![url], ..ask("echo", "a") };
    let id = orders.place(request, None).await.unwrap();
    assert_eq!(orders.wait(&id).await.unwrap().state, OrderState::Done);
    orders.leave().await;
    assert_eq!(orders.place(ask("echo", "a"), None).await, Err(OrderError::Stopping));
    world.end().await;
    stranger.end().await;
}

/// OR-20: whoever does a task of ours can find out for whom.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_for_whoever_placed_the_order() {
    let (buyer, world) = (Buyer::new(), World::start().await);
    let orders = buyer.orders(vec![own("harbor", &world)]).await;
    let task = |owner: &str, id: &str| TaskKey {
        owner: DelegateId::new(owner).unwrap(),
        id: TaskId::new(id).unwrap(),
    };
    let told = async |key: TaskKey| {
        let patron = orders.patron(&key).await;
        patron.map(|it| (it.actor, it.standing == Standing::Own))
    };
    let (ours, asking) = ("ldp:delegate:buyer", "ldp:delegate:buyer:caller");
    let visit = |is_own| Some(OrderVisit { is_own, ..OrderVisit::of("token-1") });
    for (by, visit, actor, is_own) in [
        (Placer::Person, None, "person", true),
        (Placer::Page, None, "page", true),
        (Placer::Agent, None, "agent", false),
        (Placer::Mcp, visit(false), "mcp:token-1", false),
        (Placer::Mcp, visit(true), "mcp:token-1", true),
        (Placer::A2a, visit(false), "a2a:token-1", false),
    ] {
        let to = vec!["harbor".to_owned()];
        let request = OrderRequest { by, visit, to, ..ask("echo", "a") };
        let id = orders.place(request, None).await.unwrap();
        let for_whom = Some((actor.to_owned(), is_own));
        for id in [id.task_id().to_owned(), format!("{}-2", id.task_id())] {
            assert_eq!(told(task(ours, &id)).await, for_whom);
            assert_eq!(told(task(asking, &id)).await, for_whom);
            // Whoever else names the order is who asks.
            assert_eq!(told(task("ldp:delegate:buyers", &id)).await, None);
        }
    }
    let at_keyboard = "00000000-0000-4000-8000-000000000000";
    assert_eq!(told(task(ours, at_keyboard)).await, Some(("person".to_owned(), true)));
    let check = format!("check-{at_keyboard}");
    assert_eq!(told(task(ours, &check)).await, Some(("check".to_owned(), false)));
    orders.leave().await;
    world.end().await;
}
