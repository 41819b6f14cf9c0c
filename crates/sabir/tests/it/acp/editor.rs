//! An editor that speaks the Agent Client Protocol, line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sabir_testkit::fake_model::FakeModel;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{sabir, wait};

/// A test that waits as long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home, a workspace, and a model.
pub(super) struct World {
    pub(super) model: FakeModel,
    folder: TempDir,
}

impl World {
    pub(super) fn new(model: FakeModel) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { model, folder }
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join("work").canonicalize().unwrap()
    }

    /// Starts an editor, and gets acquainted.
    pub(super) fn editor(&self, args: &[&str]) -> Editor {
        let mut editor = Editor::start(&self.home(), &self.model.base_url(), args);
        let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        editor.ask("initialize", params);
        editor
    }
}

/// The editor's side of the wire.
pub(super) struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    next_id: u64,
    /// What came, in its order.
    pub(super) came: Vec<Value>,
}

impl Editor {
    pub(super) fn start(home: &Path, base_url: &str, args: &[&str]) -> Self {
        let mut command = sabir();
        command.args(["acp", "--model", "m", "--base-url", base_url, "--home"]).arg(home);
        let mut child = command.args(args).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let input = child.stdin.take();
        Self { child, input, lines, stderr: Some(stderr), next_id: 0, came: Vec::new() }
    }

    pub(super) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Sends a request. Returns its id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Waits for the next message, which must be JSON-RPC.
    pub(super) fn next(&mut self) -> Value {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(error) => panic!("{error}; what came: {:#?}", self.came),
        };
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("not of the protocol: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        self.came.push(message.clone());
        message
    }

    /// Waits for a message that the function finds.
    pub(super) fn wait_for(&mut self, mut is_it: impl FnMut(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Waits for the answer to a request: its result, or its error.
    pub(super) fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        let earlier = self.came.iter().find(|message| is_it(message)).cloned();
        let answer = earlier.unwrap_or_else(|| self.wait_for(is_it));
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Asks, and takes the answer that is no error.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    pub(super) fn new_session(&mut self, cwd: &Path) -> String {
        let answer = self.ask("session/new", json!({ "cwd": cwd, "mcpServers": [] }));
        answer["sessionId"].as_str().unwrap().to_owned()
    }

    pub(super) fn prompt(&mut self, session: &str, words: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": words }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Prompts, and waits for the stop reason.
    pub(super) fn say(&mut self, session: &str, words: &str) -> String {
        let id = self.prompt(session, words);
        self.stop_reason(id)
    }

    pub(super) fn stop_reason(&mut self, id: u64) -> String {
        let answer = self.answer(id).unwrap_or_else(|error| panic!("the prompt failed: {error}"));
        answer["stopReason"].as_str().unwrap().to_owned()
    }

    pub(super) fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({ "sessionId": session }));
    }

    /// Waits for a question, and returns it with its id.
    pub(super) fn question(&mut self) -> Value {
        self.wait_for(|message| message["method"] == "session/request_permission")
    }

    /// Answers a question with the option of a kind.
    pub(super) fn choose(&mut self, question: &Value, kind: &str) {
        let options = question["params"]["options"].as_array().unwrap();
        let option = options.iter().find(|option| option["kind"] == kind).unwrap();
        let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
        self.reply(question, &outcome);
    }

    pub(super) fn reply(&mut self, question: &Value, outcome: &Value) {
        let result = json!({ "outcome": outcome });
        self.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    }

    /// The updates of a session, so far.
    pub(super) fn updates(&self, session: &str) -> Vec<Value> {
        let updates = self.came.iter().filter(|message| message["method"] == "session/update");
        updates
            .filter(|message| message["params"]["sessionId"] == session)
            .map(|message| message["params"]["update"].clone())
            .collect()
    }

    /// The text of all chunks of a kind.
    pub(super) fn chunks(&self, session: &str, kind: &str) -> String {
        let updates = self.updates(session);
        let chunks = updates.iter().filter(|update| update["sessionUpdate"] == kind);
        chunks.filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// Everything that was told of a call: its first form, with the later ones laid over it.
    pub(super) fn call(&self, session: &str, id: &str) -> Value {
        let mut call = Value::Null;
        for update in self.updates(session) {
            if update["toolCallId"] != id {
                continue;
            }
            match update["sessionUpdate"].as_str() {
                Some("tool_call") => {
                    assert!(call.is_null(), "{id} was begun twice");
                    call = update;
                }
                Some("tool_call_update") => {
                    let call = call.as_object_mut().unwrap_or_else(|| panic!("{id} is unknown"));
                    for (key, value) in update.as_object().unwrap() {
                        call.insert(key.clone(), value.clone());
                    }
                }
                kind => panic!("{kind:?}"),
            }
        }
        call
    }

    /// Closes the input, and waits for the end. Returns the exit code and what was said beside.
    pub(super) fn leave(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let code = wait(&mut self.child);
        (code, self.stderr.take().unwrap().join().unwrap())
    }

    /// Ends the program without a chance to do anything.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The texts of a call's content, joined.
pub(super) fn text(call: &Value) -> String {
    let content = call["content"].as_array().cloned().unwrap_or_default();
    let texts = content.iter().filter_map(|part| part["content"]["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
