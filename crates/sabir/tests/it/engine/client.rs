//! A program that drives `sabir proto`: it sends lines, waits for events, and leaves no process
//! behind.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sabir_testkit::fake_model::FakeModel;
use serde_json::{Value, json};

use super::place::Place;

/// Far more than any test needs, even on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// What says nothing about the order of things, and is left out of transcripts.
pub(super) const UNIMPORTANT: [&str; 6] = [
    "agent_message_delta",
    "agent_reasoning_delta",
    "background_event",
    "exec_command_output_delta",
    "token_count",
    "turn_diff",
];

pub(super) struct Client {
    pub(super) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// Every event so far.
    pub(super) seen: Vec<Value>,
    next_id: u64,
}

impl Client {
    /// A program that has been sent nothing.
    pub(super) fn start(place: &Place) -> Self {
        Self::spawn(&mut place.command(&["proto"]))
    }

    pub(super) fn spawn(command: &mut std::process::Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, stderr: Some(stderr), seen: Vec::new(), next_id: 1 }
    }

    /// A program with a session that talks to this model.
    pub(super) fn open(place: &Place, model: &FakeModel) -> Self {
        Self::open_with(place, model, &json!({}))
    }

    /// The same, with other settings.
    pub(super) fn open_with(place: &Place, model: &FakeModel, settings: &Value) -> Self {
        let mut client = Self::start(place);
        client.configure("c", &settings_for(place, model, settings));
        client
    }

    /// Configures the session and returns its name.
    pub(super) fn configure(&mut self, id: &str, settings: &Value) -> String {
        let mut op = settings.clone();
        op["type"] = json!("configure_session");
        self.send(id, &op);
        let event = self.until(id, "session_configured");
        event["msg"]["session_id"].as_str().unwrap().to_owned()
    }

    pub(super) fn send(&mut self, id: &str, op: &Value) {
        self.send_line(json!({ "id": id, "op": op }).to_string());
    }

    pub(super) fn send_line(&mut self, line: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_ref()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// What a person says, and what else the submission holds.
    pub(super) fn say_with(&mut self, id: &str, text: &str, more: &Value) {
        let mut op = json!({ "type": "user_input", "items": [{ "type": "text", "text": text }] });
        for (key, value) in more.as_object().unwrap() {
            op[key] = value.clone();
        }
        self.send(id, &op);
    }

    pub(super) fn say(&mut self, id: &str, text: &str) {
        self.say_with(id, text, &json!({ "last_response_id": null }));
    }

    pub(super) fn decide(&mut self, id: &str, call_id: &str, decision: &str) {
        self.send(
            id,
            &json!({ "type": "exec_approval", "call_id": call_id, "decision": decision }),
        );
    }

    pub(super) fn interrupt(&mut self) {
        self.send("interrupt", &json!({ "type": "interrupt" }));
    }

    /// Sends an op and returns the first event with its id.
    pub(super) fn ask(&mut self, op: &Value) -> Value {
        let id = format!("ask-{}", self.next_id);
        self.next_id += 1;
        self.send(&id, op);
        self.wait(&id, |event| event["id"] == id.as_str())
    }

    /// Waits for an event of a task.
    pub(super) fn until(&mut self, id: &str, kind: &str) -> Value {
        self.wait(&format!("{kind} of {id}"), |event| {
            event["id"] == id && event["msg"]["type"] == kind
        })
    }

    /// Waits for the end of a task, and returns its last event.
    pub(super) fn until_over(&mut self, id: &str) -> Value {
        self.wait(&format!("the end of {id}"), |event| {
            let kind = event["msg"]["type"].as_str().unwrap();
            event["id"] == id && matches!(kind, "task_complete" | "error")
        })
    }

    /// Waits for an event that was not waited for before.
    pub(super) fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(error) => {
                    let why = match error {
                        RecvTimeoutError::Timeout => "did not come",
                        RecvTimeoutError::Disconnected => "did not come before the end",
                    };
                    panic!("{what} {why}; what came:\n{}", self.all());
                }
            };
            let event: Value = serde_json::from_str(&line).unwrap();
            self.seen.push(event.clone());
            if wanted(&event) {
                return event;
            }
        }
    }

    /// Ends the input, and waits until the program has ended well. Returns what it wrote to
    /// standard error.
    pub(super) fn close(&mut self) -> String {
        drop(self.stdin.take());
        self.until_exit(Some(0))
    }

    /// Waits until the program has ended so.
    pub(super) fn until_exit(&mut self, code: Option<i32>) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.seen.push(serde_json::from_str(&line).unwrap()),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the program did not end; what came:\n{}", self.all())
                }
            }
        }
        assert_eq!(crate::process::wait(&mut self.child), code);
        let stderr = self.stderr.take().unwrap().join().unwrap();
        assert!(!stderr.contains("panicked"), "{stderr}");
        stderr
    }

    /// Kills the program as nothing can be prepared for.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.until_exit(None);
    }

    /// The most memory that the program ever had.
    pub(super) fn most_memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// The events of a kind.
    pub(super) fn all_of(&self, kind: &str) -> Vec<&Value> {
        self.seen.iter().filter(|event| event["msg"]["type"] == kind).collect()
    }

    /// What came, a line each, without what is unimportant.
    pub(super) fn transcript(&self) -> String {
        let important = |event: &&Value| {
            !UNIMPORTANT.contains(&event["msg"]["type"].as_str().unwrap_or_default())
        };
        self.seen.iter().filter(important).map(in_one_line).collect()
    }

    fn all(&self) -> String {
        self.seen.iter().map(|event| format!("{event}\n")).collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Settings that most tests use, with some of them replaced.
pub(super) fn settings_for(place: &Place, model: &FakeModel, settings: &Value) -> Value {
    let mut all = json!({
        "model": "m",
        "cwd": place.work,
        "approval_policy": "on-request",
        "sandbox_policy": { "mode": "workspace-write" },
        "provider": { "base_url": model.base_url(), "wire_api": "responses" },
    });
    for (key, value) in settings.as_object().unwrap() {
        match (&mut all[key], value) {
            (Value::Object(all), Value::Object(some)) => all.extend(some.clone()),
            (place, value) => *place = value.clone(),
        }
    }
    all
}

fn in_one_line(event: &Value) -> String {
    let msg = &event["msg"];
    let mut line = format!("{} {}", event["id"].as_str().unwrap(), msg["type"].as_str().unwrap());
    for key in ["call_id", "exit_code", "success", "message", "response_id", "reason"] {
        // Why something is asked is worded elsewhere.
        if msg["type"] == "exec_approval_request" && key == "reason" {
            continue;
        }
        if let Some(value) = msg.get(key) {
            line.push_str(&format!(" {key}={value}"));
        }
    }
    line + "\n"
}
