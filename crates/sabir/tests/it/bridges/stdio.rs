//! `sabir mcp`, asked by the published SDK for Python and line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sabir_testkit::python;
use serde_json::{Value, json};

use crate::process::{finish, sabir, wait};

/// Somebody who starts the program, and speaks with it.
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Talk {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    fn ask(&mut self, line: &Value) -> Value {
        self.say(line);
        self.hear()
    }

    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        wait(&mut self.child)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // Both fail when it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn server(home: &Path) -> Command {
    let mut command = sabir();
    command.arg("mcp").arg("--home").arg(home);
    command
}

fn call(id: u64, name: &str, arguments: Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": name, "arguments": arguments },
    })
}

fn greet(talk: &mut Talk) {
    let answer = talk.ask(&json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "by-hand", "version": "1" },
        },
    }));
    assert_eq!(answer["result"]["serverInfo"]["name"], "sabir", "{answer}");
    talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
}

/// BR-M8
#[test]
fn their_client_starts_our_program() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    for mode in ["legacy", "auto"] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/mcp_caller.py");
        let server = server(home.path());
        let mut command = Command::new(&python);
        command.arg(script).args([mode, "--"]).arg(server.get_program()).args(server.get_args());
        let mut talk = Talk::start(command);
        let who = talk.ask(&json!({ "do": "who" }));
        assert_eq!(who["ok"]["name"], "sabir", "{who}");
        let tools = talk.ask(&json!({ "do": "tools" }));
        assert_eq!(tools["ok"].as_array().unwrap().len(), 7, "{tools}");
        let text = json!({ "text": "INF(@a>@b): ok" });
        let checked = talk.ask(&json!({ "do": "call", "name": "axon_check", "arguments": text }));
        assert_eq!(checked["ok"]["structured"]["valid"], true, "{checked}");
        let task = json!({ "task": "hello", "skill": "echo" });
        let done = talk.ask(&json!({ "do": "call", "name": "run_task", "arguments": task }));
        assert_eq!(done["ok"]["structured"]["state"], "done", "{done}");
        assert!(done["ok"]["structured"]["output"].to_string().contains("hello"), "{done}");
        // One of the crew, whom the router finds by the skill.
        let check = json!({ "task": "INF(@a>@b): ok", "skill": "language.check" });
        let done = talk.ask(&json!({ "do": "call", "name": "run_task", "arguments": check }));
        assert_eq!(done["ok"]["structured"]["state"], "done", "{done}");
        assert_eq!(talk.end(), Some(0));
    }
    // What they did is in the audit.
    let mut command = sabir();
    command.args(["audit", "list", "--json", "--home"]).arg(home.path());
    let audit = finish(&mut command, &["audit", "list"], "");
    assert_eq!(audit.stdout.matches("serve.run_task").count(), 4, "{}", audit.stdout);
}

/// BR-M8: in the middle of a conversation, too.
#[test]
fn a_program_that_is_told_to_end_ends() {
    let home = tempfile::tempdir().unwrap();
    let mut talk = Talk::start(server(home.path()));
    greet(&mut talk);
    let text = json!({ "text": "INF(@a>@b): ok" });
    let checked = talk.ask(&call(1, "axon_check", text));
    assert_eq!(checked["result"]["structuredContent"]["valid"], true, "{checked}");
    let pid = rustix::process::Pid::from_child(&talk.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(wait(&mut talk.child), Some(0));
}

/// BR-M8, BR-M9, BR-M12
#[test]
fn a_home_that_is_in_use_is_named_and_tasks_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let mut first = Talk::start(server(home.path()));
    greet(&mut first);
    let task = json!({ "task": "hello", "skill": "echo" });
    let done = first.ask(&call(1, "run_task", task));
    let id = done["result"]["structuredContent"]["id"].clone();
    assert!(id.is_string(), "{done}");
    let mut second = server(home.path());
    let refused = finish(&mut second, &["mcp"], "");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("/mcp"), "{}", refused.stderr);
    assert_eq!(first.end(), Some(0));
    // Another start knows what the one before did.
    let mut again = Talk::start(server(home.path()));
    greet(&mut again);
    let seen = again.ask(&call(1, "run_task", json!({ "id": id })));
    assert_eq!(seen["result"]["structuredContent"]["state"], "done", "{seen}");
    // What is no message, and what is no call, ends nothing.
    writeln!(again.input.as_mut().unwrap(), "{{").unwrap();
    let unread = again.hear();
    assert_eq!(unread["error"]["code"], -32700, "{unread}");
    let wrong = again.ask(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/sing" }));
    assert_eq!(wrong["error"]["code"], -32601, "{wrong}");
    assert_eq!(again.end(), Some(0));
}
