//! Requests that are wrong: each is answered, and the next one works.

use expect_test::{Expect, expect};
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::World;

/// The code and the words of an error.
fn shown(error: &Value) -> String {
    let words = error["message"].as_str().unwrap_or_default();
    match error["data"]["error"].as_str() {
        Some(more) => format!("{} {words}: {more}", error["code"]),
        None => format!("{} {words}", error["code"]),
    }
}

#[test]
fn wrong_requests_are_answered_with_words() {
    let world = World::new(FakeModel::start([]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    let mut check = |method: &str, params: Value, expect: Expect| {
        let id = editor.request(method, params);
        expect.assert_eq(&shown(&editor.answer(id).unwrap_err()));
    };
    let hi = json!([{ "type": "text", "text": "hi" }]);
    check("session/dance", json!({}), expect!["-32601 Method not found"]);
    check(
        "session/new",
        json!({ "cwd": "relative", "mcpServers": [] }),
        expect![[r#"-32602 cwd must be absolute, and "relative" is not"#]],
    );
    check(
        "session/new",
        json!({ "cwd": "/does/not/exist", "mcpServers": [] }),
        expect![
            "-32603 cwd /does/not/exist cannot be used: No such file or directory (os error 2)"
        ],
    );
    check("session/new", json!({}), expect!["-32602 Invalid params: missing field `cwd`"]);
    check(
        "session/prompt",
        json!({ "sessionId": "nowhere", "prompt": hi }),
        expect![
            "-32002 no session nowhere is open here: session/new opens one, session/load a stored one"
        ],
    );
    check(
        "session/prompt",
        json!({ "sessionId": session, "prompt": [] }),
        expect!["-32602 the prompt says nothing"],
    );
    check(
        "session/prompt",
        json!({ "sessionId": session, "prompt": "hi" }),
        expect![[r#"-32602 Invalid params: invalid type: string "hi", expected a sequence"#]],
    );
    let audio = json!([{ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" }]);
    check(
        "session/prompt",
        json!({ "sessionId": session, "prompt": audio }),
        expect!["-32602 audio is not taken: prompts are text, images and resources"],
    );
    let load = json!({ "sessionId": "../x", "cwd": world.work(), "mcpServers": [] });
    check(
        "session/load",
        load,
        expect!["-32603 no session ../x is stored here: `sabir sessions` lists those that are"],
    );
}

#[test]
fn a_second_prompt_is_refused_while_the_first_runs() {
    let world =
        World::new(FakeModel::start([Reply::sse([responses::text_delta("hm")]).then_hold_open()]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    let first = editor.prompt(&session, "hello");
    editor.wait_for(|it| it["params"]["update"]["content"]["text"] == "hm");
    let second = editor.prompt(&session, "hello?");
    let error = editor.answer(second).unwrap_err();
    assert!(shown(&error).contains("cancel it first"), "{error}");
    editor.cancel(&session);
    assert_eq!(editor.stop_reason(first), "cancelled");
}

#[test]
fn lines_that_are_no_messages_are_survived() {
    let world = World::new(FakeModel::start([Reply::sse([
        responses::message("fine"),
        responses::completed("r1"),
    ])]));
    let mut editor = world.editor(&[]);
    let long = vec![b'x'; 17 * 1024 * 1024];
    for line in [b"{".as_slice(), b"[]", b"\xff\xfe", b"\"hi\"", b"", &long] {
        editor.send_line(line);
    }
    let session = editor.new_session(&world.work());
    assert_eq!(editor.say(&session, "still there?"), "end_turn");
    let codes: Vec<i64> = editor
        .came
        .iter()
        .filter(|it| it["id"].is_null())
        .filter_map(|it| it["error"]["code"].as_i64())
        .collect();
    // The empty line says nothing; each of the others is answered.
    assert_eq!(codes.len(), 5, "{:#?}", editor.came);
}
