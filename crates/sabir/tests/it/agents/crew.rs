//! The delegates that are built in, through the built program: `sabir up` with no configuration.

use std::path::Path;

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::harbor::{NODE, Node, fresh, post, run_at, stamp};
use crate::process::Outcome;

const QUESTION: &str = "How long is it from one high water to the next?";

fn member<'a>(node: &'a Node, name: &str) -> &'a Value {
    let members = node.said["members"].as_array().unwrap();
    members.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{}", node.said))
}

fn url(node: &Node, name: &str) -> String {
    let said = member(node, name)["url"].as_str().unwrap().to_owned();
    assert_eq!(said, format!("{}/delegates/{name}", node.url()));
    // As a person would write it.
    said.replace("http://", "ldp://")
}

fn delegate(home: &Path, task: &str, to: &str, skill: &str) -> Outcome {
    run_at(home, &["delegate", task, "--to", to, "--skill", skill, "--json"])
}

fn report(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|_| panic!("{}\n{}", outcome.stdout, outcome.stderr))
}

#[test]
fn a_node_without_a_configuration_has_a_crew() {
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
    std::fs::create_dir(&theirs).unwrap();
    let node = Node::start(&theirs, "");
    assert_eq!(node.said["skills"], json!(["echo"]), "the node's own delegate is as before");
    assert_eq!(member(&node, "researcher")["state"], "ready");
    let linguist = member(&node, "linguist");
    assert_eq!(linguist["delegate_id"], format!("{NODE}-linguist"));
    assert_eq!(linguist["skills"].as_array().unwrap().len(), 4);

    let wrong = "INF(@a->@b): ok";
    let checked = delegate(&ours, wrong, &url(&node, "linguist"), "language.check");
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let checked = report(&checked);
    assert_eq!(checked["output"]["valid"], false, "{checked}");
    assert_eq!(checked["output"]["findings"][0]["column"], 7, "{checked}");
    assert_eq!(checked["delegate_id"], format!("{NODE}-linguist"));
    assert_eq!(checked["provenance"]["produced_by"], format!("{NODE}-linguist"));
    let mended = delegate(&ours, wrong, &url(&node, "linguist"), "language.repair");
    assert_eq!(report(&mended)["output"]["valid"], true, "{}", mended.stdout);

    // It can be chosen like any other.
    let added = run_at(&ours, &["delegates", "add", &url(&node, "linguist")]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    let input = ["delegate", "INF(@a>@b): ok", "--skill", "language.convert", "--json"];
    let chosen = report(&run_at(&ours, &input));
    assert_eq!(chosen["delegate_id"], format!("{NODE}-linguist"), "{chosen}");
    assert_eq!(chosen["output"]["from"], "axon", "{chosen}");

    // Nobody gave the coder a model: it says so, and nothing is sent to it.
    let coder = member(&node, "coder");
    assert_eq!((&coder["state"], &coder["skills"]), (&json!("no_model"), &json!([])));
    assert!(coder["why"].as_str().unwrap().contains("--base-url"), "{coder}");
    let refused = delegate(&ours, "fix it", &url(&node, "coder"), "code");
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let card = run_at(&ours, &["card", &url(&node, "coder"), "--json"]);
    let card = &report(&card)["card"];
    assert_eq!(card["capabilities"], json!([]), "{card}");
    assert!(card["description"].as_str().unwrap().contains("has no model"), "{card}");
    node.end();
}

/// LD-N24: whoever comes first to a fresh home does not come as one of its own, and whom an older
/// program believed is believed no more.
#[test]
fn nobody_else_is_one_of_the_crew() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("sabir.toml"), format!("[node]\ndelegate_id = {NODE:?}\n")).unwrap();
    let squatted = format!("{NODE}-coder");
    let other = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29";
    let pinned = run_at(&home, &["keys", "pin", &squatted, other]);
    assert_eq!(pinned.code, 0, "{}", pinned.stderr);
    let node = Node::start(&home, "");
    let root = node.url();
    let names = ["", ":caller", "-researcher", "-coder", "-linguist"];
    for name in names {
        let stranger = folder.path().join(format!("stranger{name}"));
        std::fs::create_dir(&stranger).unwrap();
        let config = format!("[node]\ndelegate_id = \"{NODE}{name}\"\n");
        std::fs::write(stranger.join("sabir.toml"), config).unwrap();
        for (to, skill) in [(root.clone(), "echo"), (url(&node, "linguist"), "language.check")] {
            // Somebody who asks the node under its own name asks as its caller.
            let refused = delegate(&stranger, "INF(@a>@b): ok", &to, skill);
            assert_eq!(refused.code, 1, "{name} at {to}: {}", refused.stdout);
        }
    }
    // Those whose names they are work, and are known by their keys.
    let done = delegate(&home, "INF(@a>@b): ok", &url(&node, "linguist"), "language.check");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = delegate(&home, "hello", &root, "echo");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let keys = report(&run_at(&home, &["keys", "--json"]));
    for name in names {
        let mut pinned = keys["pinned"].as_array().unwrap().iter();
        let pin = pinned.find(|it| it["delegate_id"] == format!("{NODE}{name}"));
        let pin = pin.unwrap_or_else(|| panic!("{name}: {keys}"));
        assert_ne!(pin["public_key"], other);
        let card = match name.strip_prefix('-') {
            Some(name) => report(&run_at(&home, &["card", &url(&node, name), "--json"])),
            None => report(&run_at(&home, &["card", &root, "--json"])),
        };
        assert_eq!(pin["public_key"], card["card"]["public_key"], "{name}");
    }
    node.end();
}

