//! Tasks that are listed, and messages that come again.

use std::sync::Arc;

use sabir_store::library::Library;
use serde_json::{Value, json};

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

async fn send(wire: &mut Wire, id: &str, context: &str) -> Value {
    let mut said = message(id, "echo", json!([{ "text": "hi" }]));
    said["contextId"] = json!(context);
    call(wire, "SendMessage", json!({ "message": said })).await["task"].clone()
}

fn ids(listed: &Value) -> Vec<&str> {
    let tasks = listed["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["id"].as_str().unwrap()).collect()
}

/// BR-A6: the gate is asked once, and so is a person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_again_is_not_judged_again() {
    let front = Front::open().await;
    let mut wire = front.world.wire().await;
    let first = send(&mut wire, "m-1", "voyage").await;
    assert_eq!(send(&mut wire, "m-1", "voyage").await["id"], first["id"]);
    let judged = Library::open_to_read(front.library.path()).unwrap().audit(0, 100).unwrap();
    assert_eq!(judged.len(), 1, "{judged:?}");
    front.end().await;
}

/// BR-A9: what was read from the journal and what was kept up since are one list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_the_same_before_and_after_a_restart() {
    let buyer = Arc::new(Buyer::new());
    let front = Front::at(&buyer, Plan::default()).await;
    let mut wire = front.world.wire().await;
    send(&mut wire, "m-1", "voyage").await;
    // From here on the list is known.
    let one = call(&mut wire, "ListTasks", json!({})).await;
    assert_eq!(one["totalSize"], 1, "{one}");
    send(&mut wire, "m-2", "voyage").await;
    let last = send(&mut wire, "m-3", "harbor").await;
    let all = call(&mut wire, "ListTasks", json!({})).await;
    assert_eq!((all["totalSize"].clone(), ids(&all)[0]), (json!(3), last["id"].as_str().unwrap()));
    let asked = json!({ "contextId": "voyage", "status": "TASK_STATE_COMPLETED", "pageSize": 1 });
    let voyage = call(&mut wire, "ListTasks", asked.clone()).await;
    assert_eq!((voyage["totalSize"].clone(), ids(&voyage).len()), (json!(2), 1), "{voyage}");
    let failed = call(&mut wire, "ListTasks", json!({ "status": "TASK_STATE_FAILED" })).await;
    // What is zero or empty is left out.
    assert_eq!((failed.get("totalSize"), failed.get("tasks")), (None, None), "{failed}");
    // A time that is asked for is included: more may have happened in that very moment.
    let at = last["status"]["timestamp"].clone();
    let since = call(&mut wire, "ListTasks", json!({ "statusTimestampAfter": at })).await;
    assert!(ids(&since).contains(&last["id"].as_str().unwrap()), "{since}");
    drop(wire);
    front.end().await;

    let front = Front::at(&buyer, Plan::default()).await;
    let mut wire = front.world.wire().await;
    let again = call(&mut wire, "ListTasks", json!({})).await;
    assert_eq!(ids(&again), ids(&all));
    let again = call(&mut wire, "ListTasks", asked).await;
    assert_eq!((&again["totalSize"], ids(&again)), (&voyage["totalSize"], ids(&voyage)));
    drop(wire);
    front.end().await;
}
