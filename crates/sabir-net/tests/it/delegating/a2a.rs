//! A task given to an agent that speaks A2A, here one made by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use sabir_ldp::{PayloadMode, VerificationStatus};
use sabir_net::DelegationEvent;
use sabir_store::peers::Probed;
use serde_json::{Value, json};

use crate::world::{World, address, request};

#[derive(Clone)]
struct Agent {
    url: String,
    streams: bool,
    elsewhere: bool,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Agent {
    async fn start(streams: bool, elsewhere: bool) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let agent = Self { url, streams, elsewhere, calls: Arc::default() };
        let router = Router::new()
            .route("/.well-known/agent-card.json", get(card))
            .route("/rpc", post(rpc))
            .with_state(agent.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        agent
    }

    fn address(&self) -> String {
        self.url.replace("http://", "a2a://")
    }

    fn calls(&self) -> Vec<String> {
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
        "supportedInterfaces": [{ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": { "streaming": agent.streams },
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [
            { "id": "write", "name": "Write", "description": "writes", "tags": [] },
            { "id": "hang", "name": "Hang", "description": "waits", "tags": [] },
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