/// LD-N24: nobody else answers under an id of ours, and who does is neither kept nor given work.
#[test]
fn nobody_else_is_asked_as_one_of_the_crew() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("sabir.toml"), format!("[node]\ndelegate_id = {NODE:?}\n")).unwrap();
    let node = Node::start(&home, "");
    for name in ["", "-coder"] {
        let stranger = folder.path().join(format!("stranger{name}"));
        std::fs::create_dir(&stranger).unwrap();
        let stranger = Node::start_named(&stranger, &format!("{NODE}{name}"), "");
        let added = run_at(&home, &["delegates", "add", &stranger.url()]);
        assert_eq!(added.code, 1, "{}", added.stdout);
        let words = format!("{NODE}{name} is an id of this node");
        assert!(added.stderr.contains(&words), "{}", added.stderr);
        assert_eq!(report(&run_at(&home, &["delegates", "list", "--json"])), json!([]));
        let refused = delegate(&home, "hello", &stranger.url(), "echo");
        assert_eq!(refused.code, 1, "{}", refused.stdout);
        let why = &report(&refused)["error"];
        assert_eq!(why["code"], "BAD_SIGNATURE", "{why}");
        stranger.end();
    }
    node.end();
}

/// What an agent of the coder's own folder hands on goes to the coder, wherever that folder is.
#[test]
fn the_coder_is_known_by_the_folder_that_the_configuration_names() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("work")).unwrap();
    let model = FakeModel::start([
        Reply::sse([
            responses::call("c-1", "spawn_agent", &json!({ "task": "a part of it" })),
            responses::completed("r-1"),
        ]),
        Reply::sse([responses::message("the part is done"), responses::completed("r-2")]),
        Reply::sse([responses::message("done"), responses::completed("r-3")]),
    ]);
    let args = ["--base-url", &model.base_url(), "--model", "m"];
    let node = Node::start_told(home.path(), "[crew.coder]\ncwd = \"work\"\n", &args, &[]);
    let done = delegate(home.path(), "do it", &url(&node, "coder"), "code");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(model.requests()[2].body.to_string().contains("the part is done"));
    let log = run_at(home.path(), &["log", "--json", "-n", "100000"]);
    let placed = log.stdout.lines().find(|line| line.contains("order-"));
    assert!(placed.is_some(), "nobody was handed the part: {}", log.stdout);
    model.assert_done();
    node.end();
}

