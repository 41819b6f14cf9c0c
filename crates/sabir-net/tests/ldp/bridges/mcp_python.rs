//! The published SDK for Python calls our tools over HTTP, in both ways to begin.

use std::path::Path;

use sabir_store::library::Library;
use sabir_testkit::python;
use serde_json::{Value, json};

use super::{Front, Plan, Script};
use crate::world::until;

/// With a handshake, and without one.
const MODES: [&str; 2] = ["legacy", "auto"];

fn caller(python: &Path, mode: &str, front: &Front) -> Script {
    Script::start(python, "mcp_caller.py", &[mode, &format!("{}/mcp", front.url())])
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "do": "call", "name": name, "arguments": arguments })
}

/// BR-M1, BR-M2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_are_listed_and_texts_are_checked_repaired_and_translated() {
    let Some(python) = python() else { return };
    let front = Front::open().await;
    for mode in MODES {
        let mut script = caller(&python, mode, &front);
        let who = script.good(json!({ "do": "who" })).await;
        assert_eq!(who["name"], "sabir", "{who}");
        assert_eq!(who["version"] == "2026-07-28", mode == "auto", "{who}");
        let tools = script.good(json!({ "do": "tools" })).await;
        let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(
            names,
            ["delegate", "run_task", "ask", "capture", "axon_check", "axon_repair", "convert"]
        );
        let text = "INF(@a>@b): ok";
        let good = script.good(call("axon_check", json!({ "text": text }))).await;
        assert_eq!(good["structured"]["valid"], true, "{good}");
        assert_eq!(good["structured"]["messages"], 1, "{good}");
        let bad = script.good(call("axon_check", json!({ "text": "INF(@a->@b): x{" }))).await;
        assert_eq!(bad["structured"]["valid"], false, "{bad}");
        let found = &bad["structured"]["diagnostics"][0];
        assert!(found["line"] == 1 && found["code"].is_string(), "{bad}");
        let repaired = script
            .good(call("axon_repair", json!({ "text": "INF(@a->@b): alert{level:3}" })))
            .await;
        assert_eq!(repaired["structured"]["valid"], true, "{repaired}");
        assert!(!repaired["structured"]["changes"].as_array().unwrap().is_empty(), "{repaired}");
        let there = json!({ "text": text, "from": "axon", "to": "llmx" });
        let there = script.good(call("convert", there)).await["structured"]["text"].clone();
        let back = json!({ "text": there, "from": "llmx", "to": "axon" });
        let back = script.good(call("convert", back)).await["structured"]["text"].clone();
        assert_eq!(back.as_str().unwrap().trim(), text, "{there}");
        script.end().await;
    }
    front.end().await;
}

/// BR-M3, BR-M4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_call_is_told_to_the_model() {
    let Some(python) = python() else { return };
    let mut plan = Plan::default();
    plan.tools.text_bytes = 100;
    plan.tools.pages = 2;
    let front = Front::with(plan).await;
    let mut script = caller(&python, "auto", &front);
    let page = "https://harbor.example/";
    for (name, arguments, words) in [
        ("axon_check", json!({ "text": "x".repeat(101) }), "longer than 100 bytes"),
        ("axon_check", json!({ "txt": "x" }), "txt"),
        ("axon_check", json!({ "text": "x", "tier": 4 }), "tier"),
        ("convert", json!({ "text": "INF(", "from": "axon", "to": "json" }), "invalid"),
        ("ask", json!({ "collection": "none", "question": "when?" }), "no collection"),
        ("capture", json!({ "collection": "c", "urls": [] }), "1 to 2"),
        ("capture", json!({ "collection": "c", "urls": [page, page, page] }), "1 to 2"),
        ("capture", json!({ "collection": "c", "urls": ["/etc/passwd"] }), "only http and https"),
        ("capture", json!({ "collection": "c", "urls": ["file:///etc/passwd"] }), "only http"),
        ("delegate", json!({ "task": " " }), "nothing to do"),
        ("delegate", json!({ "task": "x", "to": ["http://127.0.0.1:1"] }), "a person added"),
        ("delegate", json!({ "task": "x", "to": ["mcp+stdio:true"] }), "a person added"),
        ("run_task", json!({ "task": "x", "id": "y" }), "either"),
        ("run_task", json!({ "id": "order-1" }), "no such task"),
        ("run_task", json!({ "cancel": true }), "id"),
    ] {
        let answer = script.good(call(name, arguments.clone())).await;
        assert_eq!(answer["is_error"], true, "{name} {arguments}: {answer}");
        let text = answer["text"].as_str().unwrap();
        assert!(text.contains(words), "{name} {arguments}: {text}");
    }
    let unknown = script.order(call("shell", json!({}))).await;
    assert_eq!(unknown["error"], "MCPError", "{unknown}");
    script.end().await;
    front.end().await;
}

