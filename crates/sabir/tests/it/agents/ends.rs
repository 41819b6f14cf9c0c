//! A node that is told to end, or is killed, while tasks run: what would be lost is waited for, what
//! lasts goes on with the next start, and nothing is done twice.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::harbor::{NODE, fresh, logged, stamp};
use crate::process::{sabir, wait};

const FROM: &str = "ldp:delegate:caller";

/// `sabir up` that is listened to. A test that fails leaves none behind.
struct Node {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Node {
    fn start(home: &Path, sections: &str, args: &[&str]) -> Self {
        Self::start_by(sabir(), home, sections, args)
    }

    /// By a command that the words of the node are added to.
    fn start_by(mut command: Command, home: &Path, sections: &str, args: &[&str]) -> Self {
        let config = home.join("harbor.toml");
        fs::write(&config, format!("[node]\ndelegate_id = {NODE:?}\n{sections}")).unwrap();
        command.args(["up", "--json", "--listen", "127.0.0.1:0", "--home"]).arg(home);
        command.args(args).arg("--config").arg(&config).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut why = String::new();
            child.stderr.take().map(|mut it| it.read_to_string(&mut why));
            panic!("no node: {line}{why}")
        });
        let address = said["listening"][0]["address"].as_str().unwrap().parse().unwrap();
        Self { child, stderr, address }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until it says this.
    fn until(&mut self, words: &str) -> String {
        let mut said = String::new();
        loop {
            let start = said.len();
            assert_ne!(self.stderr.read_line(&mut said).unwrap(), 0, "no {words:?} in: {said}");
            if said[start..].contains(words) {
                return said[start..].to_owned();
            }
        }
    }

    /// The exit code, and what else it said.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (wait(&mut self.child), said)
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn ask(&self, to: &str, session: &str, body: &Value) -> Value {
        send(self.address, to, session, body).unwrap()
    }

