//! Prompts, and what is streamed while they run.

use expect_test::expect;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::{Value, json};

use super::{Editor, World, text};

#[test]
fn an_editor_learns_what_is_offered() {
    let world = World::new(FakeModel::start([]));
    let mut editor = Editor::start(&world.home(), &world.model.base_url(), &[]);
    let answer =
        editor.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
    assert_eq!(answer["protocolVersion"], 1);
    let capabilities = &answer["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], true);
    assert_eq!(capabilities["promptCapabilities"]["image"], true);
    assert_eq!(capabilities["promptCapabilities"]["embeddedContext"], true);
    assert_ne!(capabilities["promptCapabilities"]["audio"], true);
    assert_eq!(answer["agentInfo"]["name"], "sabir");
    assert_eq!(answer["authMethods"].as_array().map(Vec::len), Some(0));
    editor.ask("authenticate", json!({ "methodId": "none" }));
}

#[test]
fn an_editor_of_a_later_version_is_answered_with_ours() {
    let world = World::new(FakeModel::start([]));
    let mut editor = Editor::start(&world.home(), &world.model.base_url(), &[]);
    let answer =
        editor.ask("initialize", json!({ "protocolVersion": 7, "clientCapabilities": {} }));
    assert_eq!(answer["protocolVersion"], 1);
}

#[test]
fn words_and_thoughts_are_streamed_before_the_prompt_is_answered() {
    let gate = Gate::new();
    let world = World::new(FakeModel::start([Reply::sse([
        responses::reasoning("let me see"),
        responses::text_delta("Hel"),
    ])
    .then_wait(&gate)
    .then(responses::text_delta("lo."))
    .then(responses::item(&json!({
        "type": "message",
        "role": "assistant",
        "content": [{ "type": "output_text", "text": "Hello." }],
    })))
    .then(responses::completed("r1"))]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "hi");
    editor.wait_for(|it| it["params"]["update"]["content"]["text"] == "Hel");
    gate.open();
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(editor.chunks(&session, "agent_message_chunk"), "Hello.");
    assert_eq!(editor.chunks(&session, "agent_thought_chunk"), "let me see");
    let pieces: Vec<Value> = editor
        .updates(&session)
        .into_iter()
        .filter(|it| it["sessionUpdate"] == "agent_message_chunk")
        .map(|it| it["messageId"].clone())
        .collect();
    assert!(pieces.len() == 2 && pieces[0] == pieces[1], "{pieces:?}");
    assert_eq!(editor.leave(), (Some(0), String::new()));
}

#[test]
fn every_part_of_a_prompt_reaches_the_model() {
    let world = World::new(FakeModel::start([Reply::sse([
        responses::message("ok"),
        responses::completed("r1"),
    ])]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    let prompt = json!([
        { "type": "text", "text": "look" },
        { "type": "image", "data": "aGk=", "mimeType": "image/png" },
        { "type": "resource_link", "name": "a.rs", "uri": "file:///w/a.rs" },
        { "type": "resource", "resource": { "uri": "file:///w/b.rs", "text": "fn b() {}" } },
    ]);
    editor.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
    let request = world.model.wait_for_request(0);
    let input = request.body["input"].as_array().unwrap();
    let message = input.iter().find(|item| item["role"] == "user").unwrap();
    expect![[r#"
        [
          {
            "type": "input_text",
            "text": "look"
          },
          {
            "type": "input_image",
            "image_url": "data:image/png;base64,aGk="
          },
          {
            "type": "input_text",
            "text": "[the user points to a.rs (/w/a.rs)]"
          },
          {
            "type": "input_text",
            "text": "/w/b.rs:\n```\nfn b() {}\n```"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&message["content"]).unwrap());
}

#[test]
fn a_patch_is_shown_as_a_diff() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: b.txt\n+new\n*** End Patch\n";
    let world = World::new(FakeModel::start([
        Reply::sse([
            responses::call("p", "apply_patch", &json!({ "input": patch })),
            responses::completed("r1"),
        ]),
        Reply::sse([responses::message("done"), responses::completed("r2")]),
    ]));
    let work = world.work();
    std::fs::write(work.join("a.txt"), "zero\none\n").unwrap();
    let mut editor = world.editor(&["--approval", "never"]);
    let session = editor.new_session(&work);
    assert_eq!(editor.say(&session, "patch"), "end_turn");
    assert_eq!(std::fs::read_to_string(work.join("a.txt")).unwrap(), "zero\ntwo\n");
    let call = editor.call(&session, "p");
    assert_eq!(call["kind"], "edit");
    assert_eq!(call["status"], "completed");
    assert_eq!(call["title"], "Edit a.txt, b.txt");
    assert_eq!(call["locations"][0]["path"], json!(work.join("a.txt")));
    assert_eq!(
        call["content"],
        json!([
            {
                "type": "diff",
                "path": work.join("a.txt"),
                "oldText": "zero\none\n",
                "newText": "zero\ntwo\n",
            },
            { "type": "diff", "path": work.join("b.txt"), "newText": "new\n" },
        ])
    );
}

#[test]
fn a_patch_that_does_not_fit_is_a_call_that_failed() {
    let patch = "*** Begin Patch\n*** Update File: none.txt\n@@\n-one\n+two\n*** End Patch\n";
    let world = World::new(FakeModel::start([
        Reply::sse([
            responses::call("p", "apply_patch", &json!({ "input": patch })),
            responses::completed("r1"),
        ]),
        Reply::sse([responses::message("oh"), responses::completed("r2")]),
    ]));
    let mut editor = world.editor(&["--approval", "never"]);
    let session = editor.new_session(&world.work());
    assert_eq!(editor.say(&session, "patch"), "end_turn");
    let call = editor.call(&session, "p");
    assert_eq!(call["status"], "failed");
    assert!(text(&call).contains("none.txt"), "{call}");
}

#[test]
fn commands_plans_and_reads_have_their_kinds() {
    let plan = json!({ "plan": [
        { "step": "look", "status": "completed" },
        { "step": "leap", "status": "in_progress" },
    ] });
    let world = World::new(FakeModel::start([
        Reply::sse([
            responses::call("s", "shell", &json!({ "command": ["sh", "-c", "echo out; exit 3"] })),
            responses::call("r", "read_file", &json!({ "path": "a.txt" })),
            responses::call("f", "search", &json!({ "pattern": "on." })),
            responses::call("u", "update_plan", &plan),
            responses::completed("r1"),
        ]),
        // The same id in another response is another call.
        Reply::sse([
            responses::call("s", "shell", &json!({ "command": ["echo", "again"] })),
            responses::completed("r2"),
        ]),
        Reply::sse([responses::message("done"), responses::completed("r3")]),
    ]));
    let work = world.work();
    std::fs::write(work.join("a.txt"), "one\n").unwrap();
    let mut editor = world.editor(&["--approval", "never", "--sandbox", "danger-full-access"]);
    let session = editor.new_session(&work);
    assert_eq!(editor.say(&session, "go"), "end_turn");

    let shell = editor.call(&session, "s");
    assert_eq!(
        (shell["kind"].as_str(), shell["status"].as_str()),
        (Some("execute"), Some("failed"))
    );
    assert_eq!(shell["title"], "echo out; exit 3");
    assert_eq!(text(&shell), "```\nout\n```\nexit code 3");
    assert_eq!(shell["rawOutput"]["exit_code"], 3);
    let again = editor.call(&session, "s-2");
    assert_eq!(again["status"], "completed");
    assert_eq!(text(&again), "```\nagain\n```");
    let read = editor.call(&session, "r");
    assert_eq!((read["kind"].as_str(), read["title"].as_str()), (Some("read"), Some("Read a.txt")));
    assert!(text(&read).contains("one"), "{read}");
    let search = editor.call(&session, "f");
    assert_eq!(
        (search["kind"].as_str(), search["status"].as_str()),
        (Some("search"), Some("completed"))
    );
    let updates = editor.updates(&session);
    let plan = updates.iter().find(|it| it["sessionUpdate"] == "plan").unwrap();
    assert_eq!(plan["entries"][0]["status"], "completed");
    assert_eq!(
        plan["entries"][1],
        json!({
            "content": "leap", "priority": "medium", "status": "in_progress",
        })
    );
}

#[test]
fn two_sessions_run_at_once_and_know_nothing_of_each_other() {
    let gate = Gate::new();
    let held = gate.clone();
    let world = World::new(FakeModel::answering(move |request, _| {
        let said = request.body["input"].to_string();
        let (name, other) = if said.contains("first") { ("one", false) } else { ("two", true) };
        let reply = Reply::sse([responses::text_delta(name)]);
        let reply = if other { reply } else { reply.then_wait(&held) };
        Some(reply.then(responses::message("")).then(responses::completed(name)))
    }));
    let mut editor = world.editor(&[]);
    let first = editor.new_session(&world.work());
    let second = editor.new_session(&world.work());
    assert_ne!(first, second);
    let waits = editor.prompt(&first, "first");
    assert_eq!(editor.say(&second, "second"), "end_turn");
    gate.open();
    assert_eq!(editor.stop_reason(waits), "end_turn");
    assert_eq!(editor.chunks(&first, "agent_message_chunk"), "one");
    assert_eq!(editor.chunks(&second, "agent_message_chunk"), "two");
}

#[test]
fn a_model_that_fails_is_an_error_with_words() {
    let world = World::new(FakeModel::start([
        Reply::error(400, "bad", "the model does not like this"),
        Reply::sse([responses::message("better"), responses::completed("r1")]),
    ]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "hi");
    let error = editor.answer(prompt).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("does not like this"), "{error}");
    assert_eq!(editor.say(&session, "again"), "end_turn");
}

#[test]
fn servers_of_the_editor_are_told_to_be_unused_and_do_not_fail() {
    let world = World::new(FakeModel::start([]));
    let mut editor = world.editor(&[]);
    let servers = json!([
        { "name": "files", "command": "/bin/true", "args": [], "env": [] },
        { "type": "http", "name": "far", "url": "http://127.0.0.1:1/", "headers": [] },
    ]);
    let answer = editor.ask("session/new", json!({ "cwd": world.work(), "mcpServers": servers }));
    let session = answer["sessionId"].as_str().unwrap().to_owned();
    editor.wait_for(|it| it["method"] == "session/update");
    let told = editor.chunks(&session, "agent_message_chunk");
    assert!(told.contains("files, far"), "{told}");
}

#[test]
fn an_editor_with_a_place_for_notices_gets_them_there() {
    let world = World::new(FakeModel::start([]));
    let mut editor = Editor::start(&world.home(), &world.model.base_url(), &[]);
    let capabilities = json!({ "session": { "notices": {} } });
    editor.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
    let servers = json!([{ "name": "files", "command": "/bin/true", "args": [], "env": [] }]);
    editor.ask("session/new", json!({ "cwd": world.work(), "mcpServers": servers }));
    let notice = editor.wait_for(|it| it["method"] == "session/update");
    let notice = &notice["params"]["update"];
    assert_eq!(notice["sessionUpdate"], "notice");
    assert!(notice["title"].as_str().unwrap().contains("files"), "{notice}");
}

#[test]
fn a_model_that_will_not_or_cannot_say_more_has_its_stop_reason() {
    for (reason, stop) in [("content_filter", "refusal"), ("max_output_tokens", "max_tokens")] {
        let world = World::new(FakeModel::start([Reply::sse([
            responses::text_delta("I"),
            responses::incomplete(reason),
        ])]));
        let config =
            "[providers.one]\nbase_url = \"http://127.0.0.1:1/v1\"\nstream_max_retries = 0\n";
        std::fs::write(world.home().join("sabir.toml"), config).unwrap();
        let mut editor = world.editor(&["--provider", "one"]);
        let session = editor.new_session(&world.work());
        assert_eq!(editor.say(&session, "go"), stop);
    }
}

#[test]
fn a_stream_that_breaks_is_told_and_tried_again() {
    let world = World::new(FakeModel::start([
        Reply::sse([responses::text_delta("Hel")]),
        Reply::sse([responses::message("Hello."), responses::completed("r1")]),
    ]));
    let mut editor = world.editor(&[]);
    let session = editor.new_session(&world.work());
    assert_eq!(editor.say(&session, "go"), "end_turn");
    let told = editor.chunks(&session, "agent_thought_chunk");
    assert!(told.contains("trying again"), "{told}");
    let said: Vec<Value> = editor
        .updates(&session)
        .into_iter()
        .filter(|it| it["sessionUpdate"] == "agent_message_chunk")
        .map(|it| it["messageId"].clone())
        .collect();
    // Two messages, of which the first was never finished.
    assert!(said.len() == 2 && said[0] != said[1], "{said:?}");
}
