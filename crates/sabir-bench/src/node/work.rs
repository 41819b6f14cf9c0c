//! Tasks for the node, of two kinds: orders that a person places for the router, and tasks that other
//! agents send over LDP. Each is looked at when it has ended, and the next one begins.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use sabir_ldp::Stamp;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::person::Person;
use crate::delegates::now;

/// How long each took that ended as it should. Whatever did not is an error.
pub(super) type Done = Vec<Duration>;

/// Places orders one after the other until then. `round` keeps the names of two rounds apart.
pub(super) async fn place_orders(
    person: Person,
    (round, number): (usize, usize),
    until: Instant,
) -> anyhow::Result<Done> {
    let mut done = Vec::new();
    while Instant::now() < until {
        let start = Instant::now();
        let task = format!("order {round}-{number}-{}", done.len());
        let body = json!({ "task": task, "skill": "echo" });
        let placed = person.post_once("/api/orders", &task, &body).await?;
        let id = placed["id"].as_str().context("an order without a name")?;
        let path = format!("/api/orders/{id}");
        let events = format!("{path}/events");
        let ended = until_report(&person, &events);
        timeout(PATIENCE, ended).await.with_context(|| format!("{task} did not end"))??;
        let order = person.get(&path).await?;
        let is_right = order["state"] == "done" && order["output"]["instruction"] == task;
        ensure!(is_right, "{task} ended wrongly: {order}");
        done.push(start.elapsed());
    }
    Ok(done)
}

/// Reads as a page does that shows the order.
async fn until_report(person: &Person, path: &str) -> anyhow::Result<()> {
    let mut answer = person.open(path).await?;
    let mut text = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        text.extend_from_slice(&piece);
        if text.windows(REPORT.len()).any(|it| it == REPORT) {
            return Ok(());
        }
    }
    anyhow::bail!("{path} ended without a report")
}

const REPORT: &[u8] = b"\nevent: report\n";

/// Another agent: one session, and one task after the other in it until then.
pub(super) async fn send_tasks(
    url: String,
    node: String,
    (round, number): (usize, usize),
    until: Instant,
) -> anyhow::Result<Done> {
    let from = format!("ldp:delegate:caller-{round}-{number}");
    let caller = Caller { client: Client::builder().no_proxy().build()?, url, node, from };
    let config = json!({ "preferred_payload_modes": ["text"], "trust_domain": "default" });
    let opened = caller.send("", json!({ "type": "SESSION_PROPOSE", "config": config }), 0).await?;
    ensure!(opened["type"] == "SESSION_ACCEPT", "no session: {opened}");
    let session = opened["session_id"].as_str().context("a session without a name")?;
    let mut done = Vec::new();
    while Instant::now() < until {
        let start = Instant::now();
        let task = format!("task {round}-{number}-{}", done.len());
        let task_id = format!("t-{round}-{number}-{}", done.len());
        let submit = json!({
            "type": "TASK_SUBMIT", "task_id": task_id, "skill": "echo", "input": task,
        });
        let sent = caller.send(session, submit, done.len() + 1);
        let body =
            timeout(PATIENCE, sent).await.with_context(|| format!("{task} did not end"))??;
        let is_right = body["type"] == "TASK_RESULT" && body["output"] == task;
        ensure!(is_right, "{task} ended wrongly: {body}");
        done.push(start.elapsed());
    }
    Ok(done)
}

struct Caller {
    client: Client,
    url: String,
    node: String,
    from: String,
}

impl Caller {
    /// Sends a message and reads the body of the answer.
    async fn send(&self, session: &str, body: Value, number: usize) -> anyhow::Result<Value> {
        let message = json!({
            "message_id": format!("{}-{number}", self.from), "session_id": session,
            "from": self.from, "to": self.node, "timestamp": Stamp::from(now()).text,
            "payload_mode": "text", "body": body,
        });
        let request = self.client.post(format!("{}/ldp/messages", self.url));
        let request = request.header(CONTENT_TYPE, "application/json").body(message.to_string());
        let answer = request.send().await.context("a message was not answered")?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status.is_success(), "a message was answered with {status}: {text}");
        let mut answer: Value = serde_json::from_str(&text)?;
        Ok(answer["body"].take())
    }
}

/// Far more than any of them needs.
const PATIENCE: Duration = Duration::from_secs(30);
