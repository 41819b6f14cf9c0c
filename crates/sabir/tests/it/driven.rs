//! An engine in a process of its own, driven over its pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{sabir, wait};

/// `sabir proto`. A test that fails leaves none behind.
pub(crate) struct Driven {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// Far more than any line needs.
const PATIENCE: Duration = Duration::from_secs(60);

impl Driven {
    pub(crate) fn start(home: &Path) -> Self {
        let mut command = sabir();
        command.args(["proto", "--home"]).arg(home).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // A single line ahead: a test that does not read must be felt.
        let (sender, lines) = sync_channel(1);
        std::thread::spawn(move || {
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                // The last one may have been cut off in the middle.
                let Some(whole) = line.strip_suffix('\n') else { break };
                if sender.send(whole.to_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        });
        Self { child, input, lines }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn submit(&mut self, id: &str, op: Value) {
        let line = json!({ "id": id, "op": op }).to_string() + "\n";
        // A killed engine does not listen, and that is what some tests are about.
        let _ = self.input.as_mut().unwrap().write_all(line.as_bytes());
    }

    /// The next line, or nothing at the end.
    pub(crate) fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came for {PATIENCE:?}"),
        }
    }

    pub(crate) fn event(&mut self) -> Option<Value> {
        self.line().map(|line| serde_json::from_str(&line).unwrap())
    }

    /// The first event of this kind under this id, and everything before it.
    pub(crate) fn until(&mut self, id: &str, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        while let Some(event) = self.event() {
            let found = event["id"] == id && event["msg"]["type"] == kind;
            seen.push(event);
            if found {
                return seen;
            }
        }
        let end = seen.len().saturating_sub(5);
        panic!("the engine ended before {kind} of {id}; last: {:#?}", &seen[end..]);
    }

    /// SIGKILL; what was on its way is returned.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.line()).collect()
    }

    /// Says that there is no more, and waits for the end.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        while self.line().is_some() {}
        assert_eq!(wait(&mut self.child), Some(0));
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        // Both fail when it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn configure(base_url: &str, cwd: &Path, sandbox: &str) -> Value {
    json!({
        "type": "configure_session", "model": "m", "cwd": cwd, "approval_policy": "never",
        "sandbox_policy": { "mode": sandbox },
        "provider": { "base_url": base_url, "wire_api": "responses" },
    })
}

pub(crate) fn user_input(text: &str) -> Value {
    json!({ "type": "user_input", "items": [{ "type": "text", "text": text }] })
}
