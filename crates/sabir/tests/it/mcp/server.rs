//! An MCP server in a few lines. It is a test that does nothing, unless a variable tells it to be a
//! server; then it leaves a file for each thing that happens to it.

#![expect(clippy::print_stdout, reason = "a server speaks by its streams")]

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

/// The folder of the files; set, it makes a server of this program.
pub(super) const FOLDER: &str = "SABIR_TEST_MCP_FOLDER";

#[test]
fn serve() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let note = |name: &str| std::fs::write(format!("{folder}/{name}"), "").unwrap();
    std::fs::write(format!("{folder}/process"), std::process::id().to_string()).unwrap();
    // What the test harness printed before is on a line of its own then, and is garbage.
    println!();
    let mut is_grown = false;
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => answer(
                id,
                json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "small", "version": "1" },
                }),
            ),
            Some("tools/list") => {
                let mut tools = vec![tool("peek", true), tool("echo", false), tool("hang", true)];
                if is_grown {
                    tools.push(tool("grown", false));
                }
                answer(id, json!({ "tools": tools }));
            }
            Some("tools/call") => match params["name"].as_str().unwrap() {
                "hang" => note("hangs"),
                name => {
                    let text = params["arguments"]["text"].as_str().unwrap_or("nothing");
                    if text == "grow" {
                        is_grown = true;
                        send(&json!({
                            "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
                        }));
                    }
                    let content = [json!({ "type": "text", "text": format!("{name}: {text}") })];
                    answer(id, json!({ "content": content }));
                }
            },
            Some("notifications/cancelled") => note("cancelled"),
            _ => {}
        }
    }
    std::process::exit(0);
}

fn tool(name: &str, is_read_only: bool) -> Value {
    json!({
        "name": name,
        "description": format!("the tool {name}"),
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
        "annotations": { "readOnlyHint": is_read_only },
    })
}

fn answer(id: &Value, result: Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn send(message: &Value) {
    println!("{message}");
    std::io::stdout().flush().unwrap();
}
