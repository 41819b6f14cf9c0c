//! What outlives the node: tasks, their contexts, and who wanted to be told.

use std::sync::Arc;

use serde_json::{Value, json};

use super::push::Hook;
use super::{Front, Plan, message};
use crate::orders::Buyer;
use crate::wire::Wire;

const HEADERS: &str = "a2a-version: 1.0\r\ncontent-type: application/json\r\n";

async fn call(wire: &mut Wire, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = wire.post("/a2a", HEADERS, &body.to_string()).await.json();
    assert_eq!(answer.get("error"), None, "{answer}");
    answer["result"].clone()
}

/// BR-A15, BR-P6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_and_webhooks_are_there_after_a_restart() {
    let (hook, mut heard) = Hook::open(&[]).await;
    let plan =
        || Plan { hooks: vec![hook.address.to_string().parse().unwrap()], ..Plan::default() };
    let buyer = Arc::new(Buyer::new());
    let front = Front::at(&buyer, plan()).await;
    let mut wire = front.world.wire().await;
    let mut said = message("m-1", "echo", json!([{ "text": "before" }]));
    said["contextId"] = json!("voyage");
    let before = call(&mut wire, "SendMessage", json!({ "message": said })).await["task"].clone();
    assert_eq!(before["status"]["state"], "TASK_STATE_COMPLETED", "{before}");
    let parts = json!([{ "text": "walk" }, { "data": { "steps": 1 } }]);
    let mut said = message("m-2", "steps", parts);
    said["contextId"] = json!("voyage");
    let configuration = json!({
        "returnImmediately": true,
        "taskPushNotificationConfig": { "url": hook.url(), "token": "t" },
    });
    let request = json!({ "message": said, "configuration": configuration });
    let running = call(&mut wire, "SendMessage", request.clone()).await["task"].clone();
    assert_eq!(running["status"]["state"], "TASK_STATE_WORKING", "{running}");
    drop(wire);
    front.end().await;
    assert!(heard.try_recv().is_err());

    // The delegate is asked what became of it, and goes on; whoever wanted to be told is told.
    let front = Front::at(&buyer, plan()).await;
    let mut wire = front.world.wire().await;
    let again = call(&mut wire, "GetTask", json!({ "id": before["id"] })).await;
    assert_eq!(again, before);
    let (_, first) = heard.recv().await.unwrap();
    assert_eq!(first["task"]["status"]["state"], "TASK_STATE_WORKING", "{first}");
    assert_eq!(first["task"]["id"], running["id"]);
    front.worker.steps.send_replace(1);
    let mut last = None;
    while last.as_ref() != Some(&json!("TASK_STATE_COMPLETED")) {
        let (headers, event) = heard.recv().await.unwrap();
        assert_eq!(headers["x-a2a-notification-token"], "t");
        last = event.pointer("/statusUpdate/status/state").cloned();
    }
    let done = call(&mut wire, "GetTask", json!({ "id": running["id"] })).await;
    assert_eq!(done["artifacts"][0]["parts"][0]["data"], 1.0, "{done}");
    // The message that came twice, once before and once after, is one.
    let twin = call(&mut wire, "SendMessage", request).await["task"].clone();
    assert_eq!(twin["id"], running["id"]);
    let listed = call(&mut wire, "ListTasks", json!({ "contextId": "voyage" })).await;
    assert_eq!(listed["totalSize"], 2, "{listed}");
    front.end().await;
}
