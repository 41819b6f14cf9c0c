//! Stored sessions, opened again.

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::{Editor, World, text};

const FREE: [&str; 4] = ["--approval", "never", "--sandbox", "danger-full-access"];

fn load(editor: &mut Editor, world: &World, session: &str) -> Result<Value, Value> {
    let params = json!({ "sessionId": session, "cwd": world.work(), "mcpServers": [] });
    let id = editor.request("session/load", params);
    editor.answer(id)
}

fn kinds(updates: &[Value]) -> Vec<&str> {
    updates.iter().filter_map(|it| it["sessionUpdate"].as_str()).collect()
}

#[test]
fn a_session_is_told_again_after_a_restart() {
    let world = World::new(FakeModel::start([
        Reply::sse([
            responses::reasoning("hm"),
            responses::call("c", "shell", &json!({ "command": ["echo", "out"] })),
            responses::completed("r1"),
        ]),
        Reply::sse([responses::message("done"), responses::completed("r2")]),
        Reply::sse([responses::message("more"), responses::completed("r3")]),
    ]));
    let mut editor = world.editor(&FREE);
    let session = editor.new_session(&world.work());
    assert_eq!(editor.say(&session, "hello"), "end_turn");
    assert_eq!(editor.leave(), (Some(0), String::new()));

    let mut editor = world.editor(&FREE);
    load(&mut editor, &world, &session).unwrap();
    let updates = editor.updates(&session);
    assert_eq!(
        kinds(&updates),
        ["user_message_chunk", "agent_thought_chunk", "tool_call", "agent_message_chunk"]
    );
    assert_eq!(editor.chunks(&session, "user_message_chunk"), "hello");
    assert_eq!(editor.chunks(&session, "agent_thought_chunk"), "hm");
    assert_eq!(editor.chunks(&session, "agent_message_chunk"), "done");
    let call = editor.call(&session, "c");
    assert_eq!(
        (call["kind"].as_str(), call["status"].as_str()),
        (Some("execute"), Some("completed"))
    );
    assert_eq!(call["title"], "echo out");
    assert_eq!(text(&call), "```\nout\n```");

    assert_eq!(editor.say(&session, "go on"), "end_turn");
    let input = world.model.wait_for_request(2).body["input"].to_string();
    assert!(input.contains("hello") && input.contains("done"), "{input}");
}

#[test]
fn a_session_is_told_again_after_a_crash_and_nothing_runs_twice() {
    let script = "echo x >> ran; echo started; sleep 600";
    let world = World::new(FakeModel::start([
        Reply::sse([
            responses::call("c", "shell", &json!({ "command": ["sh", "-c", script] })),
            responses::completed("r1"),
        ]),
        Reply::sse([responses::message("well"), responses::completed("r2")]),
    ]));
    let mut editor = world.editor(&FREE);
    let session = editor.new_session(&world.work());
    editor.prompt(&session, "hello");
    editor.wait_for(|it| it["params"]["update"].to_string().contains("```\\nstarted"));
    editor.kill();

    let mut editor = world.editor(&FREE);
    load(&mut editor, &world, &session).unwrap();
    let call = editor.call(&session, "c");
    assert_eq!(call["status"], "failed");
    assert_eq!(text(&call), "```\naborted\n```");
    assert_eq!(editor.chunks(&session, "user_message_chunk"), "hello");
    assert_eq!(editor.say(&session, "go on"), "end_turn");
    assert_eq!(std::fs::read_to_string(world.work().join("ran")).unwrap(), "x\n");
    let told = editor.chunks(&session, "agent_message_chunk");
    assert!(told.contains("1 call(s) were open"), "{told}");
}

#[test]
fn a_session_that_is_open_can_be_loaded_too() {
    let world = World::new(FakeModel::start([
        Reply::sse([responses::message("hi"), responses::completed("r1")]),
        Reply::sse([responses::message("again"), responses::completed("r2")]),
    ]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    assert_eq!(editor.say(&session, "hello"), "end_turn");
    load(&mut editor, &world, &session).unwrap();
    assert_eq!(editor.chunks(&session, "user_message_chunk"), "hello");
    assert_eq!(editor.chunks(&session, "agent_message_chunk"), "hihi");
    assert_eq!(editor.say(&session, "and"), "end_turn");
}

#[test]
fn what_is_not_stored_cannot_be_loaded() {
    let world = World::new(FakeModel::start([]));
    let mut editor = world.editor(&[]);
    let error = load(&mut editor, &world, "nowhere").unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("no session nowhere"), "{error}");
}

#[test]
fn a_busy_session_is_not_loaded() {
    let world =
        World::new(FakeModel::start([Reply::sse([responses::text_delta("hm")]).then_hold_open()]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "hello");
    editor.wait_for(|it| it["params"]["update"]["content"]["text"] == "hm");
    let error = load(&mut editor, &world, &session).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("busy"), "{error}");
    editor.cancel(&session);
    assert_eq!(editor.stop_reason(prompt), "cancelled");
}

/// Who starts the program says what may happen, also to a session that was once less careful.
#[test]
fn the_command_line_stands_above_what_is_stored() {
    let touch = |response: &str, name: &str| {
        Reply::sse([
            responses::call("c", "shell", &json!({ "command": ["touch", name] })),
            responses::completed(response),
        ])
    };
    let say = |id: &str| Reply::sse([responses::message("ok"), responses::completed(id)]);
    let world = World::new(FakeModel::start([
        touch("r1", "free"),
        say("r2"),
        touch("r3", "careful"),
        say("r4"),
    ]));
    let mut editor = world.editor(&FREE);
    let session = editor.new_session(&world.work());
    assert_eq!(editor.say(&session, "hello"), "end_turn");
    assert_eq!(editor.leave(), (Some(0), String::new()));

    let mut editor = world.editor(&["--approval", "never", "--sandbox", "read-only"]);
    load(&mut editor, &world, &session).unwrap();
    assert_eq!(editor.say(&session, "again"), "end_turn");
    let made = ["free", "careful"].map(|name| world.work().join(name).exists());
    assert_eq!(made, [true, false]);
}
