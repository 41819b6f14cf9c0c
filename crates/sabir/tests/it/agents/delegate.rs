//! `sabir delegate`, `card`, `delegates`, `domain` and `keys`, against a node of ours.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::harbor::{NODE, Node, logged, run_at};
use crate::process::{Outcome, finish, sabir, wait};

const SKILLS: &str = "\
[[skills]]
name = \"echo\"
builtin = \"echo\"

[[skills]]
name = \"count\"
run = [\"sh\", \"-c\", \"echo one >&2; echo two >&2; echo '{\\\"n\\\": 2}'\"]

[[skills]]
name = \"fail\"
run = [\"sh\", \"-c\", \"echo it broke >&2; exit 3\"]

[[skills]]
name = \"sleep\"
run = [\"sleep\", \"600\"]

[[skills]]
name = \"verify\"
run = [\"sh\", \"-c\", \"cat >/dev/null; echo '{\\\"passed\\\": true}'\"]
";

fn report(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|_| panic!("{}\n{}", outcome.stdout, outcome.stderr))
}

struct Pair {
    _folder: tempfile::TempDir,
    node: Node,
    ours: std::path::PathBuf,
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        let node = Node::start(&theirs, SKILLS);
        Self { node, ours: folder.path().join("ours"), _folder: folder }
    }

    fn delegate(&self, args: &[&str]) -> Outcome {
        let url = self.node.url();
        let all: Vec<&str> =
            ["delegate", "say it", "--to", &url].into_iter().chain(args.iter().copied()).collect();
        run_at(&self.ours, &all)
    }
}

/// A fresh home needs no configuration: the key is pinned when it is first seen, and shown.
#[test]
fn a_task_is_done_by_somebody_else() {
    let pair = Pair::new();
    let done = pair.delegate(&["--skill", "echo"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("say it"), "{}", done.stdout);
    let key = pair.node.said["public_key"].as_str().unwrap();
    assert!(done.stderr.contains(key), "{}", done.stderr);
    assert!(done.stderr.contains(NODE), "{}", done.stderr);
    let again = pair.delegate(&["--skill", "echo"]);
    assert!(!again.stderr.contains(key), "{}", again.stderr);
    let keys = run_at(&pair.ours, &["keys", "--json"]);
    assert_eq!(report(&keys)["pinned"][0]["public_key"], key);

    let counted = pair.delegate(&["--skill", "count", "--json"]);
    assert_eq!(counted.code, 0, "{}", counted.stderr);
    for line in ["one", "two"] {
        assert!(counted.stderr.contains(line), "{}", counted.stderr);
    }
    let counted = report(&counted);
    assert_eq!(counted["output"], json!({ "n": 2 }));
    assert_eq!(counted["delegate_id"], NODE);
    assert_eq!(counted["payload_mode"], "semantic_frame");
    assert_eq!(counted["provenance"]["produced_by"], NODE);
    assert_eq!(counted["provenance"]["verified"], false);
    assert!(counted["chosen"]["why"].is_string());
}

/// What was said comes back as it was said, and before the words about it.
#[test]
fn the_result_stands_before_how_it_came_about() {
    let pair = Pair::new();
    let url = pair.node.url();
    let path = pair.ours.with_extension("out");
    let both = fs::File::create(&path).unwrap();
    let args = ["delegate", "say it", "--to", &url, "--skill", "echo"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sabir"));
    command.env("SABIR_HOME", &pair.ours).args(args);
    command.stdout(both.try_clone().unwrap()).stderr(both);
    assert!(command.status().unwrap().success());
    let said = fs::read_to_string(&path).unwrap();
    let place = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words}: {said}"));
    assert!(place("\nsay it\n") < place("\nby       "), "{said}");
    assert!(!said.contains("task_type"), "{said}");
}

#[test]
fn a_failure_is_told_in_the_delegates_words() {
    let pair = Pair::new();
    let failed = pair.delegate(&["--skill", "fail", "--json"]);
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    let message = report(&failed)["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("it broke"), "{message}");
    let unknown = pair.delegate(&["--skill", "sing", "--json"]);
    assert_eq!(unknown.code, 1, "{}", unknown.stderr);
    let wrong = pair.delegate(&["--skill", "echo", "--deadline", "soon"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    let nobody = run_at(&pair.ours, &["delegate", "x", "--skill", "echo"]);
    assert_eq!(nobody.code, 2, "{}", nobody.stderr);
    assert!(nobody.stderr.contains("sabir delegates add"), "{}", nobody.stderr);
    let late = pair.delegate(&["--skill", "sleep", "--deadline", "1s", "--json"]);
    assert_eq!(late.code, 1, "{}", late.stderr);
    assert_eq!(report(&late)["error"]["code"], "CONTRACT_VIOLATED", "{}", late.stdout);
}

/// Only an independent look makes a result verified.
#[test]
fn results_are_checked() {
    let pair = Pair::new();
    let schema = pair._folder.path().join("schema.json");
    let rule = |text: &str| {
        fs::write(&schema, text).unwrap();
        let schema = schema.display().to_string();
        pair.delegate(&["--skill", "count", "--verify", "rule", "--schema", &schema, "--json"])
    };
    let passed = rule(r#"{ "type": "object", "required": ["n"] }"#);
    assert_eq!(passed.code, 0, "{}", passed.stderr);
    assert_eq!(report(&passed)["provenance"]["verified"], true);
    assert_eq!(report(&passed)["checks"][0]["by"], "rule:schema.json");
    let failed = rule(r#"{ "type": "array" }"#);
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    assert_eq!(report(&failed)["provenance"]["verified"], false);

    let tool = |command: &str| {
        pair.delegate(&["--skill", "count", "--verify", "tool", "--check", command, "--json"])
    };
    assert_eq!(
        report(&tool("grep -q '\"n\":2'"))["provenance"]["verification_status"],
        "tool_verified"
    );
    assert_eq!(tool("exit 4").code, 1);

    let verifier = pair.node.url();
    let peer =
        pair.delegate(&["--skill", "count", "--verify", "peer", "--verifier", &verifier, "--json"]);
    // Who made it cannot be who checks it.
    assert_eq!(peer.code, 1, "{}", peer.stdout);
    let folder = tempfile::tempdir().unwrap();
    let other = SecondNode::start(folder.path());
    let peer = pair.delegate(&[
        "--skill",
        "count",
        "--verify",
        "peer",
        "--verifier",
        &other.0.url(),
        "--json",
    ]);
    assert_eq!(peer.code, 0, "{}", peer.stderr);
    assert_eq!(report(&peer)["provenance"]["verification_status"], "peer_verified");
}

/// Nobody sits at a terminal here: the result is told, and that nobody verified it.
#[test]
fn a_person_who_is_not_there_has_not_refused() {
    let pair = Pair::new();
    let asked = pair.delegate(&["--skill", "count", "--verify", "human", "--json"]);
    assert_eq!(asked.code, 1, "{}", asked.stderr);
    let told = report(&asked);
    assert_eq!(told["output"], json!({ "n": 2 }));
    assert_eq!(told["provenance"]["verified"], false);
    assert_eq!(told["error"]["code"], "NOT_VERIFIED", "{told}");
    assert_eq!(told["checks"][0]["outcome"], "not_made");
    let asked = pair.delegate(&["--skill", "count", "--verify", "human"]);
    assert_eq!(asked.code, 1, "{}", asked.stderr);
    assert!(asked.stdout.contains("\"n\": 2"), "{}", asked.stdout);
    assert!(asked.stderr.contains("it was not verified"), "{}", asked.stderr);
}

/// Another node, under another name.
struct SecondNode(Node);

impl SecondNode {
    fn start(home: &Path) -> Self {
        Self(Node::start_named(home, "ldp:delegate:pilot", SKILLS))
    }
}

#[test]
fn known_delegates_are_chosen_from() {
    let pair = Pair::new();
    let (url, home) = (pair.node.url(), &pair.ours);
    let added = run_at(home, &["delegates", "add", &url, "--json"]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    assert_eq!(report(&added)[0]["delegate_id"], NODE);
    let done = run_at(home, &["delegate", "hello", "--skill", "echo", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(report(&done)["delegate_id"], NODE);
    let nobody = run_at(home, &["delegates", "add", "http://127.0.0.1:9"]);
    assert_eq!(nobody.code, 1, "{}", nobody.stderr);
    // One that does not answer is passed over.
    let done = run_at(home, &["delegate", "hello", "--skill", "echo", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let listed = report(&run_at(home, &["delegates", "list", "--json"]));
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(run_at(home, &["delegates", "probe"]).code, 1);
    assert_eq!(run_at(home, &["delegates", "remove", NODE]).code, 0);
    assert_eq!(run_at(home, &["delegates", "remove", "http://127.0.0.1:9"]).code, 0);
    assert_eq!(run_at(home, &["delegates", "remove", NODE]).code, 1);

    let card = report(&run_at(home, &["card", &url, "--json"]));
    assert_eq!(card["card"]["public_key"], pair.node.said["public_key"]);
    let own = report(&run_at(home, &["card", "--json"]));
    assert_eq!(own["card"]["public_key"], report(&run_at(home, &["keys", "--json"]))["public_key"]);
    assert_eq!(run_at(home, &["card", "http://127.0.0.1:9"]).code, 1);
    assert_eq!(run_at(home, &["card", "gopher://x"]).code, 2);
}

/// A node whose key changed is not believed until a person says so.
#[test]
fn another_key_is_not_believed() {
    let pair = Pair::new();
    assert_eq!(pair.delegate(&["--skill", "echo"]).code, 0);
    let folder = tempfile::tempdir().unwrap();
    let imposter = Node::start(folder.path(), SKILLS);
    let url = imposter.url();
    let args = ["delegate", "say it", "--to", &url, "--skill", "echo"];
    let refused = run_at(&pair.ours, &args);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("keys forget"), "{}", refused.stderr);
    assert_eq!(run_at(&pair.ours, &["keys", "forget", NODE]).code, 0);
    assert_eq!(run_at(&pair.ours, &args).code, 0);
}

/// Ctrl-C cancels the task where it runs.
#[test]
fn an_interrupted_task_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!("echo $$ >> '{}'; echo started >&2; exec sleep 600", log.display());
    let skill =
        format!("[[skills]]\nname = \"sleep\"\nrun = [\"sh\", \"-c\", {}]\n", Value::from(script));
    let theirs = folder.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    let node = Node::start(&theirs, &skill);
    let mut command = sabir();
    command.env("SABIR_HOME", folder.path().join("ours"));
    command.args(["delegate", "rest", "--to", &node.url(), "--skill", "sleep"]);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let told = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut lines = std::io::BufRead::lines(told).map_while(Result::ok);
    assert!(lines.any(|line| line.contains("started")));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    drop(lines.by_ref().last());
    assert_eq!(wait(&mut child), Some(130));
    let sleeper = logged(&log).remove(0);
    // The node has ended the program before it said that it was cancelled.
    let gone = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        !Path::new("/proc").join(&sleeper).exists()
    });
    assert!(gone, "{sleeper} still runs");
    node.end();
}

#[test]
fn domains_are_set_up() {
    let pair = Pair::new();
    let home = &pair.ours;
    assert_eq!(run_at(home, &["domain", "trust", "acme"]).code, 0);
    let listed = report(&run_at(home, &["domain", "list", "--json"]));
    assert_eq!(listed[0]["name"], "default");
    assert_eq!(listed[0]["trusted_peers"], json!(["acme"]));
    assert_eq!(run_at(home, &["domain", "trust", "acme", "--revoke"]).code, 0);
    assert_eq!(run_at(home, &["domain", "add", "lab"]).code, 0);
    assert_eq!(run_at(home, &["domain", "remove", "lab"]).code, 0);
    assert_eq!(run_at(home, &["domain", "remove", "lab"]).code, 1);
}

/// A person asks the node of the same home, as the first page of the documentation does.
#[test]
fn the_node_of_the_same_home_can_be_asked() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(folder.path(), SKILLS);
    let url = node.url();
    let args = ["delegate", "hello", "--to", &url, "--skill", "echo", "--json", "--config"];
    let config = folder.path().join("harbor.toml").display().to_string();
    let args: Vec<&str> = args.into_iter().chain([config.as_str()]).collect();
    let done = run_at(folder.path(), &args);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(report(&done)["delegate_id"], NODE);
    node.end();
}

/// Who asks twice leaves, however much the delegate has to say.
#[test]
fn a_second_interrupt_leaves_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    let chatty = "[[skills]]\nname = \"chat\"\nrun = [\"sh\", \"-c\", \"while :; do echo chat >&2; sleep 0.01; done\"]\n";
    let node = Node::start(&theirs, chatty);
    let mut command = sabir();
    command.env("SABIR_HOME", folder.path().join("ours"));
    command.args(["delegate", "talk", "--to", &node.url(), "--skill", "chat"]);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let told = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut lines = std::io::BufRead::lines(told).map_while(Result::ok);
    assert!(lines.any(|line| line.contains("chat")));
    // Stopped, so that the node cannot say that it was cancelled.
    let pid = |id: u32| rustix::process::Pid::from_raw(id.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid(node.pid()), rustix::process::Signal::STOP).unwrap();
    let interrupt = || {
        rustix::process::kill_process(pid(child.id()), rustix::process::Signal::INT).unwrap();
    };
    interrupt();
    assert!(lines.any(|line| line.contains("once more")));
    interrupt();
    drop(lines);
    assert_eq!(wait(&mut child), Some(130));
    rustix::process::kill_process(pid(node.pid()), rustix::process::Signal::CONT).unwrap();
    node.end();
}

/// What cannot be meant is said before anything is sent.
#[test]
fn wrong_usage_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let twice = file("twice.json", r#"{ "a": 1, "a": 2 }"#);
    let other = file("other.json", r#"{ "instruction": "do something else" }"#);
    let schema = file("schema.json", r#"{ "type": "object" }"#);
    let unusable = file("unusable.json", r#"{ "type": "nothing" }"#);
    for (args, words) in [
        (["--verify", "tool", "--check", ""].as_slice(), "--check is empty"),
        (&["--verify", "tool", "--check", " \n"], "--check is empty"),
        (&["--check", "true"], "--check is for --verify tool"),
        (&["--schema", &schema], "--schema is for --verify rule"),
        (&["--verify", "tool", "--check", "true", "--schema", &schema], "--schema is for"),
        (&["--verifier", "ldp://127.0.0.1:1"], "--verifier is for --verify peer"),
        (&["--verify", "rule", "--schema", &unusable], "the schema cannot be used"),
        (&["--input", &twice], "\"a\""),
        (&["--input", &other], "it has an instruction"),
    ] {
        let begin = ["delegate", "hi", "--to", "http://127.0.0.1:1", "--skill", "echo"];
        let args: Vec<&str> = begin.iter().chain(args).copied().collect();
        let wrong = run_at(&folder.path().join("home"), &args);
        assert_eq!(wrong.code, 2, "{args:?}: {}", wrong.stderr);
        assert!(wrong.stderr.contains(words), "{args:?}: {}", wrong.stderr);
        assert_eq!(wrong.stdout, "");
    }
}

/// What was typed is shown, and no terminal obeys it.
#[test]
fn what_is_quoted_is_harmless() {
    let home = tempfile::tempdir().unwrap();
    for args in [
        ["delegates", "remove", "\u{1b}[31mx"].as_slice(),
        &["delegates", "\u{1b}[31mx"],
        &["delegates", "add", "ldp://\u{9b}31mx"],
        &["domain", "remove", "\u{1b}[31m\u{202e}x"],
        &["keys", "forget", "\u{1b}[31mx"],
        &["delegate", "hi", "--skill", "\u{1b}[31mx"],
    ] {
        let told = run_at(home.path(), args);
        assert_ne!(told.code, 0, "{args:?}");
        assert!(!told.stderr.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{:?}", told.stderr);
    }
}

#[test]
fn a_domain_has_a_name_that_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    for name in ["", " ", "a\nb", "a\u{1b}[31m", "a\u{202e}b", "a\u{200b}", " a"] {
        for command in [["domain", "add", name], ["domain", "trust", name]] {
            let refused = run_at(home.path(), &command);
            assert_eq!(refused.code, 2, "{command:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("the name of a domain"), "{}", refused.stderr);
        }
    }
    let listed = report(&run_at(home.path(), &["domain", "list", "--json"]));
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["trusted_peers"], json!([]));
}

/// The work was done: that it could not be written down is a warning.
#[test]
fn a_full_disk_costs_no_result() {
    let pair = Pair::new();
    assert_eq!(pair.delegate(&["--skill", "count"]).code, 0);
    // Files cannot grow beyond what the store has now, in blocks of 512 bytes.
    let blocks = fs::metadata(pair.ours.join("peers.db")).unwrap().len() / 512;
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let url = pair.node.url();
    let args = ["delegate", "say it", "--to", &url, "--skill", "count", "--json"];
    let run = || {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).arg(sabir().get_program()).env("SABIR_HOME", &pair.ours);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = finish(command.args(args), &args, "");
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(report(&done)["output"], json!({ "n": 2 }));
        let is_warned = done.stderr.contains("warning: this was not recorded");
        assert_eq!(report(&done)["unrecorded"][0].is_string(), is_warned, "{}", done.stderr);
        is_warned
    };
    // Some entries still find room between others.
    assert!((0..50).any(|_| run()), "the log has room without end");
}

/// Who claims to be somebody whose key is known is not added to the list.
#[test]
fn an_impostor_is_not_added() {
    let pair = Pair::new();
    let (url, home) = (pair.node.url(), &pair.ours);
    assert_eq!(run_at(home, &["delegates", "add", &url]).code, 0);
    let card = report(&run_at(home, &["card", &url, "--json"]))["card"].to_string();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other = format!("http://{}", listener.local_addr().unwrap());
    // It shows the card of another, and answers whatever is asked with it.
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = stream;
            let mut asked = [0; 65536];
            let _ = std::io::Read::read(&mut stream, &mut asked);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{card}", card.len());
            let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
        }
    });
    let refused = run_at(home, &["delegates", "add", &other, "--json"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let listed = report(&run_at(home, &["delegates", "list", "--json"]));
    let with_card = listed.as_array().unwrap().iter().filter(|it| it["card"].is_object());
    assert_eq!(with_card.count(), 1, "{listed}");
}
