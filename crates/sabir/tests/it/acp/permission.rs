//! Questions to the person at the editor.

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::{World, text};

/// Makes a file, so that everyone can see whether it ran.
fn touch(call_id: &str) -> Reply {
    let command = json!({ "command": ["sh", "-c", "echo x >> ran"] });
    Reply::sse([
        responses::call(call_id, "shell", &command),
        responses::completed(&format!("r-{call_id}")),
    ])
}

fn bye(id: &str) -> Reply {
    Reply::sse([responses::message("bye"), responses::completed(id)])
}

const ASKING: [&str; 4] = ["--approval", "untrusted", "--sandbox", "danger-full-access"];

fn ran(world: &World) -> usize {
    std::fs::read_to_string(world.work().join("ran")).map_or(0, |text| text.lines().count())
}

fn kinds(question: &Value) -> Vec<String> {
    let options = question["params"]["options"].as_array().unwrap();
    options.iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn allow_once_runs_it_and_asks_again() {
    let world = World::new(FakeModel::start([touch("a"), touch("b"), bye("r3")]));
    let mut editor = world.editor(&ASKING);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    for (count, call_id) in ["a", "b"].into_iter().enumerate() {
        let question = editor.question();
        assert_eq!(question["params"]["sessionId"], session.as_str());
        assert_eq!(kinds(&question), ["allow_once", "allow_always", "reject_once"]);
        let asked = &question["params"]["toolCall"];
        assert_eq!(asked["toolCallId"], call_id);
        assert!(text(asked).contains("echo x >> ran"), "{asked}");
        assert_eq!(asked["status"], "pending");
        // It was shown before it was asked for; what is pending need not say so.
        let shown = editor.call(&session, call_id);
        assert_eq!((shown["kind"].as_str(), shown["status"].as_str()), (Some("execute"), None));
        assert_eq!(ran(&world), count);
        editor.choose(&question, "allow_once");
    }
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(ran(&world), 2);
    assert_eq!(editor.call(&session, "a")["status"], "completed");
}

#[test]
fn allow_always_says_what_it_covers_and_does_not_ask_again() {
    let world = World::new(FakeModel::start([touch("a"), touch("b"), bye("r3")]));
    let mut editor = world.editor(&ASKING);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    let question = editor.question();
    let always = &question["params"]["options"][1]["name"];
    let words = always.as_str().unwrap();
    assert!(words.contains("exactly") && words.contains("echo x >> ran"), "{words}");
    editor.choose(&question, "allow_always");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(ran(&world), 2);
    let asked = editor.came.iter().filter(|it| it["method"] == "session/request_permission");
    assert_eq!(asked.count(), 1);
}

#[test]
fn reject_once_does_not_run_it_and_the_model_goes_on() {
    let world = World::new(FakeModel::start([touch("a"), bye("r2")]));
    let mut editor = world.editor(&ASKING);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    let question = editor.question();
    editor.choose(&question, "reject_once");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(ran(&world), 0);
    assert_eq!(editor.call(&session, "a")["status"], "failed");
    let told = world.model.wait_for_request(1).body["input"].to_string();
    assert!(told.contains("rejected by the user"), "{told}");
}

#[test]
fn a_patch_is_asked_for_with_its_diff() {
    let patch = "*** Begin Patch\n*** Add File: b.txt\n+new\n*** End Patch\n";
    let call = responses::call("p", "apply_patch", &json!({ "input": patch }));
    let world =
        World::new(FakeModel::start([Reply::sse([call, responses::completed("r1")]), bye("r2")]));
    let mut editor = world.editor(&["--approval", "untrusted"]);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    let question = editor.question();
    let asked = &question["params"]["toolCall"];
    assert_eq!(asked["content"][0]["type"], "diff");
    assert_eq!(asked["content"][0]["newText"], "new\n");
    let always = question["params"]["options"][1]["name"].as_str().unwrap();
    assert!(always.contains("b.txt"), "{always}");
    assert!(!world.work().join("b.txt").exists());
    editor.choose(&question, "allow_once");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert!(world.work().join("b.txt").exists());
    assert_eq!(editor.call(&session, "p")["status"], "completed");
}

#[test]
fn two_questions_are_answered_in_reverse_order() {
    let call = |id: &str| {
        responses::call(
            id,
            "shell",
            &json!({ "command": ["sh", "-c", format!("echo {id} >> ran")] }),
        )
    };
    let world = World::new(FakeModel::start([
        Reply::sse([call("a"), call("b"), responses::completed("r1")]),
        bye("r2"),
    ]));
    let mut editor = world.editor(&ASKING);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    let first = editor.question();
    let second = editor.question();
    editor.choose(&second, "reject_once");
    editor.choose(&first, "allow_once");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    let first = first["params"]["toolCall"]["toolCallId"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(world.work().join("ran")).unwrap().trim(), first);
}

#[test]
fn a_cancelled_question_ends_the_prompt() {
    let world = World::new(FakeModel::start([touch("a"), bye("r2")]));
    let mut editor = world.editor(&ASKING);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    let question = editor.question();
    editor.reply(&question, &json!({ "outcome": "cancelled" }));
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    assert_eq!(ran(&world), 0);
    assert_eq!(editor.call(&session, "a")["status"], "failed");
    // The session is still good.
    assert_eq!(editor.say(&session, "and now"), "end_turn");
}

#[test]
fn cancel_while_a_question_waits() {
    let world = World::new(FakeModel::start([touch("a"), bye("r2")]));
    let mut editor = world.editor(&ASKING);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    let question = editor.question();
    editor.cancel(&session);
    editor.reply(&question, &json!({ "outcome": "cancelled" }));
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    // A late answer allows nothing.
    editor.choose(&question, "allow_once");
    assert_eq!(editor.say(&session, "and now"), "end_turn");
    assert_eq!(ran(&world), 0);
    let told = editor.chunks(&session, "agent_message_chunk");
    assert_eq!(told, "bye");
}

#[test]
fn what_was_not_offered_allows_nothing() {
    let world = World::new(FakeModel::start([touch("a"), bye("r2")]));
    let mut editor = world.editor(&ASKING);
    let session = editor.new_session(&world.work());
    let prompt = editor.prompt(&session, "go");
    let question = editor.question();
    editor.reply(&question, &json!({ "outcome": "selected", "optionId": "yes_to_all" }));
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(ran(&world), 0);
}
