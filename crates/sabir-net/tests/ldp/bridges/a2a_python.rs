//! The published SDK for Python asks our agent, in both forms.

use std::path::Path;

use sabir_testkit::python;
use serde_json::{Value, json};

use super::{Front, Script, message};
use crate::world::TOKEN;

const BINDINGS: [&str; 2] = ["JSONRPC", "HTTP+JSON"];

fn caller(python: &Path, binding: &str, front: &Front) -> Script {
    Script::start(python, "a2a_caller.py", &[binding, &front.url()])
}

/// BR-A1, BR-A2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_card_says_where_and_what() {
    let Some(python) = python() else { return };
    let front = Front::open().await;
    let mut script = caller(&python, "JSONRPC", &front);
    let card = script.good(json!({ "do": "card" })).await;
    assert_eq!(card["name"], "Harbor");
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    let bindings: Vec<&Value> = interfaces.iter().map(|it| &it["protocolBinding"]).collect();
    assert_eq!(bindings, BINDINGS);
    for interface in interfaces {
        // As the caller reached us, not as the set-up had it.
        assert_eq!(interface["url"], format!("{}/a2a", front.url()));
        assert_eq!(interface["protocolVersion"], "1.0");
    }
    assert_eq!(card["capabilities"]["streaming"], true);
    assert_eq!(card["capabilities"]["pushNotifications"], true);
    assert_eq!(card["skills"][1]["id"], "steps");
    script.end().await;
    front.end().await;
}

/// BR-A4, BR-A5, BR-A7, BR-A8, BR-A9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_becomes_a_task_that_can_be_looked_at_and_listed() {
    let Some(python) = python() else { return };
    let front = Front::open().await;
    for binding in BINDINGS {
        let mut script = caller(&python, binding, &front);
        let parts = json!([{ "text": format!("hello {binding}") }]);
        let sent = message(&format!("m-{binding}"), "echo", parts);
        let request = json!({ "message": sent, "configuration": { "historyLength": 1 } });
        // It waits until the task is done.
        let task = script.good(json!({ "do": "send", "request": request })).await["task"].clone();
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{task}");
        let output = task["artifacts"][0]["parts"][0].to_string();
        assert!(output.contains(&format!("hello {binding}")), "{task}");
        assert_eq!(task["history"][0]["messageId"], format!("m-{binding}"), "{task}");
        assert_eq!(task["metadata"]["sabir"]["delegate_id"], "ldp:delegate:harbor", "{task}");
        let id = task["id"].as_str().unwrap();
        assert!(id.starts_with("order-"), "{id}");
        let context = task["contextId"].as_str().unwrap();
        assert!(!context.is_empty());
        // The same message is the same task.
        let again = script.good(json!({ "do": "send", "request": request })).await;
        assert_eq!(again["task"]["id"], id, "{again}");

        let seen = script.good(json!({ "do": "get", "request": { "id": id } })).await;
        assert_eq!(seen["artifacts"], task["artifacts"]);
        let request = json!({ "id": id, "historyLength": 0 });
        let seen = script.good(json!({ "do": "get", "request": request })).await;
        assert_eq!(seen.get("history"), None, "{seen}");

        // More in the same context, and page by page, the one that changed last first.
        let mut ids = vec![id.to_owned()];
        for number in 0..3 {
            let mut more =
                message(&format!("{binding}-{number}"), "echo", json!([{ "text": "x" }]));
            more["contextId"] = json!(context);
            let task = script.good(json!({ "do": "send", "request": { "message": more } })).await;
            assert_eq!(task["task"]["contextId"], context);
            ids.insert(0, task["task"]["id"].as_str().unwrap().to_owned());
        }
        let (mut listed, mut token) = (Vec::new(), String::new());
        loop {
            let request = json!({ "contextId": context, "pageSize": 3, "pageToken": token });
            let page = script.good(json!({ "do": "list", "request": request })).await;
            assert_eq!(page["totalSize"], 4, "{page}");
            let tasks = page["tasks"].as_array().unwrap();
            assert!(tasks.iter().all(|task| task.get("artifacts").is_none()), "{page}");
            listed.extend(tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()));
            token = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(listed, ids);
        let request = json!({
            "contextId": context, "status": "TASK_STATE_COMPLETED", "includeArtifacts": true,
        });
        let page = script.good(json!({ "do": "list", "request": request })).await;
        assert!(page["tasks"][0]["artifacts"][0].is_object(), "{page}");
        let request = json!({ "contextId": context, "status": "TASK_STATE_WORKING" });
        let page = script.good(json!({ "do": "list", "request": request })).await;
        assert_eq!(page.get("tasks"), None, "{page}");
        script.end().await;
    }
    front.end().await;
}