/// BR-M5, BR-M6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_waited_for_asked_for_again_and_cancelled() {
    let Some(python) = python() else { return };
    let front = Front::open().await;
    for mode in MODES {
        front.worker.steps.send_replace(1);
        let mut script = caller(&python, mode, &front);
        let echo = json!({ "task": "hello", "skill": "echo" });
        let done = script.good(call("delegate", echo)).await;
        let structured = &done["structured"];
        assert_eq!(structured["state"], "done", "{done}");
        assert!(structured["output"].to_string().contains("hello"), "{done}");
        assert_eq!(structured["facts"]["delegate_id"], "ldp:delegate:harbor", "{done}");
        assert!(!done["progress"].as_array().unwrap().is_empty(), "{done}");
        let steps: Vec<f64> = done["progress"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["progress"].as_f64().unwrap())
            .collect();
        assert!(steps.is_sorted_by(|one, next| one < next), "{steps:?}");

        // Longer than it is waited for: it goes on, and has an id.
        let slow =
            json!({ "task": "walk", "skill": "steps", "input": { "steps": 2 }, "wait_secs": 1 });
        let running = script.good(call("run_task", slow)).await;
        assert_eq!(running["structured"]["state"], "running", "{running}");
        let id = &running["structured"]["id"];
        front.worker.steps.send_replace(2);
        let done = script.good(call("run_task", json!({ "id": id }))).await;
        assert_eq!(done["structured"]["state"], "done", "{done}");
        assert_eq!(done["structured"]["output"], 2, "{done}");

        // Who does not want it any more has it cancelled.
        let far = json!({ "task": "walk far", "skill": "steps", "input": { "steps": 9 } });
        let mut order = call("run_task", far);
        order["cancel_after"] = json!(2);
        let given_up = script.good(order).await;
        assert_eq!(given_up["cancelled"], true, "{given_up}");
        until(async || front.orders.running() == 0).await;
        let last = front.orders.list(None, 1).await.unwrap().remove(0);
        assert_eq!(last.task, "walk far");
        assert_eq!(last.state, sabir_net::OrderState::Cancelled);

        // A failure has a shape, too.
        let nobody = json!({ "task": "sing", "skill": "sing" });
        let failed = script.good(call("delegate", nobody)).await;
        assert_eq!(
            (&failed["is_error"], &failed["structured"]["state"]),
            (&json!(true), &json!("failed"))
        );
        script.end().await;
    }
    front.end().await;
}

/// BR-M7, BR-G1, BR-G2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_captured_and_asked_about_and_the_policy_holds() {
    let Some(python) = python() else { return };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let html = "<html><head><title>Tides</title></head><body><main><h1>Tides</h1><p>Spring tides \
                come at new and full moon, when sun and moon pull together.</p><p>Neap tides come \
                at the quarters.</p></main></body></html>";
    let page = move || async move { ([("content-type", "text/html")], html) };
    let site = axum::Router::new().route("/tides", axum::routing::get(page));
    let site = tokio::spawn(async move { axum::serve(listener, site).await });
    let plan = Plan {
        policy: "[[deny]]\ntool = \"serve.convert\"\nreason = \"not here\"\n",
        hooks: vec![address.to_string().parse().unwrap()],
        ..Plan::default()
    };
    let front = Front::with(plan).await;
    let mut script = caller(&python, "auto", &front);
    let urls = [format!("http://{address}/tides"), "http://127.0.0.1:1/metadata".to_owned()];
    let capture = json!({ "collection": "tides", "urls": urls });
    let captured = script.good(call("capture", capture)).await;
    let sources = captured["structured"]["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 2, "{captured}");
    let at = |status: &str| sources.iter().find(|it| it["status"] == status).unwrap();
    assert_eq!(at("captured")["title"], "Tides", "{captured}");
    // Nobody allowed that one.
    assert!(at("failed")["error"].as_str().unwrap().contains("loopback"), "{captured}");
    assert_eq!(captured["progress"].as_array().unwrap().len(), 2, "{captured}");
    let question = json!({ "collection": "tides", "question": "When do spring tides come?" });
    let answered = script.good(call("ask", question)).await;
    let citation = &answered["structured"]["citations"][0];
    assert_eq!(citation["status"], "verified", "{answered}");
    assert!(citation["quote"].as_str().unwrap().contains("new and full moon"), "{answered}");
    let text = json!({ "text": "INF(@a>@b): ok", "from": "axon", "to": "json" });
    let denied = script.good(call("convert", text)).await;
    assert_eq!(denied["is_error"], true, "{denied}");
    assert!(denied["text"].as_str().unwrap().contains("not here"), "{denied}");
    script.end().await;
    let library = Library::open_to_read(front.library.path()).unwrap();
    let rows = library.audit(0, 100).unwrap();
    let told: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.subject.as_str(), row.outcome.as_str())).collect();
    assert_eq!(
        told,
        [
            ("source.capture", "allow"),
            ("source.capture", "allow"),
            ("serve.ask", "allow"),
            ("serve.convert", "deny"),
        ]
    );
    assert!(rows.iter().all(|row| row.actor.starts_with("mcp:local:")), "{rows:?}");
    front.end().await;
    site.abort();
}