    fn open(&self, to: &str) -> String {
        let config = json!({ "preferred_payload_modes": ["text"], "trust_domain": "default" });
        let opened = self.ask(to, "", &json!({ "type": "SESSION_PROPOSE", "config": config }));
        opened["session_id"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Both fail when it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of the answer, if there was one. `to` is a delegate of the node; its own has no name.
fn send(address: SocketAddr, to: &str, session: &str, body: &Value) -> Option<Value> {
    let (id, path) = match to {
        "" => (NODE.to_owned(), "/ldp/messages".to_owned()),
        name => (format!("{NODE}-{name}"), format!("/delegates/{name}/ldp/messages")),
    };
    let message = json!({
        "message_id": fresh("m"), "session_id": session, "from": FROM, "to": id,
        "timestamp": stamp(0), "payload_mode": "text", "body": body,
    });
    let text = message.to_string();
    let mut socket = TcpStream::connect(address).ok()?;
    write!(
        socket,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    )
    .ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    let answer: Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    Some(answer["body"].clone())
}

fn submit(task: &str, skill: &str) -> Value {
    json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": skill, "input": "do it" })
}

/// Files are how programs of these tests and the tests tell each other where they are.
fn until_there(path: &Path) {
    for _ in 0..12_000 {
        if path.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{} did not come", path.display());
}

/// A program that says that it runs, and goes on when it may.
fn slow(home: &Path, more: &str) -> String {
    let home = home.display();
    let script = format!(
        "echo begun >> '{home}/log'; touch '{home}/running'; \
         while [ ! -e '{home}/go' ]; do sleep 0.05; done; echo done"
    );
    format!("[[skills]]\nname = \"slow\"\nrun = [\"sh\", \"-c\", {script:?}]\n{more}")
}

#[test]
fn ctrl_c_waits_for_a_program_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let mut node = Node::start(home.path(), &slow(home.path(), ""), &["--drain", "600"]);
    let session = node.open("");
    let address = node.address;
    let asking = thread::spawn(move || send(address, "", &session, &submit("t-1", "slow")));
    until_there(&home.path().join("running"));
    node.signal(Signal::INT);
    let said = node.until("waiting up to");
    assert!(said.contains("600 s for 1 task (slow); Ctrl-C again to stop now"), "{said}");
    fs::write(home.path().join("go"), "").unwrap();
    let answer = asking.join().unwrap().unwrap();
    assert_eq!(answer["output"], "done\n", "{answer}");
    let (code, said) = node.ended();
    assert_eq!(code, Some(130), "{said}");
    assert!(!said.contains("INTERRUPTED"), "{said}");
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let home = tempfile::tempdir().unwrap();
    let skill = slow(home.path(), "");
    let mut node = Node::start(home.path(), &skill, &["--drain", "600"]);
    let session = node.open("");
    let (address, name) = (node.address, session.clone());
    let asking = thread::spawn(move || send(address, "", &name, &submit("t-1", "slow")));
    until_there(&home.path().join("running"));
    node.signal(Signal::INT);
    node.until("Ctrl-C again");
    node.signal(Signal::INT);
    assert_eq!(node.ended().0, Some(130));
    assert_eq!(asking.join().unwrap(), None);
    // Nobody knows how far it came, and it does not say that it may be repeated.
    let node = Node::start(home.path(), &skill, &[]);
    let told = node.ask("", &session, &submit("t-1", "slow"));
    assert_eq!(told["error"]["code"], "INTERRUPTED", "{told}");
    assert_eq!(logged(&home.path().join("log")), ["begun"]);
}

#[test]
fn the_wait_is_bounded_and_what_is_cut_off_is_told() {
    let home = tempfile::tempdir().unwrap();
    let config = format!("[serve]\ndrain_secs = 0\n{}", slow(home.path(), ""));
    let node = Node::start(home.path(), &config, &[]);
    let session = node.open("");
    let address = node.address;
    let asking = thread::spawn(move || send(address, "", &session, &submit("t-1", "slow")));
    until_there(&home.path().join("running"));
    node.signal(Signal::TERM);
    let (code, said) = node.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 task is ended before being done"), "{said}");
    let answer = asking.join().unwrap().unwrap();
    assert_eq!(answer["error"]["code"], "INTERRUPTED", "{answer}");
}

/// LD-N21: whoever says that doing it twice does no harm has it done again.
#[test]
fn a_program_that_may_be_repeated_is_begun_again() {
    let home = tempfile::tempdir().unwrap();
    let skill = slow(home.path(), "repeatable = true\n");
    let node = Node::start(home.path(), &skill, &[]);
    let session = node.open("");
    let (address, name) = (node.address, session.clone());
    let asking = thread::spawn(move || send(address, "", &name, &submit("t-1", "slow")));
    until_there(&home.path().join("running"));
    node.kill();
    assert_eq!(asking.join().unwrap(), None);
    fs::write(home.path().join("go"), "").unwrap();
    let mut node = Node::start(home.path(), &skill, &[]);
    node.until("tasks that go on from before: 1");
    let told = node.ask("", &session, &submit("t-1", "slow"));
    assert_eq!(told["output"], "done\n", "{told}");
    assert_eq!(logged(&home.path().join("log")), ["begun", "begun"]);
    node.signal(Signal::TERM);
    assert_eq!(node.ended().0, Some(0));
    // It is over, and stays so.
    let node = Node::start(home.path(), &skill, &[]);
    assert_eq!(node.ask("", &session, &submit("t-1", "slow"))["output"], "done\n");
    assert_eq!(logged(&home.path().join("log")).len(), 2);
}

/// The coder, with a model that calls two commands: one that ends, and one that waits for ever.
struct Work {
    home: tempfile::TempDir,
    model: FakeModel,
    session: String,
}

const CODER: &str = "[crew.coder]\nsandbox = \"danger-full-access\"\n";

impl Work {
    /// Starts a node, and gives it a task that is in the middle of its second command.
    fn begin() -> (Self, Node) {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().display();
        let shell = |call: &str, script: &str| {
            responses::call(call, "shell", &json!({ "command": ["sh", "-c", script] }))
        };
        let model = FakeModel::start([
            Reply::sse([
                shell("call-1", &format!("echo one >> '{place}/log'")),
                responses::completed("r-1"),
            ]),
            Reply::sse([
                shell(
                    "call-2",
                    &format!(
                        "echo two >> '{place}/log'; touch '{place}/running'; \
                         while true; do sleep 0.05; done"
                    ),
                ),
                responses::completed("r-2"),
            ]),
            Reply::sse([responses::message("both are there"), responses::completed("r-3")]),
        ]);
        let work = Self { home, model, session: String::new() };
        let node = work.start();
        let session = node.open("coder");
        let (address, name) = (node.address, session.clone());
        // Nobody hears the answer: the node ends first.
        thread::spawn(move || send(address, "coder", &name, &submit("t-1", "code")));
        until_there(&work.home.path().join("running"));
        (Self { session, ..work }, node)
    }

    fn start(&self) -> Node {
        let base_url = self.model.base_url();
        Node::start(self.home.path(), CODER, &["--base-url", &base_url, "--model", "m"])
    }

    /// The next start goes on: the same task, its session, and nothing twice.
    fn goes_on(self) {
        let mut node = self.start();
        node.until("tasks that go on from before: 1");
        let told = node.ask("coder", &self.session, &submit("t-1", "code"));
        assert_eq!(told["output"], "both are there", "{told}");
        assert_eq!(logged(&self.home.path().join("log")), ["one", "two"]);
        let last = &self.model.requests()[2].body;
        let input = last["input"].as_array().unwrap();
        let output = |call: &str| {
            let is_output =
                |it: &&Value| it["type"] == "function_call_output" && it["call_id"] == call;
            input.iter().find(is_output).unwrap_or_else(|| panic!("{last}"))["output"].to_string()
        };
        assert!(
            output("call-1").contains("\\\"exit_code\\\":0")
                || !output("call-1").contains("aborted")
        );
        assert!(output("call-2").contains("aborted"), "{last}");
        let said = input.last().unwrap().to_string();
        assert!(said.contains("was stopped in the middle of this task"), "{said}");
        self.model.assert_done();
        // Asked once more, it is told and not done.
        let told = node.ask("coder", &self.session, &submit("t-1", "code"));
        assert_eq!(told["output"], "both are there", "{told}");
        node.signal(Signal::TERM);
        assert_eq!(node.ended().0, Some(0));
    }
}

/// LD-N21, OR-8: work of an agent is in the journal, and goes on from there.
#[test]
fn an_agent_that_was_killed_goes_on() {
    let (work, node) = Work::begin();
    node.kill();
    work.goes_on();
}

#[test]
fn an_agent_that_was_stopped_goes_on() {
    let (work, mut node) = Work::begin();
    node.signal(Signal::INT);
    node.until("1 task goes on with the next start");
    let (code, said) = node.ended();
    assert_eq!(code, Some(130), "{said}");
    assert!(!said.contains("waiting up to"), "{said}");
    work.goes_on();
}

/// A question that was open is put again, and what was approved for the session need not be.
#[test]
fn a_question_that_was_open_is_asked_again() {
    let home = tempfile::tempdir().unwrap();
    let remove = |call: &str| {
        responses::call(call, "shell", &json!({ "command": ["rm", "-rf", "nothing-of-this-name"] }))
    };
    let model = FakeModel::start([
        Reply::sse([remove("call-1"), responses::completed("r-1")]),
        Reply::sse([remove("call-2"), responses::completed("r-2")]),
        Reply::sse([responses::message("removed"), responses::completed("r-3")]),
    ]);
    let base_url = model.base_url();
    let args = ["--base-url", base_url.as_str(), "--model", "m"];
    let node = Node::start(home.path(), CODER, &args);
    let session = node.open("coder");
    let address = node.address;
    let name = session.clone();
    thread::spawn(move || send(address, "coder", &name, &submit("t-1", "code")));
    let token = fs::read_to_string(home.path().join("console.token")).unwrap();
    let waiting = matter(node.address, token.trim());
    assert!(waiting["what"].as_str().unwrap().contains("rm -rf"), "{waiting}");
    node.signal(Signal::INT);
    assert_eq!(node.ended().0, Some(130));
    let node = Node::start(home.path(), CODER, &args);
    let asking = {
        let (address, name) = (node.address, session.clone());
        thread::spawn(move || send(address, "coder", &name, &submit("t-1", "code")))
    };
    let waiting = matter(node.address, token.trim());
    let request = model.requests()[1].body.to_string();
    assert!(request.contains("aborted") && !request.contains("denied"), "{request}");
    decide(node.address, token.trim(), &waiting["id"]);
    let told = asking.join().unwrap().unwrap();
    assert_eq!(told["output"], "removed", "{told}");
    node.signal(Signal::TERM);
    assert_eq!(node.ended().0, Some(0));
}

/// One request of the console; the cookie and the word against forgery are those of a new session.
fn console(address: SocketAddr, token: &str, method: &str, path: &str, body: &Value) -> Value {
    let request = |head: &str, method: &str, path: &str, body: &str| {
        let mut socket = TcpStream::connect(address).unwrap();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\n{head}\
             content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    };
    let (head, body_of_login) =
        request("", "POST", "/api/login", &json!({ "token": token }).to_string());
    let cookie = head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .and_then(|line| line.split(';').next())
        .unwrap_or_else(|| panic!("{head}"));
    let login: Value = serde_json::from_str(&body_of_login).unwrap();
    let csrf = login["csrf"].as_str().unwrap();
    let head = format!("cookie: {cookie}\r\nx-sabir-csrf: {csrf}\r\n");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (_, answer) = request(&head, method, path, &body);
    serde_json::from_str(&answer).unwrap_or_default()
}

/// The only matter that waits for a person, once it does.
fn matter(address: SocketAddr, token: &str) -> Value {
    for _ in 0..2_000 {
        let inbox = console(address, token, "GET", "/api/inbox", &Value::Null);
        if let Some(matter) = inbox["matters"].get(0) {
            return matter.clone();
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("nothing waits");
}

fn decide(address: SocketAddr, token: &str, id: &Value) {
    let path = format!("/api/inbox/{id}");
    console(address, token, "POST", &path, &json!({ "decision": "approve" }));
}

/// LD-N6: a limit for the size of files is like a full disk, and kills nobody.
#[test]
fn a_file_that_may_not_grow_is_like_a_full_disk() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 4000; exec \"$0\" \"$@\""]).arg(sabir().get_program());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut node = Node::start_by(command, home.path(), "", &[]);
    let session = node.open("");
    let echo = |number: usize| {
        let (task, input) = (format!("t-{number}"), "x".repeat(100_000));
        json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": "echo", "input": input })
    };
    let answers = (0..200).map(|number| node.ask("", &session, &echo(number)));
    let refused = answers.into_iter().find(|answer| answer["type"] != "TASK_RESULT").unwrap();
    assert_eq!(refused["error"]["code"], "NODE_UNAVAILABLE", "{refused}");
    node.until("nothing can be written down any more");
    // It is still there to say so, and ends when it is told to.
    let refused = node.ask("", &session, &echo(1000));
    assert_eq!(refused["error"]["code"], "NODE_UNAVAILABLE", "{refused}");
    node.signal(Signal::TERM);
    assert_eq!(node.ended().0, Some(1));
}
