//! A task given to an agent that speaks A2A, here one made by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use sabir_ldp::{PayloadMode, VerificationStatus};
use sabir_net::DelegationEvent;
use sabir_store::peers::Probed;
use serde_json::{Value, json};

use crate::world::{World, address, request};

#[derive(Clone)]
pub(super) struct Agent {
    url: String,
    streams: bool,
    elsewhere: bool,
    /// `JSONRPC` or `HTTP+JSON`.
    binding: &'static str,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Agent {
    pub(super) async fn start(streams: bool, elsewhere: bool) -> Self {
        Self::speaking("JSONRPC", streams, elsewhere).await
    }

    async fn speaking(binding: &'static str, streams: bool, elsewhere: bool) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let agent = Self { url, streams, elsewhere, binding, calls: Arc::default() };
        let router = Router::new()
            .route("/.well-known/agent-card.json", get(card))
            .route("/rpc", post(rpc))
            .route("/rpc/{operation}", post(rest_message))
            .route("/rpc/tasks/{task}", get(rest_look).post(rest_cancel))
            .with_state(agent.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        agent
    }

    pub(super) fn address(&self) -> String {
        self.url.replace("http://", "a2a://")
    }

    pub(super) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

async fn card(State(agent): State<Agent>) -> Json<Value> {
    let url = match agent.elsewhere {
        true => "https://collector.example/rpc".to_owned(),
        false => format!("{}/rpc", agent.url),
    };
    Json(json!({
        "name": "Scribe", "description": "writes", "version": "2.1",
        "supportedInterfaces": [{ "url": url, "protocolBinding": agent.binding, "protocolVersion": "1.0" }],
        "capabilities": { "streaming": agent.streams },
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [
            { "id": "write", "name": "Write", "description": "writes", "tags": [] },
            { "id": "hang", "name": "Hang", "description": "waits", "tags": [] },
            { "id": "flood", "name": "Flood", "description": "never ends", "tags": [] },
            { "id": "announce", "name": "Announce", "description": "boasts", "tags": [] },
            { "id": "fail", "name": "Fail", "description": "fails", "tags": [] },
        ],
    }))
}

fn task(state: &str, text: Option<&str>) -> Value {
    let mut task = json!({
        "id": "task-1", "contextId": "c-1", "status": { "state": format!("TASK_STATE_{state}") },
    });
    if let Some(text) = text {
        let artifact = json!({ "artifactId": "a", "parts": [{ "text": text }] });
        task["artifacts"] = json!([artifact]);
    }
    if state == "FAILED" {
        task["status"]["message"] = json!({
            "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "no ink" }],
        });
    }
    task
}

async fn rpc(State(agent): State<Agent>, Json(call): Json<Value>) -> Response {
    let method = call["method"].as_str().unwrap().to_owned();
    let before = agent.calls.lock().unwrap().iter().filter(|it| **it == method).count();
    agent.calls.lock().unwrap().push(method.clone());
    let skill = call["params"]["message"]["metadata"]["skill"].as_str().unwrap_or_default();
    let said = call["params"]["message"]["parts"][0]["text"].as_str().unwrap_or_default();
    let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": call["id"], "result": result });
    match method.as_str() {
        "SendMessage" if skill == "flood" => flood("{\"jsonrpc\": \"2.0\", \"result\": \"", "x"),
        "SendMessage" if skill == "announce" => announce(),
        "SendStreamingMessage" if skill == "flood" => {
            let update = answer(json!({ "artifactUpdate": {
                "taskId": "task-1", "contextId": "c-1", "append": true,
                "artifact": { "artifactId": "a", "parts": [{ "text": "x".repeat(200_000) }] },
            }}));
            events(flood("", &format!("data: {update}\n\n")))
        }
        // One event without an end.
        "SendStreamingMessage" if skill == "announce" => events(flood("data: ", "x")),
        "SendMessage" if skill == "fail" => {
            Json(answer(json!({ "task": task("FAILED", None) }))).into_response()
        }
        "SendMessage" => Json(answer(json!({ "task": task("WORKING", None) }))).into_response(),
        "SendStreamingMessage" => {
            assert_eq!(said, "say hi");
            let mut events = vec![json!({ "task": task("WORKING", None) })];
            if skill == "write" {
                for part in ["Dear ", "reader"] {
                    events.push(json!({ "artifactUpdate": {
                        "taskId": "task-1", "contextId": "c-1", "append": part == "reader",
                        "artifact": { "artifactId": "a", "parts": [{ "text": part }] },
                    }}));
                }
                events.push(json!({ "statusUpdate": {
                    "taskId": "task-1", "contextId": "c-1",
                    "status": { "state": "TASK_STATE_COMPLETED" },
                }}));
            }
            let body: String =
                events.into_iter().map(|event| format!("data: {}\n\n", answer(event))).collect();
            ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
        }
        "GetTask" if before == 0 => Json(answer(task("WORKING", None))).into_response(),
        "GetTask" if agent.calls().contains(&"CancelTask".to_owned()) => {
            Json(answer(task("CANCELED", None))).into_response()
        }
        "GetTask" if agent.streams => Json(answer(task("WORKING", None))).into_response(),
        "GetTask" => Json(answer(task("COMPLETED", Some("Dear reader")))).into_response(),
        "CancelTask" => Json(answer(task("CANCELED", None))).into_response(),
        other => panic!("{other}"),
    }
}

/// The other form: the same answers without the envelope, at paths of their own.
async fn rest(agent: Agent, method: &str, params: Value) -> Response {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = rpc(State(agent), Json(call)).await;
    let kind = response.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let bare = |text: &str| serde_json::from_str::<Value>(text).unwrap()["result"].to_string();
    let body = match kind.as_str() {
        "text/event-stream" => text
            .split_terminator("\n\n")
            .map(|event| format!("data: {}\n\n", bare(event.strip_prefix("data: ").unwrap())))
            .collect(),
        _ => bare(&text),
    };
    let kind = if kind == "text/event-stream" { kind } else { "application/a2a+json".to_owned() };
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

async fn rest_message(
    State(agent): State<Agent>,
    Path(operation): Path<String>,
    Json(params): Json<Value>,
) -> Response {
    let skill = params["message"]["metadata"]["skill"].as_str().unwrap_or_default().to_owned();
    match (operation.as_str(), skill.as_str()) {
        (_, "flood") => flood("{\"task\": \"", "x"),
        (_, "announce") => {
            let error =
                json!({ "error": { "code": 400, "message": "no boasting", "details": [] } });
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        }
        ("message:send", _) => rest(agent, "SendMessage", params).await,
        ("message:stream", _) => rest(agent, "SendStreamingMessage", params).await,
        other => panic!("{other:?}"),
    }
}

async fn rest_look(State(agent): State<Agent>, Path(task): Path<String>) -> Response {
    rest(agent, "GetTask", json!({ "id": task })).await
}

async fn rest_cancel(State(agent): State<Agent>, Path(task): Path<String>) -> Response {
    assert_eq!(task, "task-1:cancel");
    rest(agent, "CancelTask", json!({ "id": "task-1" })).await
}

/// An answer without an end.
fn flood(begin: &str, more: &str) -> Response {
    let more = Bytes::from(more.repeat(200_000 / more.len() + 1));
    let begin = futures_util::stream::iter([Ok(Bytes::from(begin.to_owned()))]);
    let rest = futures_util::stream::repeat_with(move || Ok::<_, Infallible>(more.clone()));
    let body = Body::from_stream(futures_util::StreamExt::chain(begin, rest));
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// An answer that says how long it is, and does not come.
fn announce() -> Response {
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_LENGTH, "99999999999")];
    let body = Body::from_stream(futures_util::stream::pending::<Result<Bytes, Infallible>>());
    (headers, body).into_response()
}

fn events(mut response: Response) -> Response {
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// LD-C30: neither a single answer, nor an event, nor many of them.
#[tokio::test]
async fn an_agent_that_sends_without_end_takes_no_memory() {
    let rows = [
        ("JSONRPC", false, "flood", "longer than 16777216 bytes"),
        ("JSONRPC", false, "announce", "longer than 16777216 bytes"),
        ("JSONRPC", true, "flood", "longer than 16 MiB"),
        ("JSONRPC", true, "announce", "larger than 16777216 bytes"),
        ("HTTP+JSON", false, "flood", "longer than 16777216 bytes"),
    ];
    for (binding, streams, skill, words) in rows {
        let world = World::new();
        let agent = Agent::speaking(binding, streams, false).await;
        let (report, _) = world.run(&request(skill, &[&agent.address()])).await;
        let error = report.error.unwrap();
        assert_eq!(error.code, "TASK_FAILED", "{binding} {skill}");
        assert!(error.message.contains(words), "{binding} {skill}: {}", error.message);
        // Who told us of a task is told to stop.
        let is_told = agent.calls().contains(&"CancelTask".to_owned());
        assert_eq!(is_told, skill == "flood" && streams, "{binding} {skill}");
    }
}

/// LD-C30
#[tokio::test]
async fn both_forms_of_the_protocol_are_spoken() {
    let world = World::new();
    let agent = Agent::speaking("HTTP+JSON", false, false).await;
    let (report, _) = world.run(&request("write", &[&agent.address()])).await;
    assert_eq!(report.output.unwrap(), "Dear reader", "{:?}", report.error);
    assert_eq!(agent.calls(), ["SendMessage", "GetTask", "GetTask"]);
    let (report, _) = world.run(&request("fail", &[&agent.address()])).await;
    assert!(report.error.unwrap().message.contains("no ink"));
    let (report, _) = world.run(&request("announce", &[&agent.address()])).await;
    assert!(report.error.unwrap().message.contains("no boasting"));

    let agent = Agent::speaking("HTTP+JSON", true, false).await;
    let (report, _) = world.run(&request("write", &[&agent.address()])).await;
    assert_eq!(report.output.unwrap(), "Dear reader", "{:?}", report.error);
    assert_eq!(agent.calls(), ["SendStreamingMessage"]);
    let mut asked = request("hang", &[&agent.address()]);
    asked.deadline = Some(Duration::from_millis(300));
    let (report, _) = world.run(&asked).await;
    assert_eq!(report.error.unwrap().code, "CONTRACT_VIOLATED");
    assert!(agent.calls().contains(&"CancelTask".to_owned()), "{:?}", agent.calls());
}

/// LD-C30
#[tokio::test]
async fn an_agent_is_asked_after_until_it_is_done() {
    let world = World::new();
    let agent = Agent::start(false, false).await;
    let (report, events) = world.run(&request("write", &[&agent.address()])).await;
    assert!(report.is_done(), "{:?}", report.error);
    assert_eq!(report.output.unwrap(), "Dear reader");
    assert_eq!(agent.calls(), ["SendMessage", "GetTask", "GetTask"]);
    let provenance = report.provenance.unwrap();
    assert_eq!(provenance.produced_by.as_str(), format!("ldp:delegate:{}/", agent.address()));
    assert_eq!(provenance.model_version, "2.1");
    assert_eq!(provenance.payload_mode_used, PayloadMode::Text);
    assert_eq!(provenance.verification, VerificationStatus::Unverified);
    assert!(events.iter().any(|event| matches!(event, DelegationEvent::Progress { .. })));
}

/// LD-C23: an agent that was added is chosen from as all others are.
#[tokio::test]
async fn an_agent_that_is_known_is_a_candidate() {
    let world = World::new();
    let agent = Agent::start(true, false).await;
    let kept = address(&agent.address());
    let (card, _) = world.delegation().look(&kept).await.unwrap();
    world.peers.add_delegate(&kept.to_string(), 1).unwrap();
    let text = serde_json::to_string(&card).unwrap();
    let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
    world.peers.record_probe(&kept.to_string(), probed, 2).unwrap();
    let (report, _) = world.run(&request("write", &[])).await;
    assert_eq!(report.output.unwrap(), "Dear reader");
}

/// LD-C30
#[tokio::test]
async fn an_agent_that_streams_is_listened_to() {
    let world = World::new();
    let agent = Agent::start(true, false).await;
    let (report, _) = world.run(&request("write", &[&agent.address()])).await;
    assert_eq!(report.output.unwrap(), "Dear reader");
    assert_eq!(agent.calls(), ["SendStreamingMessage"]);
}

/// LD-C30
#[tokio::test]
async fn an_agent_that_fails_is_quoted() {
    let world = World::new();
    let agent = Agent::start(false, false).await;
    let (report, _) = world.run(&request("fail", &[&agent.address()])).await;
    let error = report.error.unwrap();
    assert_eq!(error.code, "TASK_FAILED");
    assert!(error.message.contains("no ink"), "{}", error.message);
}

/// LD-C29, LD-C30: an agent knows no deadline, so that we keep it and cancel.
#[tokio::test]
async fn an_agent_that_is_too_slow_is_cancelled() {
    let world = World::new();
    let agent = Agent::start(true, false).await;
    let mut asked = request("hang", &[&agent.address()]);
    asked.deadline = Some(Duration::from_secs(2));
    let (report, _) = world.run(&asked).await;
    assert_eq!(report.error.unwrap().code, "CONTRACT_VIOLATED");
    assert!(agent.calls().contains(&"CancelTask".to_owned()), "{:?}", agent.calls());
}

/// LD-C4, LD-C30
#[tokio::test]
async fn a_card_that_leads_elsewhere_is_not_followed() {
    let world = World::new();
    let agent = Agent::start(false, true).await;
    let (report, _) = world.run(&request("write", &[&agent.address()])).await;
    let error = report.error.unwrap();
    assert_eq!(error.code, "UNREACHABLE");
    assert!(error.message.contains("no interface at that address"), "{}", error.message);
}
