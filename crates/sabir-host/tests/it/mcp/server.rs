//! An MCP server written by hand, line by line, so that it can do what no library would let it do.
//! It is a test that does nothing, unless a variable tells it to be a server.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a server speaks by its streams")]
#![expect(clippy::zombie_processes, reason = "the child that is left behind is what is tested")]

use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// The variable that makes a server of this program, and says which.
pub(super) const MODE: &str = "SABIR_TEST_MCP_MODE";

#[test]
fn serve() {
    let Ok(mode) = std::env::var(MODE) else { return };
    // What the test harness printed before is on a line of its own then, and is garbage.
    println!();
    match mode.as_str() {
        "mute" => eprintln!("I am thinking"),
        "broken" => {
            eprintln!("cannot find my\u{1b}[31m configuration, and my key is given-by-env");
            std::process::exit(2);
        }
        "once" if std::path::Path::new("started").exists() => {
            eprintln!("I start only once");
            std::process::exit(4);
        }
        "thinking" => std::fs::write("process", std::process::id().to_string()).unwrap(),
        "once" => std::fs::write("started", "").unwrap(),
        _ => {}
    }
    Server { mode: mode.clone(), ..Server::default() }.run();
    if mode == "stubborn" {
        loop {
            std::thread::park();
        }
    }
    std::process::exit(0);
}

#[derive(Default)]
struct Server {
    mode: String,
    grown: bool,
    /// What was asked for and never answered, and what was withdrawn.
    seen: Vec<String>,
    /// The call that waits until the client has answered our own requests.
    asking: Option<Value>,
    answers: Vec<String>,
}

impl Server {
    fn run(&mut self) {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let message: Value = serde_json::from_str(&line).unwrap();
            self.handle(&message);
        }
    }

    fn handle(&mut self, message: &Value) {
        let id = &message["id"];
        match message["method"].as_str() {
            _ if self.mode == "mute" || self.mode == "thinking" => {}
            Some("initialize") => answer(
                id,
                json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "by hand", "version": "1" },
                }),
            ),
            Some("tools/list") => answer(id, self.list(message["params"]["cursor"].as_str())),
            Some("tools/call") => self.call(id, &message["params"]),
            Some("notifications/cancelled") => {
                self.seen.push(format!("withdrawn: {}", message["params"]["reason"]));
            }
            Some("ping") => answer(id, json!({})),
            Some(_) => {}
            None => self.hear(message),
        }
    }

    fn list(&self, cursor: Option<&str>) -> Value {
        if self.mode == "messy" {
            return messy_tools();
        }
        if self.mode == "endless" {
            let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            let tools = vec![tool(&format!("tool{page}"))];
            return json!({ "tools": tools, "nextCursor": (page + 1).to_string() });
        }
        match cursor {
            None => {
                let mut tools: Vec<Value> = FIRST_PAGE.iter().map(|name| tool(name)).collect();
                if self.grown {
                    tools.push(tool("grown"));
                }
                json!({ "tools": tools, "nextCursor": "second page" })
            }
            Some("second page") => {
                let tools: Vec<Value> = SECOND_PAGE.iter().map(|name| tool(name)).collect();
                json!({ "tools": tools })
            }
            Some(other) => panic!("no page {other}"),
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        match params["name"].as_str().unwrap() {
            "echo" => {
                let text = params["arguments"]["text"].as_str().unwrap_or("nothing");
                let content = [json!({ "type": "text", "text": text })];
                answer(id, json!({ "content": content, "structuredContent": params["arguments"] }));
            }
            "fail" => answer(
                id,
                json!({ "content": [{ "type": "text", "text": "it is raining" }], "isError": true }),
            ),
            "refuse" => send(&json!({
                "jsonrpc": "2.0", "id": id,
                "error": { "code": -32602, "message": "no, and \u{7}given-by-env is no reason" },
            })),
            "slow" => self.seen.push("slow".to_owned()),
            "seen" => say(id, &self.seen.join(", ")),
            "crash" => {
                eprintln!("my last words");
                std::process::exit(3);
            }
            "garbage" => {
                println!(
                    "Loading model... {{ 100%\n[1, 2\n\"just a string\"\n{{\"json\": \"rpc\"}}\n\n"
                );
                say(id, "after the garbage");
            }
            "huge" => say(id, &"x".repeat(1024 * 1024)),
            "flood" => {
                let megabyte = "x".repeat(1024 * 1024);
                for _ in 0..9 {
                    // The client hangs up somewhere on the way.
                    let _ = std::io::stdout().write_all(megabyte.as_bytes());
                }
                let _ = std::io::stdout().flush();
            }
            "strange" => answer(id, json!({ "mood": "strange" })),
            "smell" => answer(id, json!({ "content": [{ "type": "smell" }] })),
            "environment" => {
                let names = ["SABIR_TEST_API_KEY", "SABIR_TEST_PLAIN", "GIVEN_SECRET"];
                let values = names.map(|name| format!("{name}={:?}", std::env::var(name).ok()));
                say(id, &values.join(" "));
            }
            "process" => say(id, &std::process::id().to_string()),
            "breed" => {
                let child = Command::new("sleep")
                    .arg("600")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::inherit())
                    .spawn()
                    .unwrap();
                say(id, &child.id().to_string());
            }
            "grow" => {
                self.grown = true;
                send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                say(id, "grown");
            }
            "ask" => {
                self.asking = Some(id.clone());
                self.ask();
            }
            other => panic!("no tool {other}"),
        }
    }

    fn ask(&mut self) {
        let sampling = json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "hi" } }],
            "maxTokens": 10,
        });
        let elicitation = json!({
            "message": "your password?",
            "requestedSchema": { "type": "object", "properties": {} },
        });
        let questions = [
            ("sampling/createMessage", sampling),
            ("elicitation/create", elicitation),
            ("roots/list", json!({})),
        ];
        // One after the other, so that the answers come in a known order.
        let Some((method, params)) = questions.get(self.answers.len()) else {
            let id = self.asking.take().unwrap();
            return say(&id, &self.answers.join("\n"));
        };
        send(&json!({ "jsonrpc": "2.0", "id": "question", "method": method, "params": params }));
    }

    fn hear(&mut self, message: &Value) {
        // Complaints about our garbage carry no id.
        if message["id"] == "question" {
            let heard = message.get("result").or(message.get("error")).unwrap();
            self.answers.push(heard.to_string());
            self.ask();
        }
    }
}

