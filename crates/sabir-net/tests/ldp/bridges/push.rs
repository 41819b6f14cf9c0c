//! Webhooks: who is told, what, how often, and where they may not be.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use sabir_testkit::python;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Front, Plan, Script, message};

/// A webhook that answers as it is told, and then with success.
#[derive(Clone)]
pub(super) struct Hook {
    pub(super) address: SocketAddr,
    answers: Arc<Mutex<VecDeque<u16>>>,
    heard: mpsc::UnboundedSender<(HeaderMap, Value)>,
}

pub(super) type Heard = mpsc::UnboundedReceiver<(HeaderMap, Value)>;

impl Hook {
    pub(super) async fn open(answers: &[u16]) -> (Self, Heard) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (heard, hearing) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(answers.iter().copied().collect()));
        let hook = Self { address, answers, heard };
        let router = Router::new().route("/hook", post(hear)).with_state(hook.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (hook, hearing)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }
}

async fn hear(State(hook): State<Hook>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let status = hook.answers.lock().unwrap().pop_front().unwrap_or(200);
    let _ = hook.heard.send((headers, body));
    let status = StatusCode::from_u16(status).unwrap();
    (status, [(header::LOCATION, "http://127.0.0.1:1/elsewhere")]).into_response()
}

fn states(events: &[Value]) -> Vec<String> {
    let state = |event: &Value| {
        let state =
            event.pointer("/statusUpdate/status/state").or(event.pointer("/task/status/state"));
        state.map_or_else(|| "artifact".to_owned(), |state| state.as_str().unwrap().to_owned())
    };
    events.iter().map(state).collect()
}

/// BR-P1, BR-P2, BR-P3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhooks_are_kept_told_and_taken_back() {
    let Some(python) = python() else { return };
    let (hook, mut heard) = Hook::open(&[503, 429]).await;
    let plan = Plan { hooks: vec![hook.address.to_string().parse().unwrap()], ..Plan::default() };
    let front = Front::with(plan).await;
    for binding in ["JSONRPC", "HTTP+JSON"] {
        front.worker.steps.send_replace(0);
        let mut script = Script::start(&python, "a2a_caller.py", &[binding, &front.url()]);
        let parts = json!([{ "text": "walk" }, { "data": { "steps": 1 } }]);
        let config = json!({
            "url": hook.url(), "token": "known-to-both",
            "authentication": { "scheme": "Bearer", "credentials": "secret" },
        });
        let request = json!({
            "message": message(&format!("p-{binding}"), "steps", parts),
            "configuration": { "returnImmediately": true, "taskPushNotificationConfig": config },
        });
        let task = script.good(json!({ "do": "send", "request": request })).await["task"].clone();
        let id = &task["id"];
        let request = json!({ "taskId": id });
        let listed = script.good(json!({ "do": "push_list", "request": request })).await;
        let kept = listed["configs"][0].clone();
        assert_eq!((&kept["url"], &kept["taskId"]), (&json!(hook.url()), id), "{listed}");
        // Another one, which changes its mind.
        let other = json!({ "taskId": id, "id": "second", "url": format!("{}?2", hook.url()) });
        let made = script.good(json!({ "do": "push_create", "request": other })).await;
        assert_eq!(made["id"], "second", "{made}");
        let named = json!({ "taskId": id, "id": "second" });
        let seen = script.good(json!({ "do": "push_get", "request": named })).await;
        assert_eq!(seen["url"], format!("{}?2", hook.url()));
        for _ in 0..2 {
            script.good(json!({ "do": "push_delete", "request": named })).await;
        }
        let gone = script.order(json!({ "do": "push_get", "request": named })).await;
        assert_eq!(gone["error"], "TaskNotFoundError", "{gone}");
        let nobody = json!({ "taskId": "order-1", "id": "second" });
        let gone = script.order(json!({ "do": "push_delete", "request": nobody })).await;
        assert_eq!(gone["error"], "TaskNotFoundError", "{gone}");

        front.worker.steps.send_replace(1);
        let mut told = Vec::new();
        loop {
            let (headers, event) = heard.recv().await.unwrap();
            assert_eq!(headers["authorization"], "Bearer secret");
            assert_eq!(headers["x-a2a-notification-token"], "known-to-both");
            assert_eq!(headers["content-type"], "application/a2a+json");
            told.push(event);
            if states(&told).last().unwrap() == "TASK_STATE_COMPLETED" {
                break;
            }
        }
        // What was not taken at first is told until it is.
        told.dedup();
        assert_eq!(states(&told), ["artifact", "TASK_STATE_COMPLETED"], "{told:?}");
        assert_eq!(told[1]["statusUpdate"]["taskId"], *id);
        script.end().await;
    }
    front.end().await;
}

