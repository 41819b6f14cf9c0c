//! Beside the published SDK for Python: its client asks our node, our client asks its delegate.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use sabir_testkit::python;
use serde_json::{Value, json};

use super::harbor::{NODE, Node, run_at};
use crate::process::{finish, sabir};

const SECRET: &str = "both-know-this";

const SKILLS: &str = "\
[[skills]]
name = \"echo\"
builtin = \"echo\"

[[skills]]
name = \"fail\"
run = [\"sh\", \"-c\", \"echo it broke >&2; exit 3\"]
";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

/// Their client, which does what it is told.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(python: &Path, url: &str, delegate_id: &str, secret: &str) -> Self {
        let mut command = Command::new(python);
        command.arg(script("client.py")).args([url, delegate_id, secret]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn order(&mut self, order: Value) -> Value {
        writeln!(self.input, "{order}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{order}: {line}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Their delegate.
struct Friend {
    child: Child,
    url: String,
}

impl Friend {
    fn start(python: &Path, secret: &str, domain: &str) -> Self {
        // Its server cannot say which port it took, so it is given one that was free just now.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(python);
        command.arg(script("delegate.py")).args([&port.to_string(), secret, domain]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut friend =
            Self { child: command.spawn().unwrap(), url: format!("http://127.0.0.1:{port}") };
        let patience = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(friend.child.try_wait().unwrap().is_none(), "their delegate ended");
            assert!(patience.elapsed() < Duration::from_secs(60), "their delegate does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        friend
    }
}

impl Drop for Friend {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What their client does with our node: discovery, handshake, task, failure.
fn visit(node: &Node, client: &mut Client) {
    for do_ in ["discover", "discover_wellknown"] {
        let card = client.order(json!({ "do": do_ }));
        assert_eq!(card["ok"]["delegate_id"], NODE, "{card}");
        let skills: Vec<&Value> =
            card["ok"]["capabilities"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(skills, ["echo", "fail"], "{card}");
    }
    let session = client.order(json!({ "do": "session" }));
    assert_eq!(session["ok"]["state"], "active", "{session}");
    assert_eq!(session["ok"]["remote_delegate_id"], NODE, "{session}");

    // Their client speaks in frames where both can.
    let frame = json!({ "task_type": "echo", "instruction": "hello", "depth": 3 });
    let done = client.order(json!({ "do": "submit", "skill": "echo", "input": frame }));
    assert_eq!(done["ok"]["output"], frame, "{done}");
    let provenance = &done["ok"]["provenance"];
    assert_eq!(provenance["produced_by"], NODE, "{done}");
    assert_eq!(provenance["payload_mode_used"], "semantic_frame", "{done}");
    // Nobody checked it.
    assert_eq!(provenance["verified"], false, "{done}");

    let failed = client.order(json!({ "do": "submit", "skill": "fail", "input": frame }));
    let message = failed["message"].as_str().unwrap_or_default();
    assert!(message.contains("it broke"), "{failed}");
    let nobody = client.order(json!({ "do": "submit", "skill": "sing", "input": frame }));
    let message = nobody["message"].as_str().unwrap_or_default();
    assert!(message.contains("SKILL_NOT_FOUND"), "{nobody}");
    let no_frame = client.order(json!({ "do": "submit", "skill": "echo", "input": { "a": 1 } }));
    let message = no_frame["message"].as_str().unwrap_or_default();
    assert!(message.contains("FRAME_INVALID"), "{no_frame}");
    let _ = node;
}

#[test]
fn their_client_asks_our_node() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let node = Node::start(home.path(), SKILLS);
    let mut client = Client::start(&python, &node.url(), "ldp:delegate:visitor", "");
    visit(&node, &mut client);
    node.end();
}

#[test]
fn their_client_signs_and_our_node_checks() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let peers =
        "[[peers]]\ndelegate_id = \"ldp:delegate:visitor\"\nhmac_secret_env = \"VISITOR\"\n";
    let sections = format!("{SKILLS}\n{peers}");
    let node = Node::start_with(home.path(), &sections, &[("VISITOR", SECRET)]);
    visit(&node, &mut Client::start(&python, &node.url(), "ldp:delegate:visitor", SECRET));
    // Who has a secret must sign, and rightly.
    for (secret, code) in [("", "SIGNATURE_REQUIRED"), ("another", "BAD_SIGNATURE")] {
        let mut client = Client::start(&python, &node.url(), "ldp:delegate:visitor", secret);
        let refused = client.order(json!({ "do": "session" }));
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(message.contains(code), "{refused}");
    }
    // Others of this machine need not.
    visit(&node, &mut Client::start(&python, &node.url(), "ldp:delegate:other", ""));
    node.end();
}

#[test]
fn our_client_asks_their_delegate() {
    let Some(python) = python() else { return };
    let friend = Friend::start(&python, "", "default");
    let home = tempfile::tempdir().unwrap();
    let card = run_at(home.path(), &["card", &friend.url, "--json"]);
    assert_eq!(card.code, 0, "{}", card.stderr);
    let card: Value = serde_json::from_str(&card.stdout).unwrap();
    assert_eq!(card["card"]["delegate_id"], "ldp:delegate:friend");

    let delegate = |skill: &str| {
        run_at(
            home.path(),
            &["delegate", "say it", "--to", &friend.url, "--skill", skill, "--json"],
        )
    };
    let done = delegate("echo");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["output"]["echo"]["instruction"], "say it", "{report}");
    assert_eq!(report["output"]["asked"], 1, "{report}");
    assert_eq!(report["delegate_id"], "ldp:delegate:friend");
    assert_eq!(report["payload_mode"], "semantic_frame");
    assert_eq!(report["provenance"]["verified"], false);

    let failed = delegate("fail");
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    let report: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(report["error"]["code"], "TASK_EXECUTION_ERROR", "{report}");
    assert_eq!(report["error"]["message"], "it was told to fail", "{report}");
}

#[test]
fn our_client_and_their_delegate_sign() {
    let Some(python) = python() else { return };
    let friend = Friend::start(&python, SECRET, "default");
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("sabir.toml");
    let peer = "[[peers]]\ndelegate_id = \"ldp:delegate:friend\"\nhmac_secret_env = \"FRIEND\"\n";
    std::fs::write(&config, peer).unwrap();
    let delegate = |secret: &str| {
        let args =
            ["delegate", "say it", "--to", &friend.url, "--skill", "echo", "--json", "--quiet"];
        let mut command = sabir();
        command.env("SABIR_HOME", home.path()).env("FRIEND", secret).args(args);
        finish(&mut command, &args, "")
    };
    let done = delegate(SECRET);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["output"]["asked"], 1, "{report}");
    // With another secret neither believes the other, and nothing runs.
    let refused = delegate("another");
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    let done = delegate(SECRET);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["output"]["asked"], 2, "{report}");
}

#[test]
fn a_delegate_of_another_domain_is_not_asked() {
    let Some(python) = python() else { return };
    let friend = Friend::start(&python, "", "elsewhere");
    let home = tempfile::tempdir().unwrap();
    let args = ["delegate", "say it", "--to", &friend.url, "--skill", "echo", "--json"];
    let refused = run_at(home.path(), &args);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
}
