//! Cancelling, leaving, and that nothing survives.

use std::io::{BufRead, BufReader, Write};

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::{Editor, World};
use crate::process::{run, sabir, wait};

const FREE: [&str; 4] = ["--approval", "never", "--sandbox", "danger-full-access"];

/// A command that never ends, with a child, and that can be found by the mark in it.
fn endless(mark: &str) -> Reply {
    let script = format!(": {mark}; (: ; while :; do sleep 1; done) & echo started; wait");
    Reply::sse([
        responses::call(
            "c",
            "shell",
            &json!({ "command": ["sh", "-c", script], "timeout_ms": 600_000 }),
        ),
        responses::completed("r1"),
    ])
}

/// Words that no other test has in its commands.
fn mark(world: &World) -> String {
    world.work().join("mark").display().to_string()
}

fn bye(id: &str) -> Reply {
    Reply::sse([responses::message("bye"), responses::completed(id)])
}

#[test]
fn cancel_while_the_model_streams() {
    let world = World::new(FakeModel::start([
        Reply::sse([responses::text_delta("hm")]).then_hold_open(),
        bye("r2"),
    ]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "hello");
    editor.wait_for(|it| it["params"]["update"]["content"]["text"] == "hm");
    editor.cancel(&session);
    // What is said before the first has ended waits for its end.
    let next = editor.prompt(&session, "and now");
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    assert_eq!(editor.stop_reason(next), "end_turn");
    world.model.wait_for_close(0);
    // Cancelling when nothing runs is nothing.
    editor.cancel(&session);
    editor.cancel("nowhere");
    assert_eq!(editor.leave(), (Some(0), String::new()));
}

#[test]
fn cancel_at_once() {
    let world = World::new(FakeModel::answering(|_, _| {
        Some(Reply::sse([responses::text_delta("hm")]).then_hold_open())
    }));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    for _ in 0..10 {
        let prompt = editor.prompt(&session, "hello");
        editor.cancel(&session);
        assert_eq!(editor.stop_reason(prompt), "cancelled");
    }
}

#[test]
fn cancel_while_a_command_runs_ends_it() {
    let world = World::new(FakeModel::start([]));
    let mark = mark(&world);
    world.model.push(endless(&mark));
    world.model.push(bye("r2"));
    let mut editor = world.editor(&FREE);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "hello");
    editor.wait_for(|it| it["params"]["update"].to_string().contains("```\\nstarted"));
    assert!(processes_with(&mark).len() >= 2);
    editor.cancel(&session);
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    assert_eq!(editor.call(&session, "c")["status"], "failed");
    assert_eq!(processes_with(&mark), Vec::<String>::new());
    assert_eq!(editor.say(&session, "and now"), "end_turn");
}

#[test]
fn the_end_of_the_input_ends_everything() {
    let world = World::new(FakeModel::start([]));
    let mark = mark(&world);
    world.model.push(endless(&mark));
    let mut editor = world.editor(&FREE);
    let session = editor.new_session(&world.work());
    editor.prompt(&session, "hello");
    editor.wait_for(|it| it["params"]["update"].to_string().contains("```\\nstarted"));
    assert!(processes_with(&mark).len() >= 2);
    assert_eq!(editor.leave(), (Some(0), String::new()));
    assert_eq!(processes_with(&mark), Vec::<String>::new());
}

#[test]
fn the_end_of_the_input_ends_a_waiting_question() {
    let call = responses::call("c", "shell", &json!({ "command": ["touch", "ran"] }));
    let world = World::new(FakeModel::start([Reply::sse([call, responses::completed("r1")])]));
    let mut editor = world.editor(&["--approval", "untrusted"]);
    let session = editor.new_session(&world.work());
    editor.prompt(&session, "hello");
    editor.question();
    assert_eq!(editor.leave(), (Some(0), String::new()));
    assert!(!world.work().join("ran").exists());
}

#[test]
fn an_editor_that_does_not_read_cannot_keep_it_alive() {
    let world = World::new(FakeModel::answering(|_, _| {
        // More than any pipe holds.
        let text = responses::text_delta(&"x".repeat(1000));
        Some(Reply::sse(vec![text; 2000]).then_hold_open())
    }));
    let mut command = sabir();
    command.args(["acp", "--model", "m", "--base-url", &world.model.base_url(), "--home"]);
    let mut child = command.arg(world.home()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |line: Value, answer: &mut String| {
        writeln!(input, "{line}").unwrap();
        output.read_line(answer).unwrap();
    };
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    ask(hello, &mut String::new());
    let place = json!({ "cwd": world.work(), "mcpServers": [] });
    let mut answer = String::new();
    ask(
        json!({ "jsonrpc": "2.0", "id": 2, "method": "session/new", "params": place }),
        &mut answer,
    );
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let prompt = json!({
        "sessionId": answer["result"]["sessionId"],
        "prompt": [{ "type": "text", "text": "go" }],
    });
    ask(
        json!({ "jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt }),
        &mut String::new(),
    );
    drop(input);
    assert_eq!(wait(&mut child), Some(0));
    drop(output);
}

#[test]
fn one_home_has_one_process() {
    let world = World::new(FakeModel::start([]));
    let editor = world.editor(&[]);
    let home = world.home();
    let second = run(&["acp", "--model", "m", "--home", home.to_str().unwrap()], "");
    assert_eq!(second.code, 2);
    assert_eq!(second.stdout, "");
    assert!(second.stderr.contains(home.to_str().unwrap()), "{}", second.stderr);
    drop(editor);
    // And after it is gone, the next can begin.
    let editor: Editor = world.editor(&[]);
    assert_eq!(editor.leave(), (Some(0), String::new()));
}

/// The processes whose command line has these words in it.
fn processes_with(words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        // What has ended meanwhile, and what has ended and was not collected, has no line.
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(words) {
            found.push(path.display().to_string());
        }
    }
    found
}