fn messy_tools() -> Value {
    let long = "l".repeat(100);
    let mut deep = json!({});
    for _ in 0..40 {
        deep = json!({ "properties": deep });
    }
    json!({ "tools": [
        { "name": "a.b", "inputSchema": {}, "annotations": { "readOnlyHint": true } },
        { "name": "a/b", "inputSchema": { "type": "object" }, "annotations": { "destructiveHint": true } },
        { "name": "a.b", "inputSchema": {} },
        { "name": long, "inputSchema": {}, "description": "d\u{1b}\u{e0041}".repeat(9000) },
        { "name": "array", "inputSchema": { "type": "array" } },
        { "name": "no object", "inputSchema": "nothing" },
        { "name": "no schema" },
        { "name": "big", "inputSchema": { "description": "x".repeat(40_000) } },
        { "name": "deep", "inputSchema": deep },
        { "name": "bell", "inputSchema": { "properties": { "a\u{7}": {} } } },
        { "name": "words", "inputSchema": { "properties": { "a": { "description": "b\u{7}c" } } } },
    ] })
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": format!("does {name}"), "inputSchema": { "type": "object" } })
}

fn say(id: &Value, text: &str) {
    answer(id, json!({ "content": [{ "type": "text", "text": text }] }));
}

fn answer(id: &Value, result: Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn send(message: &Value) {
    println!("{message}");
    std::io::stdout().flush().unwrap();
}

const FIRST_PAGE: &[&str] =
    &["echo", "fail", "refuse", "slow", "seen", "crash", "garbage", "huge", "flood"];
const SECOND_PAGE: &[&str] =
    &["strange", "smell", "environment", "process", "breed", "grow", "ask"];
