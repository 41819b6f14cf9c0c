//! A node in a process of its own, and somebody on this machine who writes messages by hand.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sabir_ldp::{Stamp, Timestamp};
use serde_json::{Value, json};

use crate::process::{Outcome, finish, sabir, wait};

/// Who the node is, in every test.
pub(crate) const NODE: &str = "ldp:delegate:harbor";

/// On this machine, at a port that is free.
const ANYWHERE: &str = "127.0.0.1:0";

/// Far more than any answer needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// `sabir up`. A test that fails leaves none behind.
pub(crate) struct Node {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) home: PathBuf,
    /// What it said when it was up.
    pub(crate) said: Value,
}

impl Node {
    /// Starts a node with these sections of a configuration besides `[node]`.
    pub(crate) fn start(home: &Path, sections: &str) -> Self {
        Self::start_with(home, sections, &[])
    }

    pub(crate) fn start_named(home: &Path, name: &str, sections: &str) -> Self {
        Self::start_at(home, (name, ANYWHERE), sections, &[], &[])
    }

    pub(crate) fn start_with(home: &Path, sections: &str, envs: &[(&str, &str)]) -> Self {
        Self::start_at(home, (NODE, ANYWHERE), sections, &[], envs)
    }

    /// With more on the command line.
    pub(crate) fn start_told(
        home: &Path,
        sections: &str,
        args: &[&str],
        envs: &[(&str, &str)],
    ) -> Self {
        Self::start_at(home, (NODE, ANYWHERE), sections, args, envs)
    }

    /// With a name, and at an address.
    pub(crate) fn start_at(
        home: &Path,
        (name, listen): (&str, &str),
        sections: &str,
        args: &[&str],
        envs: &[(&str, &str)],
    ) -> Self {
        let config = home.join("harbor.toml");
        let text = format!("[node]\ndelegate_id = {name:?}\n{sections}");
        fs::write(&config, text).unwrap();
        let mut command = sabir();
        command.args(["up", "--json", "--listen", listen, "--home"]).arg(home);
        command.args(args);
        command.arg("--config").arg(&config).stdin(Stdio::null()).stderr(Stdio::inherit());
        let mut child = command.envs(envs.iter().copied()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no node: {line}"));
        let address = said["listening"][0]["address"].as_str().unwrap().parse().unwrap();
        Self { child, address, home: home.to_owned(), said }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, in good order.
    pub(crate) fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert_eq!(wait(&mut self.child), Some(0));
    }

    /// Posts a message and reads the answer; the status must be 200.
    pub(crate) fn send(&self, message: &Value) -> Value {
        let answer = post(self.address, "/ldp/messages", &message.to_string());
        assert_eq!(answer.status, 200, "{message}\n{}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// The memory that the process has, in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kib * 1024
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Both fail when it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `sabir ARGS`, with a home of its own.
pub(crate) fn run_at(home: &Path, args: &[&str]) -> Outcome {
    let mut command = sabir();
    command.env("SABIR_HOME", home).args(args);
    finish(&mut command, args, "")
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

pub(crate) fn post(address: SocketAddr, path: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    exchange(address, &[head.as_bytes(), body.as_bytes()].concat())
}

/// Writes these bytes and reads until the server hangs up.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut socket = connect(address);
    // A server that refuses early does not read the rest.
    let _ = socket.write_all(bytes);
    let mut raw = Vec::new();
    let _ = socket.read_to_end(&mut raw);
    let text = String::from_utf8_lossy(&raw);
    let status = text.split(' ').nth(1).and_then(|it| it.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no answer: {text}"));
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
    Answer { status, body }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// A message that is not signed, of now, with an id that nobody used.
pub(crate) fn message(from: &str, session: &str, body: Value) -> Value {
    json!({
        "message_id": fresh("m"), "session_id": session, "from": from, "to": NODE,
        "timestamp": stamp(0), "payload_mode": "text", "body": body,
    })
}

pub(crate) fn submit(task: &str, skill: &str, input: impl Into<Value>) -> Value {
    json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": skill, "input": input.into() })
}

/// Opens a session and gives its id.
pub(crate) fn open(node: &Node, from: &str, config: Value) -> String {
    let proposal = json!({ "type": "SESSION_PROPOSE", "config": config });
    let answer = node.send(&message(from, "", proposal));
    assert_eq!(answer["body"]["type"], "SESSION_ACCEPT", "{answer}");
    answer["body"]["session_id"].as_str().unwrap().to_owned()
}

/// A session for texts.
pub(crate) fn open_for_text(node: &Node, from: &str) -> String {
    open(node, from, json!({ "preferred_payload_modes": ["text"], "trust_domain": "default" }))
}

/// The time, so many seconds from now.
pub(crate) fn stamp(offset_secs: i64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let millis = i64::try_from(now.as_millis()).unwrap() + offset_secs * 1000;
    Stamp::from(Timestamp::from_millis(millis.try_into().unwrap())).text
}

/// An id that nobody else has.
pub(crate) fn fresh(prefix: &str) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}-{}-{number}", std::process::id())
}

/// A skill that writes down every input that it is given, and gives it back.
pub(crate) fn logging_skill(log: &Path) -> String {
    let script = format!("x=$(cat); echo \"$x\" >> '{}'; echo \"$x\"", log.display());
    format!("[[skills]]\nname = \"log\"\nrun = [\"sh\", \"-c\", {}]\n", Value::from(script))
}

pub(crate) fn logged(log: &Path) -> Vec<String> {
    fs::read_to_string(log).unwrap_or_default().lines().map(str::to_owned).collect()
}
