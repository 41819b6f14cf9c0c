//! A task that one node gives to another, and what is found of it afterwards at both ends.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use sabir_lingua::{Act, Form, hear};
use serde_json::Value;

use crate::agents::harbor::{NODE, Node, run_at};
use crate::process::sabir;

#[test]
fn a_task_leaves_the_same_trace_in_every_language_and_at_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    std::fs::create_dir(&theirs).unwrap();
    let node = Node::start(&theirs, "[[skills]]\nname = \"echo\"\nbuiltin = \"echo\"\n");
    let mut follower = sabir();
    follower.args(["log", "--follow", "--kind", "peer", "--as", "axon", "-n", "0", "--home"]);
    follower.arg(&theirs).stdin(Stdio::null());
    let mut follower = follower.spawn().unwrap();
    let mut followed = BufReader::new(follower.stdout.take().unwrap()).lines();

    let url = node.url();
    let args = ["delegate", "say \"it\"", "--to", &url, "--skill", "echo", "--json"];
    let done = run_at(&ours, &args);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let task = report["task_id"].as_str().unwrap();

    // Beside the node, as it happened: it was asked, and it answered.
    let mut heard = Vec::new();
    while !heard.iter().any(|it: &sabir_lingua::Message| it.what == "task_result") {
        let line = followed.next().unwrap().unwrap();
        heard.extend(hear(&line, Form::Axon).unwrap_or_else(|| panic!("no AXON: {line}")));
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
    let asked = heard.iter().find(|it| it.what == "task_submit").unwrap();
    let told = heard.iter().find(|it| it.what == "task_result").unwrap();
    assert_eq!((asked.act, asked.to.as_str(), asked.of.as_str()), (Act::Request, "node", task));
    assert_eq!((told.act, &told.to, told.of.as_str()), (Act::Answer, &asked.from, task));
    assert!(told.content.as_json().contains("say"), "{:?}", told.content);

    let explained = run_at(&theirs, &["explain", task]);
    assert_eq!(explained.code, 0, "{}", explained.stderr);
    for words in ["is a task that ldp:delegate:", "sent to node", "skill: echo", "state: done"] {
        assert!(explained.stdout.contains(words), "{words}: {}", explained.stdout);
    }
    let given = run_at(&ours, &["explain", task, "--json"]);
    let given: Vec<Value> = serde_json::from_str(&given.stdout).unwrap();
    assert_eq!(given[0]["what"], "delegation", "{given:?}");
    assert_eq!((&given[0]["delegate_id"], &given[0]["state"]), (&NODE.into(), &"succeeded".into()));
    let verified = run_at(&theirs, &["audit", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    node.end();
}
