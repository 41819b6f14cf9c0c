//! A node whose standard error is kept, and a person at its console who writes requests by hand.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};

use crate::agents::harbor::connect;
use crate::process::{sabir, wait};

/// `sabir up`. A test that fails leaves none behind.
pub(super) struct Watched {
    child: Child,
    pub(super) address: SocketAddr,
    pub(super) said: Value,
    log: PathBuf,
}

impl Watched {
    pub(super) fn start(home: &Path, config: &str, args: &[&str], envs: &[(&str, &str)]) -> Self {
        fs::create_dir_all(home).unwrap();
        let (file, log) = (home.join("observed.toml"), home.join("stderr.log"));
        fs::write(&file, config).unwrap();
        let mut command = sabir();
        command.args(["up", "--json", "--listen", "127.0.0.1:0", "--home"]).arg(home);
        command.arg("--config").arg(&file).args(args).envs(envs.iter().copied());
        command.stdin(Stdio::null()).stderr(File::create(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            panic!("no node: {line} {}", fs::read_to_string(&log).unwrap_or_default())
        });
        let address = said["listening"][0]["address"].as_str().unwrap().parse().unwrap();
        Self { child, address, said, log }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends it in good order, and gives what it wrote on standard error.
    pub(super) fn end(mut self) -> String {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert_eq!(wait(&mut self.child), Some(0));
        fs::read_to_string(&self.log).unwrap()
    }

    pub(super) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", path, headers, "")
    }

    pub(super) fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.ask("POST", path, headers, &body.to_string())
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let (address, length) = (self.address, body.len());
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n"
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut socket = connect(address);
        socket.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut raw = String::new();
        socket.read_to_string(&mut raw).unwrap();
        let (head, body) = raw.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {raw}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(super) fn console_token(&self) -> &str {
        self.said["console"].as_str().unwrap().split_once("#token=").unwrap().1
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Both fail when it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// In lower case.
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    /// A body that is JSON, of a request that went well.
    pub(super) fn json(&self) -> Value {
        assert!(matches!(self.status, 200 | 201), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A person who is signed in to the console of a node.
pub(super) struct Person<'a> {
    node: &'a Watched,
    origin: String,
    cookie: String,
    csrf: String,
}

impl<'a> Person<'a> {
    pub(super) fn sign_in(node: &'a Watched) -> Self {
        let origin = node.url();
        let token = json!({ "token": node.console_token() });
        let answer = node.post("/api/login", &[("origin", &origin)], &token);
        let csrf = answer.json()["csrf"].as_str().unwrap().to_owned();
        let cookie = answer.head.lines().find_map(|it| it.strip_prefix("set-cookie: ")).unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { node, origin, cookie, csrf }
    }

    /// Places an order, and gives it as it stands when it has ended.
    pub(super) fn order(&self, order: &Value, headers: &[(&str, &str)]) -> Value {
        let placed = self.place(order, headers);
        assert_eq!(placed.status, 201, "{placed:?}");
        self.ended(&placed.json())
    }

    /// The same for one that may not even be taken.
    pub(super) fn try_order(&self, order: &Value) {
        let placed = self.place(order, &[]);
        if placed.status == 201 {
            self.ended(&placed.json());
        }
    }

    fn place(&self, order: &Value, headers: &[(&str, &str)]) -> Answer {
        let own = [("origin", self.origin.as_str()), ("x-sabir-csrf", &self.csrf)];
        let own = own.into_iter().chain([("cookie", self.cookie.as_str())]);
        let all: Vec<_> = own.chain(headers.iter().copied()).collect();
        self.node.post("/api/orders", &all, order)
    }

    fn ended(&self, placed: &Value) -> Value {
        let id = placed["id"].as_str().unwrap();
        // The stream of its rows says when it is over; it stays open, and is left then.
        let mut socket = connect(self.node.address);
        let Self { node, cookie, .. } = self;
        let ask = format!(
            "GET /api/orders/{id}/events HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n\r\n",
            node.address
        );
        socket.write_all(ask.as_bytes()).unwrap();
        let mut lines = BufReader::new(socket).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "event: report"), "{id} never ended");
        self.get(&format!("/api/orders/{id}"))
    }

    pub(super) fn get(&self, path: &str) -> Value {
        self.node.get(path, &[("cookie", &self.cookie)]).json()
    }
}

/// A collector of traces. It takes everything and remembers it.
pub(super) fn collector() -> FakeModel {
    FakeModel::answering(|_, _| Some(Reply::json(200, &json!({}))))
}

/// The spans that a collector was sent, each with who sent it.
pub(super) fn spans(collector: &FakeModel) -> Vec<(String, Value)> {
    let mut spans = Vec::new();
    for request in collector.requests() {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/traces"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        for resource in request.body["resourceSpans"].as_array().unwrap() {
            let attributes = resource["resource"]["attributes"].as_array().unwrap();
            let instance = attributes.iter().find(|it| it["key"] == "service.instance.id").unwrap();
            let instance = instance["value"]["stringValue"].as_str().unwrap();
            for scope in resource["scopeSpans"].as_array().unwrap() {
                let own = scope["spans"].as_array().unwrap().iter().cloned();
                spans.extend(own.map(|span| (instance.to_owned(), span)));
            }
        }
    }
    spans
}