/// BR-P4: no place that is not public, unless somebody allowed it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_is_nowhere_where_it_may_not_be() {
    let (hook, _heard) = Hook::open(&[]).await;
    let plan = Plan { hooks: vec![hook.address.to_string().parse().unwrap()], ..Plan::default() };
    let front = Front::with(plan).await;
    let mut wire = front.world.wire().await;
    let headers = "a2a-version: 1.0\r\ncontent-type: application/json\r\n";
    for (config, words) in [
        (json!({ "url": "http://127.0.0.1:1/" }), "url"),
        (json!({ "url": "http://169.254.169.254/latest" }), "url"),
        (json!({ "url": "http://[::1]/" }), "url"),
        (json!({ "url": "http://10.1.2.3/" }), "url"),
        (json!({ "url": "https://localhost/" }), "url"),
        (json!({ "url": "https://me:pw@harbor.example/" }), "url"),
        (json!({ "url": "ftp://harbor.example/" }), "url"),
        (json!({ "url": "harbor.example" }), "url"),
        (json!({ "url": "http://harbor.example/" }), "https is needed"),
        (json!({ "url": hook.url(), "token": "a\nb" }), "token"),
        (json!({ "url": hook.url(), "authentication": { "scheme": "Bear er" } }), "scheme"),
        (
            json!({ "url": hook.url(), "authentication": { "scheme": "Basic", "credentials": "é" } }),
            "credentials",
        ),
    ] {
        let sent = json!({
            "message": message("m", "echo", json!([{ "text": "x" }])),
            "configuration": { "taskPushNotificationConfig": config },
        });
        let reply = wire.post("/a2a/message:send", headers, &sent.to_string()).await;
        assert_eq!(reply.status, 400, "{config}: {reply:?}");
        let said = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(said.contains(words), "{config}: {said}");
    }
    // Nothing was begun for them.
    assert!(front.orders.list(None, 10).await.unwrap().is_empty());
    front.end().await;
}

/// BR-P2, BR-P4: a redirect is no way around, and nobody is told for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_leads_elsewhere_or_fails_is_given_up() {
    for answers in [vec![307; 20], vec![500; 20], vec![404; 20]] {
        let (hook, mut heard) = Hook::open(&answers).await;
        let mut plan =
            Plan { hooks: vec![hook.address.to_string().parse().unwrap()], ..Plan::default() };
        plan.limits.push.attempts = 3;
        plan.limits.push.failures = 2;
        let front = Front::with(plan).await;
        let mut wire = front.world.wire().await;
        let sent = json!({
            "message": message("m", "echo", json!([{ "text": "x" }])),
            "configuration": { "taskPushNotificationConfig": { "url": hook.url() } },
        });
        let headers = "a2a-version: 1.0\r\ncontent-type: application/json\r\n";
        let reply = wire.post("/a2a/message:send", headers, &sent.to_string()).await;
        let task = reply.json()["task"].clone();
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{task}");
        // Only what may pass is tried again; two messages that failed are enough.
        let most = if answers[0] == 500 { 6 } else { 2 };
        for _ in 0..most {
            heard.recv().await.unwrap();
        }
        front.end().await;
        assert!(heard.try_recv().is_err());
    }
}