/// Offline: the pages come with the program, and so does the model.
#[test]
fn the_first_answer_needs_no_network() {
    let home = tempfile::tempdir().unwrap();
    let node = Node::start(home.path(), "");
    let made = run_at(home.path(), &["collection", "example"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert!(made.stdout.starts_with("col_"), "{}", made.stdout);
    assert!(made.stderr.contains("sabir ask"), "{}", made.stderr);
    let done = delegate(home.path(), QUESTION, &url(&node, "researcher"), "research");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = report(&done);
    let output = &done["output"];
    assert_eq!(output["collection"]["id"], made.stdout.trim(), "{output}");
    assert!(output["answer"].as_str().unwrap().contains("12 hours and 25 minutes"), "{output}");
    let citations = output["citations"].as_array().unwrap();
    assert!(!citations.is_empty() && citations.iter().all(|it| it["status"] == "verified"));
    // What the words were looked up in can be looked up.
    let version = citations[0]["version_id"].as_str().unwrap_or_else(|| panic!("{output}"));
    assert!(version.starts_with("ver_"), "{version}");
    assert_eq!(output["refused"], json!([]));
    let asked = run_at(home.path(), &["ask", QUESTION, "-c", "Harbour", "--json"]);
    assert_eq!(report(&asked)["citations"][0]["status"], "verified", "{}", asked.stderr);
    node.end();
}

#[test]
fn the_configuration_switches_them_off() {
    let home = tempfile::tempdir().unwrap();
    let off = "[crew]\nresearcher = false\ncoder = false\n";
    let node = Node::start(home.path(), off);
    assert_eq!(member(&node, "researcher")["state"], "off");
    assert_eq!(member(&node, "coder")["url"], Value::Null);
    let path = "/delegates/researcher/ldp/messages";
    assert_eq!(post(node.address, path, "{}").status, 404);
    assert_eq!(post(node.address, "/delegates/linguist/ldp/messages", "{}").status, 200);
    node.end();
}

/// A message to somebody of the crew, written by hand.
fn ask(node: &Node, name: &str, session: &str, body: Value) -> Value {
    let message = json!({
        "message_id": fresh("m"), "session_id": session, "from": "ldp:delegate:caller",
        "to": format!("{NODE}-{name}"), "timestamp": stamp(0), "payload_mode": "text", "body": body,
    });
    let path = format!("/delegates/{name}/ldp/messages");
    let answer = post(node.address, &path, &message.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str::<Value>(&answer.body).unwrap()["body"].clone()
}

/// SIGKILL while the coder waits for its model: the next start goes on, under the same name.
#[test]
fn a_killed_node_goes_on_with_what_its_crew_was_doing() {
    let home = tempfile::tempdir().unwrap();
    let model = FakeModel::start([
        Reply::sse([responses::created("r-1")]).then_hold_open(),
        Reply::sse([responses::message("done"), responses::completed("r-2")]),
        Reply::sse([responses::message("done, too"), responses::completed("r-3")]),
    ]);
    let base_url = model.base_url();
    let args = ["--base-url", &base_url, "--model", "m"];
    let coder = "[crew.coder]\nsandbox = \"danger-full-access\"\n";
    let node = Node::start_told(home.path(), coder, &args, &[]);
    assert_eq!(member(&node, "coder")["skills"], json!(["code"]), "{}", node.said);
    let config = json!({ "preferred_payload_modes": ["text"], "trust_domain": "default" });
    let opened = ask(&node, "coder", "", json!({ "type": "SESSION_PROPOSE", "config": config }));
    let session = opened["session_id"].as_str().unwrap().to_owned();
    let submit = |task: &str| json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": "code", "input": "do it" });
    std::thread::scope(|scope| {
        let address = node.address;
        let message = json!({
            "message_id": fresh("m"), "session_id": session, "from": "ldp:delegate:caller",
            "to": format!("{NODE}-coder"), "timestamp": stamp(0), "payload_mode": "text",
            "body": submit("t-1"),
        });
        scope.spawn(move || {
            use std::io::Write as _;
            let text = message.to_string();
            let head = format!(
                "POST /delegates/coder/ldp/messages HTTP/1.1\r\nhost: {address}\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
                text.len()
            );
            let mut socket = super::harbor::connect(address);
            socket.write_all(head.as_bytes()).unwrap();
            // Nobody answers any more.
            let _ = std::io::copy(&mut socket, &mut std::io::sink());
        });
        model.wait_for_request(0);
        node.kill();
    });
    let node = Node::start_told(home.path(), coder, &args, &[]);
    let told = ask(&node, "coder", &session, submit("t-1"));
    assert_eq!(told["output"], "done", "{told}");
    let asked = model.requests()[1].body.to_string();
    assert!(asked.contains("do it") && asked.contains("go on, and finish the task"), "{asked}");
    // The session goes on.
    let done = ask(&node, "coder", &session, submit("t-2"));
    assert_eq!(done["output"], "done, too", "{done}");
    node.end();
}
