//! The conversation that everybody watches: a model that talks without end, and somebody who asks for
//! more whenever it has said something.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::person::Person;
use super::wire::{Events, Wanted};

/// What the model says in one turn, and how fast.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub(super) steps: usize,
    pub(super) deltas_each: usize,
    pub(super) pause: Duration,
}

pub(super) fn model(turn: Turn) -> FakeModel {
    FakeModel::answering(move |_, number| {
        let mut reply = Reply::sse([responses::created(&format!("turn-{number}"))]);
        for step in 0..turn.steps {
            let delta = |it| responses::text_delta(&format!("{number}.{step}.{it} {WORDS} "));
            let deltas: String = (0..turn.deltas_each).map(delta).collect();
            reply = reply.then(deltas).then_pause(turn.pause);
        }
        let end = responses::message("") + &responses::completed(&format!("turn-{number}"));
        Some(reply.then(end))
    })
}

/// Begins the conversation.
pub(super) async fn begin(person: &Person) -> anyhow::Result<String> {
    let begun = person.post("/api/sessions", &json!({ "text": "Talk to me." })).await?;
    Ok(begun["id"].as_str().context("a conversation without a name")?.to_owned())
}

/// Keeps it going until then, and tells the number of its last row. `after` is the last one of a
/// conversation that rests.
pub(super) async fn keep_talking(
    person: Person,
    address: SocketAddr,
    id: String,
    after: Option<u64>,
    until: Instant,
) -> anyhow::Result<u64> {
    let path = events_of(&id);
    let cookie = person.cookie.as_str();
    let wanted = Wanted { address, path: &path, cookie, after, room: None };
    let mut events = Events::open(&wanted).await?;
    let go_on = async || {
        let more = json!({ "text": "Go on." });
        person.post(&format!("/api/sessions/{id}/input"), &more).await
    };
    if after.is_some() {
        go_on().await?;
    }
    loop {
        let row =
            Box::pin(timeout(PATIENCE, events.next())).await.context("the model fell silent")??;
        ensure!(!row.event.contains("error"), "the conversation broke: {}", row.data);
        if row.event != "task_complete" {
            continue;
        }
        if Instant::now() >= until {
            return Ok(row.id);
        }
        go_on().await?;
    }
}

pub(super) fn events_of(id: &str) -> String {
    format!("/api/sessions/{id}/events")
}

/// About what a model says in two dozen tokens.
const WORDS: &str = "the tide comes in twice a day, and the harbour master writes down each time \
                     how high it stood at the old wall beside the gate";
const PATIENCE: Duration = Duration::from_secs(30);
