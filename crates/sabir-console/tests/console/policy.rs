//! The policy: what the file adds, the whole table, and one call.

use serde_json::{Value, json};

use crate::world::{Wishes, World};

const FILE: &str = "[[deny]]\ntool = \"browser.*\"\nreason = \"no browsing here\"\n";

/// CO-19: the table has every tool with what the gate says and why, under the file that holds.
#[tokio::test(flavor = "multi_thread")]
async fn the_truth_table_is_under_the_file() {
    let world = World::with(Wishes { policy: FILE, ..Wishes::default() }).await;
    let person = world.person().await;
    let policy = person.see("/api/policy").await;
    assert!(policy["file"].as_str().unwrap().ends_with("policy.toml"));
    assert_eq!((&policy["is_there"], &policy["changed"]), (&json!(true), &Value::Null));
    assert!(policy["rules"].to_string().contains("no browsing here"), "{policy}");
    let table = policy["table"].as_array().unwrap();
    let rows =
        |tool: &str| -> Vec<&Value> { table.iter().filter(|it| it["tool"] == tool).collect() };
    for tool in sabir_policy::tool_names().chain(["shell", "apply_patch", "read", "spawn"]) {
        assert!(!rows(tool).is_empty(), "{tool}");
    }
    for row in table {
        assert!(["allow", "ask", "deny"].contains(&row["outcome"].as_str().unwrap()), "{row}");
        assert!(!row["why"].as_str().unwrap().is_empty() && row["rule"].is_string(), "{row}");
    }
    assert!(rows("browser.navigate").iter().all(|it| it["outcome"] == "deny"));
    assert!(rows("browser.navigate")[0]["why"].as_str().unwrap().contains("no browsing here"));
    let outcome = |tool: &str, words: &str| {
        let found = rows(tool).into_iter().find(|it| it["case"].as_str().unwrap().contains(words));
        found.unwrap_or_else(|| panic!("{tool} {words}"))["outcome"].clone()
    };
    assert_eq!(outcome("shell", "only read"), "allow");
    assert_eq!(outcome("shell", "destroys"), "ask");
    assert_eq!(
        outcome("source.capture", "that you typed; the model has read nothing else"),
        "allow"
    );
    assert_eq!(outcome("source.capture", "typed; the model has read what is yours and"), "deny");
    let never = person.see("/api/policy?approval=never").await;
    assert!(!never["table"].to_string().contains("\"outcome\":\"ask\""));
    assert_eq!(person.get("/api/policy?approval=often").await.status, 400);
    // A file that was changed holds when the node is started again.
    std::fs::write(world.home.path().join("policy.toml"), "").unwrap();
    let changed = person.see("/api/policy").await;
    assert!(changed["changed"].as_str().unwrap().contains("restart"), "{}", changed["changed"]);
    assert_eq!(changed["rules"], policy["rules"]);
    world.end().await;
}

/// CO-19: a dry run says what the gate would say, and leaves no trace.
#[tokio::test(flavor = "multi_thread")]
async fn one_call_is_judged_and_nothing_is_done() {
    let world = World::with(Wishes { policy: FILE, ..Wishes::default() }).await;
    let person = world.person().await;
    let url = "https://docs.example/a";
    let capture = json!({ "collectionId": "col_1", "url": url });
    for (call, outcome, code) in [
        (
            json!({ "tool": "shell", "arguments": { "command": ["ls"] } }),
            "allow",
            "known_safe_command",
        ),
        (
            json!({ "tool": "shell", "arguments": { "command": ["rm", "-rf", "build"] } }),
            "ask",
            "dangerous_command",
        ),
        (
            json!({ "tool": "shell", "arguments": { "command": ["rm", "-rf", "build"] }, "approval": "never" }),
            "allow",
            "command_confined",
        ),
        (
            json!({ "tool": "source.capture", "arguments": capture, "typed": [url] }),
            "allow",
            "on_request",
        ),
        (json!({ "tool": "source.capture", "arguments": capture }), "ask", "invented_url"),
        (
            json!({ "tool": "source.capture", "arguments": capture, "typed": [url],
            "untrusted": ["page"], "private": ["note"] }),
            "deny",
            "private_data_exposed",
        ),
        (json!({ "tool": "browser.back" }), "deny", "policy_denied"),
        (json!({ "tool": "mcp__files__delete", "arguments": {} }), "ask", "unknown_effects"),
    ] {
        let said = person.done("/api/policy/check", call.clone()).await;
        assert_eq!(said["outcome"], outcome, "{call} {said}");
        if code != "unknown_effects" {
            assert_eq!(said["reason_code"], code, "{call} {said}");
        }
        assert!(said["explanation"].is_string() && said["remedy"].is_string(), "{said}");
    }
    for call in [
        json!({ "tool": "fly" }),
        json!({ "tool": "shell", "arguments": {} }),
        json!({ "tool": "apply_patch" }),
    ] {
        let reply = person.post("/api/policy/check", call).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"));
    }
    assert_eq!(person.see("/api/decisions").await, json!({ "decisions": [] }));
    world.end().await;
}