/// BR-P1, BR-P5: those that come at once are counted one after the other, and nothing is left when the
/// task is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_has_eight_webhooks_however_they_come() {
    let (hook, mut heard) = Hook::open(&[]).await;
    let plan = Plan { hooks: vec![hook.address.to_string().parse().unwrap()], ..Plan::default() };
    let front = Front::with(plan).await;
    front.worker.steps.send_replace(0);
    let headers = "a2a-version: 1.0\r\ncontent-type: application/json\r\n";
    let parts = json!([{ "text": "walk" }, { "data": { "steps": 1 } }]);
    let sent = json!({
        "message": message("m", "steps", parts), "configuration": { "returnImmediately": true },
    });
    let mut wire = front.world.wire().await;
    let reply = wire.post("/a2a/message:send", headers, &sent.to_string()).await;
    let id = reply.json()["task"]["id"].as_str().unwrap().to_owned();
    let path = format!("/a2a/tasks/{id}/pushNotificationConfigs");
    let create = async |number: usize| {
        let mut wire = front.world.wire().await;
        let config = json!({ "id": number.to_string(), "url": hook.url() }).to_string();
        wire.post(&path, headers, &config).await.status
    };
    let made = futures_util::future::join_all((0..16).map(create)).await;
    assert_eq!(made.iter().filter(|status| **status == 200).count(), 8, "{made:?}");
    let listed = async || {
        let mut wire = front.world.wire().await;
        let reply = wire.get(&path, "a2a-version: 1.0\r\n").await.json();
        reply["configs"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(listed().await, 8);
    front.worker.steps.send_replace(1);
    let mut ends = 0;
    while ends < 8 {
        let (_, event) = heard.recv().await.unwrap();
        ends += usize::from(states(&[event])[0] == "TASK_STATE_COMPLETED");
    }
    crate::world::until(async || listed().await == 0).await;
    front.end().await;
}

/// BR-P1: a message that comes again, because its answer was lost, has nobody told twice; and one whose
/// webhook finds no room begins nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_again_brings_no_second_webhook() {
    let (hook, mut heard) = Hook::open(&[]).await;
    let mut plan =
        Plan { hooks: vec![hook.address.to_string().parse().unwrap()], ..Plan::default() };
    plan.limits.push.at_once = 2;
    let front = Front::with(plan).await;
    front.worker.steps.send_replace(0);
    let headers = "a2a-version: 1.0\r\ncontent-type: application/json\r\n";
    let send = async |id: &str, token: &str| {
        let parts = json!([{ "text": "walk" }, { "data": { "steps": 1 } }]);
        let config = json!({ "url": hook.url(), "token": token });
        let sent = json!({
            "message": message(id, "steps", parts),
            "configuration": { "returnImmediately": true, "taskPushNotificationConfig": config },
        });
        let mut wire = front.world.wire().await;
        wire.post("/a2a/message:send", headers, &sent.to_string()).await
    };
    let first = send("m", "one").await.json()["task"]["id"].as_str().unwrap().to_owned();
    for _ in 0..3 {
        assert_eq!(send("m", "one").await.json()["task"]["id"], first.as_str());
    }
    // Another one says something else.
    assert_eq!(send("m", "two").await.status, 200);
    let path = format!("/a2a/tasks/{first}/pushNotificationConfigs");
    let mut wire = front.world.wire().await;
    let listed = wire.get(&path, "a2a-version: 1.0\r\n").await.json();
    assert_eq!(listed["configs"].as_array().unwrap().len(), 2, "{listed}");
    let refused = send("n", "one").await;
    assert_eq!(refused.status, 500, "{refused:?}");
    assert_eq!(front.orders.list(None, 10).await.unwrap().len(), 1, "nothing was begun");
    front.worker.steps.send_replace(1);
    let mut told = Vec::new();
    for _ in 0..4 {
        let (headers, event) = heard.recv().await.unwrap();
        told.push((headers["a2a-notification-token"].to_str().unwrap().to_owned(), event));
    }
    for token in ["one", "two"] {
        let told: Vec<Value> =
            told.iter().filter(|it| it.0 == token).map(|it| it.1.clone()).collect();
        assert_eq!(states(&told), ["artifact", "TASK_STATE_COMPLETED"], "{token}");
    }
    front.end().await;
    assert!(heard.try_recv().is_err());
}
