//! Tools of MCP servers in sessions of the built program: offered, asked for, called, stopped.

mod server;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{sabir, wait};

/// Far more than any test needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// `sabir proto` with a configured session.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Value>,
    folder: TempDir,
}

/// Whether the configuration trusts the server.
#[derive(Clone, Copy)]
enum Trust {
    Trusted,
    Untrusted,
}

/// The section of a server that is this test program.
fn section(folder: &Path, trust: Trust) -> String {
    let program = std::env::current_exe().unwrap();
    let trusted = matches!(trust, Trust::Trusted);
    format!(
        "[mcp.small]\ncommand = [{:?}, \"--exact\", \"mcp::server::serve\", \"--nocapture\"]\n\
         env = {{ {} = {:?} }}\ntrusted = {trusted}\n",
        program.to_str().unwrap(),
        server::FOLDER,
        folder.to_str().unwrap(),
    )
}

impl Session {
    fn start(model: &FakeModel, config: impl FnOnce(&Path) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("sabir.toml"), config(folder.path())).unwrap();
        let mut child = sabir()
            .args(["proto", "--model", "m", "--base-url", &model.base_url(), "--home"])
            .arg(&home)
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, events) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let event = serde_json::from_str(&line.unwrap()).unwrap();
                if send.send(event).is_err() {
                    return;
                }
            }
        });
        let mut session = Self { child, input, events, folder };
        session.submit("c", json!({ "type": "configure_session" }));
        session
    }

    fn submit(&mut self, id: &str, op: Value) {
        let line = json!({ "id": id, "op": op });
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ask(&mut self, id: &str, text: &str) {
        let items = json!([{ "type": "text", "text": text }]);
        self.submit(id, json!({ "type": "user_input", "items": items }));
    }

    /// The next event of this type; what comes before it is handed back too.
    fn until(&self, kind: &str) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let event = self.events.recv_timeout(PATIENCE).unwrap_or_else(|_| {
                panic!("waited in vain for {kind} after {before:#?}");
            });
            if event["msg"]["type"] == kind {
                return (event["msg"].clone(), before);
            }
            before.push(event);
        }
    }

    fn wait_for_file(&self, name: &str) {
        let path = self.folder.path().join(name);
        for _ in 0..PATIENCE.as_millis() / 10 {
            if path.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{name} never came");
    }

    fn server_lives(&self) -> bool {
        let process = std::fs::read_to_string(self.folder.path().join("process")).unwrap();
        Path::new(&format!("/proc/{process}")).exists()
    }

    /// Ends the input, and waits for the end of the program.
    fn end(&mut self) {
        self.input = None;
        assert_eq!(wait(&mut self.child), Some(0));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Only a test that failed has not ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn calls(name: &str, text: &str) -> Reply {
    Reply::sse(vec![
        responses::created("r1"),
        responses::call("call1", name, &json!({ "text": text })),
        responses::completed("r1"),
    ])
}

fn says(id: &str, text: &str) -> Reply {
    Reply::sse(vec![responses::created(id), responses::message(text), responses::completed(id)])
}

fn offered(body: &Value) -> Vec<&str> {
    body["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["msg"]["type"].as_str().unwrap()).collect()
}

#[test]
fn a_tool_is_offered_asked_for_and_its_result_goes_back() {
    let model = FakeModel::start([calls("mcp__small__echo", "hello"), says("r2", "done")]);
    let mut session = Session::start(&model, |folder| section(folder, Trust::Trusted));
    session.ask("t", "use the tool");
    let (asked, _) = session.until("exec_approval_request");
    assert_eq!(asked["command"][0], "mcp__small__echo");
    assert!(session.server_lives());
    let call_id = asked["call_id"].clone();
    session.submit(
        "a",
        json!({ "type": "exec_approval", "call_id": call_id, "decision": "approved" }),
    );
    let (ended, _) = session.until("tool_call_end");
    assert_eq!((&ended["success"], &ended["output"]), (&json!(true), &json!("echo: hello")));
    session.until("task_complete");
    let requests = model.requests();
    assert!(offered(&requests[0].body).contains(&"mcp__small__echo"));
    let items = requests[1].body["input"].as_array().unwrap();
    let output = items.iter().find(|item| item["type"] == "function_call_output").unwrap();
    assert_eq!(output["output"], "echo: hello");
    session.end();
    assert!(!session.server_lives(), "the server ends with the engine");
    model.assert_done();
}

#[test]
fn what_a_trusted_server_calls_read_only_runs_without_asking() {
    let model = FakeModel::start([calls("mcp__small__peek", "x"), says("r2", "done")]);
    let mut session = Session::start(&model, |folder| section(folder, Trust::Trusted));
    session.ask("t", "use the tool");
    let (_, before) = session.until("task_complete");
    assert!(!kinds(&before).contains(&"exec_approval_request"), "{before:#?}");
    assert!(kinds(&before).contains(&"tool_call_end"), "{before:#?}");
    session.end();
}

#[test]
fn what_another_server_calls_read_only_is_asked_for() {
    let model = FakeModel::start([calls("mcp__small__peek", "x"), says("r2", "done")]);
    let mut session = Session::start(&model, |folder| section(folder, Trust::Untrusted));
    session.ask("t", "use the tool");
    let (asked, _) = session.until("exec_approval_request");
    let call_id = asked["call_id"].clone();
    session
        .submit("a", json!({ "type": "exec_approval", "call_id": call_id, "decision": "denied" }));
    session.until("task_complete");
    session.end();
}

#[test]
fn an_interrupt_withdraws_the_call() {
    let model = FakeModel::start([calls("mcp__small__hang", "x")]);
    let mut session = Session::start(&model, |folder| section(folder, Trust::Trusted));
    session.ask("t", "use the tool");
    session.wait_for_file("hangs");
    session.submit("i", json!({ "type": "interrupt" }));
    let (error, _) = session.until("error");
    assert_eq!(error["message"], "interrupted");
    session.wait_for_file("cancelled");
    session.end();
}

#[test]
fn a_server_that_does_not_start_is_told_of_and_the_session_works() {
    let model = FakeModel::start([says("r1", "hello")]);
    let config = |_: &Path| "[mcp.gone]\ncommand = [\"/no/such/program\"]\n".to_owned();
    let mut session = Session::start(&model, config);
    let (_, before) = session.until("session_configured");
    assert!(before.is_empty(), "{before:#?}");
    let (warning, _) = session.until("warning");
    let words = warning["message"].as_str().unwrap();
    assert!(words.contains("gone") && words.contains("did not start"), "{words}");
    session.ask("t", "hello");
    let (done, _) = session.until("task_complete");
    assert_eq!(done["last_agent_message"], "hello");
    session.end();
}

#[test]
fn a_new_tool_is_offered_from_the_next_turn_on() {
    let model = FakeModel::start([
        calls("mcp__small__peek", "grow"),
        says("r2", "it grew"),
        says("r3", "I see it"),
    ]);
    let mut session = Session::start(&model, |folder| section(folder, Trust::Trusted));
    session.ask("t", "use the tool");
    session.until("task_complete");
    // The server has said that its list changed; it is asked for the new one meanwhile.
    loop {
        session.submit("l", json!({ "type": "list_tools" }));
        let (tools, _) = session.until("tools");
        let tools = tools["tools"].as_array().unwrap();
        if tools.iter().any(|tool| tool["name"] == "mcp__small__grown") {
            break;
        }
    }
    session.ask("u", "and now?");
    session.until("task_complete");
    let requests = model.requests();
    assert!(!offered(&requests[0].body).contains(&"mcp__small__grown"));
    assert!(offered(&requests[2].body).contains(&"mcp__small__grown"));
    session.end();
}

#[test]
fn commands_without_a_session_start_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("sabir.toml"), section(folder.path(), Trust::Trusted)).unwrap();
    let home = home.to_str().unwrap();
    let listed = crate::process::run(&["sessions", "--home", home], "");
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let served = crate::process::run(&["proto", "--home", home], "");
    assert_eq!(served.code, 0, "{}", served.stderr);
    assert!(!folder.path().join("process").exists());
}
