//! A server that listens, and what its sessions are told.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use sabir_testkit::fake_model::FakeModel;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};

use super::wires::Kind;

/// Far more than any step needs; a test that waits as long has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(100);

/// Waits for something that must happen.
pub(super) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// A folder with a home and a place to work.
pub(super) struct Place {
    folder: TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.path().join("socket")
    }

    /// The program, with nothing of the environment that could change what it does.
    pub(super) fn proto(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
        command.arg("proto").arg("--home").arg(self.home()).current_dir(self.work());
        for name in ["SABIR_HOME", "SABIR_TOKEN", "SABIR_API_KEY", "http_proxy", "HTTP_PROXY"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        command
    }

    /// The submission that configures a session here.
    pub(super) fn configure(&self, model: &FakeModel, approval: &str) -> String {
        json!({ "id": "c", "op": {
            "type": "configure_session",
            "model": "m",
            "cwd": self.work(),
            "approval_policy": approval,
            "sandbox_policy": { "mode": "danger-full-access" },
            "provider": { "base_url": model.base_url(), "wire_api": "responses" },
        } })
        .to_string()
    }
}

pub(super) fn user_input(id: &str, text: &str) -> String {
    let items = json!([{ "type": "text", "text": text }]);
    json!({ "id": id, "op": { "type": "user_input", "items": items } }).to_string()
}

/// The id and the type of an event.
pub(super) fn name(line: &str) -> String {
    let event: Value = serde_json::from_str(line).unwrap();
    let id = event["id"].as_str().unwrap();
    format!("{} {}", if id.is_empty() { "-" } else { id }, event["msg"]["type"].as_str().unwrap())
}

/// A program that serves, and where.
pub(super) struct Serving {
    child: Child,
    /// Kept, so that the program can write to it.
    stderr: BufReader<ChildStderr>,
    listening: Vec<(String, String)>,
}

impl Serving {
    /// Starts a server with a listener of every kind.
    pub(super) async fn everywhere(place: &Place, more: &[&str]) -> Self {
        let socket = place.socket();
        let mut args = vec!["--unix", socket.to_str().unwrap()];
        for kind in ["--tcp", "--ws", "--http", "--grpc"] {
            args.extend([kind, "127.0.0.1:0"]);
        }
        args.extend(more);
        Self::start(place, &args, 5).await
    }

    pub(super) async fn start(place: &Place, args: &[&str], listeners: usize) -> Self {
        let mut child = place.proto().args(args).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut listening = Vec::new();
        while listening.len() < listeners {
            let mut line = String::new();
            soon("a listener", stderr.read_line(&mut line)).await.unwrap();
            let words = line.trim_end().strip_prefix("listening on ");
            let words = words.unwrap_or_else(|| panic!("it does not listen: {line:?}"));
            let (transport, address) = words.split_once(' ').unwrap();
            listening.push((transport.to_owned(), address.to_owned()));
        }
        Self { child, stderr, listening }
    }

    /// Where this is spoken: an address with its port, or a path.
    pub(super) fn address(&self, kind: Kind) -> &str {
        let name = kind.name();
        &self.listening.iter().find(|(transport, _)| transport == name).unwrap().1
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// How it ended, and what else it said.
    pub(super) async fn ended(mut self) -> (ExitStatus, String) {
        let status = soon("the program to end", self.child.wait()).await.unwrap();
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).await.unwrap();
        (status, said)
    }
}
