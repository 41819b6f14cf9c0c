//! The events of a task: each once, in order, with an id, and again from any of them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::wire::{Wire, posted};
use crate::world::{World, hello, open_session, say, submit, until};

/// An event stream, event by event.
pub(crate) struct Events {
    wire: Wire,
    text: String,
    /// Comments, which keep the connection alive.
    signs: usize,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) data: Value,
}

impl Events {
    async fn open(world: &World, message: &str, after: Option<u64>) -> Self {
        Self::open_with(world, "", message, after).await
    }

    pub(crate) async fn open_with(
        world: &World,
        headers: &str,
        message: &str,
        after: Option<u64>,
    ) -> Self {
        let mut wire = world.wire().await;
        let after = after.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        let headers = format!("accept: text/event-stream\r\n{headers}{after}");
        wire.send(posted("/ldp/stream", &headers, message)).await;
        let head = wire.head().await;
        assert_eq!(head.status, 200);
        assert_eq!(head.headers["content-type"], "text/event-stream");
        assert_eq!(head.headers["cache-control"], "no-store");
        Self { wire, text: String::new(), signs: 0 }
    }

    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = read(event);
                self.text = rest.to_owned();
                match event {
                    Some(event) => return Some(event),
                    None => self.signs += 1,
                }
            }
            self.text += std::str::from_utf8(&self.wire.chunk().await?).unwrap();
        }
    }

    pub(crate) async fn all(mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

fn read(text: &str) -> Option<Event> {
    if text.starts_with(':') {
        return None;
    }
    let (id, data) = text.split_once('\n').unwrap();
    let id = id.strip_prefix("id: ").unwrap().parse().unwrap();
    let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    Some(Event { id, data })
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.data["body"]["type"].as_str().unwrap()).collect()
}

/// The numbers of the steps that updates tell of.
fn steps(events: &[Event]) -> Vec<u64> {
    let messages = events.iter().filter_map(|event| event.data["body"]["message"].as_str());
    let steps = messages.filter_map(|message| message.strip_prefix("step "));
    steps.map(|step| step.trim().parse().unwrap()).collect()
}

/// LD-H20, LD-T3
#[tokio::test]
async fn a_task_is_told_event_by_event_and_the_last_is_its_result() {
    let world = World::start().await;
    let session = open_session(&mut world.wire().await).await;
    let task = submit(&session, "t", "steps", json!({ "steps": 3 }));
    let mut events = Events::open(&world, &task, None).await;
    let mut told = Vec::new();
    for step in 1..=3 {
        world.steps.send_replace(step);
        // Each update comes before the next step is allowed.
        while steps(&told).last() != Some(&step) {
            told.push(events.next().await.unwrap());
        }
    }
    told.extend(events.all().await);
    assert_eq!(steps(&told), [1, 2, 3]);
    assert_eq!(kinds(&told).last(), Some(&"TASK_RESULT"));
    assert!(told.is_sorted_by(|left, right| left.id < right.id), "{told:?}");
    assert_eq!(told.last().unwrap().data["body"]["output"], 3);
    world.end().await;
}

/// LD-H20
#[tokio::test]
async fn what_is_refused_and_what_is_no_task_is_one_event() {
    let world = World::start().await;
    let nowhere = submit("nowhere", "t", "echo", json!(1));
    let events = Events::open(&world, &nowhere, None).await.all().await;
    assert_eq!(kinds(&events), ["TASK_FAILED"]);
    assert_eq!(events[0].data["body"]["error"]["code"], "SESSION_NOT_FOUND");
    let events = Events::open(&world, &hello(), None).await.all().await;
    assert_eq!(kinds(&events), ["CAPABILITY_MANIFEST"]);
    let mut wire = world.wire().await;
    for wrong in ["nonsense", "-1", "1.5", "99999999999999999999"] {
        let reply =
            wire.post("/ldp/stream", &format!("last-event-id: {wrong}\r\n"), &hello()).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "EVENT_ID_INVALID"), "{wrong}");
    }
    world.end().await;
}