/// BR-A10, BR-A11, BR-A12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_streamed_subscribed_to_and_cancelled() {
    let Some(python) = python() else { return };
    let front = Front::open().await;
    for binding in BINDINGS {
        front.worker.steps.send_replace(1);
        let parts = json!([{ "text": "walk" }, { "data": { "steps": 2 } }]);
        let request = json!({ "message": message(&format!("s-{binding}"), "steps", parts) });
        let mut streaming = caller(&python, binding, &front);
        streaming.tell(json!({ "do": "stream", "request": request })).await;
        let first = streaming.next().await["event"].clone();
        let id = first["task"]["id"].as_str().unwrap_or_else(|| panic!("{first}")).to_owned();
        // The first event is the task as it stands, which may have come so far.
        let mut event = first;
        while !event.to_string().contains("step 1") {
            event = streaming.next().await["event"].clone();
            assert_eq!(event["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING", "{event}");
        }
        // Somebody else joins in, and both see it to its end.
        let mut other = caller(&python, binding, &front);
        other.tell(json!({ "do": "subscribe", "request": { "id": id } })).await;
        let first = other.next().await["event"].clone();
        assert_eq!(first["task"]["status"]["state"], "TASK_STATE_WORKING", "{first}");
        front.worker.steps.send_replace(2);
        for script in [&mut streaming, &mut other] {
            let told = loop {
                let line = script.next().await;
                if let Some(told) = line.get("ok") {
                    break told.as_array().unwrap().clone();
                }
            };
            let [.., artifact, last] = &told[..] else { panic!("{told:?}") };
            let part = &artifact["artifactUpdate"]["artifact"]["parts"][0];
            assert_eq!(part["data"], 2.0, "{told:?}");
            assert_eq!(artifact["artifactUpdate"]["lastChunk"], true);
            assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
        }
        let over = other.order(json!({ "do": "subscribe", "request": { "id": id } })).await;
        assert_eq!(over["error"], "UnsupportedOperationError", "{over}");
        let over = other.order(json!({ "do": "cancel", "request": { "id": id } })).await;
        assert_eq!(over["error"], "TaskNotCancelableError", "{over}");

        let parts = json!([{ "text": "walk far" }, { "data": { "steps": 9 } }]);
        let request = json!({
            "message": message(&format!("c-{binding}"), "steps", parts),
            "configuration": { "returnImmediately": true },
        });
        let task = other.good(json!({ "do": "send", "request": request })).await["task"].clone();
        assert_eq!(task["status"]["state"], "TASK_STATE_WORKING", "{task}");
        let request = json!({ "id": task["id"] });
        let cancelled = other.good(json!({ "do": "cancel", "request": request })).await;
        assert_eq!(cancelled["status"]["state"], "TASK_STATE_CANCELED", "{cancelled}");
        streaming.end().await;
        other.end().await;
    }
    front.end().await;
}

/// BR-A6, BR-A13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_said_and_tasks_of_others_are_none() {
    let Some(python) = python() else { return };
    let front = Front::open().await;
    for binding in BINDINGS {
        let mut script = caller(&python, binding, &front);
        let nobody = "order-00000000-0000-7000-8000-000000000000";
        for (order, error) in [
            (json!({ "do": "get", "request": { "id": nobody } }), "TaskNotFoundError"),
            (json!({ "do": "get", "request": { "id": "x" } }), "TaskNotFoundError"),
            (json!({ "do": "cancel", "request": { "id": nobody } }), "TaskNotFoundError"),
            (json!({ "do": "list", "request": { "pageSize": 101 } }), "InvalidParamsError"),
            (json!({ "do": "list", "request": { "pageToken": "??" } }), "InvalidParamsError"),
            (
                json!({ "do": "send", "request": {
                    "message": message("w-1", "no such\nskill", json!([{ "text": "x" }])),
                }}),
                "InvalidParamsError",
            ),
            (
                json!({ "do": "send", "request": {
                    "message": message("w-2", "echo", json!([{ "url": "https://a.example/" }])),
                }}),
                "ContentTypeNotSupportedError",
            ),
        ] {
            let answer = script.order(order.clone()).await;
            assert_eq!(answer["error"], error, "{binding} {order}: {answer}");
        }
        let sent = json!({ "message": message(&format!("o-{binding}"), "echo", json!([{ "text": "x" }])) });
        let task = script.good(json!({ "do": "send", "request": sent })).await["task"].clone();
        // It is over, and in one context.
        let mut more = message("w-3", "echo", json!([{ "text": "y" }]));
        more["taskId"] = task["id"].clone();
        let answer = script.order(json!({ "do": "send", "request": { "message": more } })).await;
        assert_eq!(answer["error"], "UnsupportedOperationError", "{answer}");
        more["contextId"] = json!("another");
        let answer = script.order(json!({ "do": "send", "request": { "message": more } })).await;
        assert_eq!(answer["error"], "InvalidParamsError", "{answer}");

        // A skill that nobody has is a task that fails.
        let sent = json!({ "message": message(&format!("f-{binding}"), "sing", json!([{ "text": "x" }])) });
        let failed = script.good(json!({ "do": "send", "request": sent })).await["task"].clone();
        assert_eq!(failed["status"]["state"], "TASK_STATE_FAILED", "{failed}");
        assert!(failed["status"]["message"]["parts"][0]["text"].is_string(), "{failed}");

        // Who shows a token is somebody else.
        let mut other = Script::start(&python, "a2a_caller.py", &[binding, &front.url(), TOKEN]);
        let request = json!({ "id": task["id"] });
        let answer = other.order(json!({ "do": "get", "request": request })).await;
        assert_eq!(answer["error"], "TaskNotFoundError", "{answer}");
        let page = other.good(json!({ "do": "list" })).await;
        assert_eq!(page.get("tasks"), None, "{page}");
        other.end().await;
        script.end().await;
    }
    front.end().await;
}