/// LD-H21
#[tokio::test]
async fn a_lost_connection_ends_no_task_and_each_update_is_seen_once() {
    let world = World::start().await;
    let session = open_session(&mut world.wire().await).await;
    let input = json!({ "steps": 40 });
    let mut told: Vec<Event> = Vec::new();
    // Each connection is cut after one more step, and what is told while nobody listens is not lost.
    for step in 1..=20 {
        let task = submit(&session, "t", "steps", input.clone());
        let after = told.last().map(|event| event.id);
        let mut events = Events::open(&world, &task, after).await;
        world.steps.send_replace(2 * step);
        while steps(&told).last().is_none_or(|last| *last < 2 * step - 1) {
            told.push(events.next().await.unwrap());
        }
    }
    let task = || submit(&session, "t", "steps", input.clone());
    let after = told.last().map(|event| event.id);
    told.extend(Events::open(&world, &task(), after).await.all().await);
    assert_eq!(steps(&told), (1..=40).collect::<Vec<_>>());
    assert!(told.is_sorted_by(|left, right| left.id < right.id));
    assert_eq!(kinds(&told).last(), Some(&"TASK_RESULT"));
    // It is over, and is told again from the beginning, from anywhere, and as a message.
    let again = Events::open(&world, &task(), None).await.all().await;
    let ids = |events: &[Event]| events.iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&told));
    assert_eq!(steps(&again), steps(&told));
    let half = Events::open(&world, &task(), Some(told[20].id)).await.all().await;
    assert_eq!(ids(&half), ids(&told[21..]));
    let result = say(&mut world.wire().await, &task()).await;
    assert_eq!(result["body"]["output"], 40);
    world.end().await;
}

/// LD-H23
#[tokio::test]
async fn while_nothing_is_told_the_stream_shows_that_it_lives() {
    let world = World::limited(|limits| limits.quiet_time = Duration::from_millis(20)).await;
    let session = open_session(&mut world.wire().await).await;
    let task = submit(&session, "t", "steps", json!({ "steps": 1 }));
    let mut events = Events::open(&world, &task, None).await;
    let mut text = String::new();
    while text.matches(": alive\n\n").count() < 3 {
        text += std::str::from_utf8(&events.wire.chunk().await.unwrap()).unwrap();
    }
    world.steps.send_replace(1);
    let told = events.all().await;
    assert_eq!(kinds(&told).last(), Some(&"TASK_RESULT"));
    world.end().await;
}

/// LD-H28
#[tokio::test]
async fn a_server_that_stops_ends_streams_and_waits_for_nobody() {
    let mut world = World::start().await;
    let session = open_session(&mut world.wire().await).await;
    let task = submit(&session, "t", "steps", json!({ "steps": 2 }));
    let mut events = Events::open(&world, &task, None).await;
    world.steps.send_replace(1);
    while steps(&[events.next().await.unwrap()]) != [1] {}
    let idle = world.wire().await;
    world.stop_serving().await;
    assert_eq!(events.next().await, None);
    assert_eq!(world.node.counts().running_tasks, 1, "the task is the node's");
    world.steps.send_replace(2);
    until(async || world.node.counts().running_tasks == 0).await;
    drop(idle);
    world.node.stop().await;
}

/// LD-H28
#[tokio::test]
async fn who_waits_for_a_task_hears_that_the_node_stops() {
    let world = World::limited(|limits| limits.grace = Duration::from_secs(60)).await;
    let session = open_session(&mut world.wire().await).await;
    let task = || submit(&session, "t", "steps", json!({ "steps": 1 }));
    let mut events = Events::open(&world, &task(), None).await;
    until(async || world.node.counts().running_tasks == 1).await;
    let mut wire = world.wire().await;
    wire.send(posted("/ldp/messages", "", &task())).await;
    until(async || world.node.counts().waiting_requests == 2).await;
    world.end_at_once().await;
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event.data);
    }
    assert_eq!(last.unwrap()["body"]["error"]["code"], "INTERRUPTED");
    assert_eq!(wire.reply().await.json()["body"]["error"]["code"], "INTERRUPTED");
}
