//! `sabir run` without a terminal: for scripts.

use std::process::{Child, Stdio};

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::place::{Place, calls, output_of, runs, says, wait_for_file, wait_until_gone};
use crate::process::Outcome;

fn run(place: &Place, model: &FakeModel, more: &[&str]) -> Outcome {
    let base_url = model.base_url();
    place.run(&[&["run", "--model", "m", "--base-url", base_url.as_str()], more].concat())
}

#[test]
fn the_answer_goes_to_standard_output_and_everything_else_does_not() {
    let place = Place::new();
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let model = FakeModel::start([
        Reply::sse([
            responses::reasoning("Thinking it over."),
            responses::call("call_1", "shell", &json!({ "command": ["echo", "from a command"] })),
            responses::completed("resp_1"),
        ]),
        calls("resp_2", "call_2", "apply_patch", &json!({ "input": patch })),
        says("resp_3", "Here is\nthe answer."),
    ]);
    let outcome = run(&place, &model, &["do it"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "Here is\nthe answer.\n");
    for words in [
        "Thinking it over.",
        "$ echo 'from a command'",
        "from a command",
        "add new.txt",
        "+new",
        "30 tokens in",
    ] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    // No terminal, no colours and no progress.
    assert!(!outcome.stderr.contains('\x1b'), "{:?}", outcome.stderr);
}

#[test]
fn json_prints_events_and_nothing_else() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "hi")]);
    let outcome = run(&place, &model, &["--json", "say hi"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let events: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|it| it["msg"]["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"session_configured"));
    assert_eq!(kinds.last(), Some(&"task_complete"));
    assert!(events.iter().all(|event| event["id"].is_string()));
}

#[test]
fn a_failed_task_has_its_own_exit_code() {
    let place = Place::new();
    let model = FakeModel::start([Reply::error(400, "bad", "no such field")]);
    let outcome = run(&place, &model, &["x"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    assert!(outcome.stderr.contains("error: ") && outcome.stderr.contains("no such field"));
    // A wrong command line is something else.
    assert_eq!(place.run(&["run", "--approval", "sometimes", "x"]).code, 2);
    // So is one that names no model where none is to be found.
    let outcome = place.run(&["run", "x"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    let help = "sabir run --model NAME --base-url URL";
    assert!(outcome.stderr.contains(help), "{}", outcome.stderr);
    // And a session that cannot begin.
    let outcome = place.run(&["run", "--model", "m", "x"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--base-url"), "{}", outcome.stderr);
}

#[test]
fn models_of_this_machine_are_listed_where_nobody_can_choose() {
    let place = Place::new();
    let list = json!({ "data": [{ "id": "tiny" }, { "id": "it's big" }] });
    let server = FakeModel::start([Reply::json(200, &list)]);
    let mut command = place.command(&["run", "x"]);
    command.env("SABIR_LOCAL_PORTS", server.address().port().to_string());
    let outcome = crate::process::finish(&mut command, &["run", "x"], "");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    for model in ["tiny", r"'it'\''s big'"] {
        let base_url = server.base_url();
        let line = format!("sabir run --model {model} --base-url {base_url} --wire chat \"TASK\"");
        assert!(outcome.stderr.contains(&line), "{}", outcome.stderr);
    }
}

#[test]
fn without_a_terminal_what_would_be_asked_is_denied_with_a_reason() {
    let place = Place::new();
    place.write("a", "a\n");
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-rf", "a"]),
        says("resp_2", "I was not allowed to."),
    ]);
    let outcome = run(&place, &model, &["remove a"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "I was not allowed to.\n"));
    let told = output_of(&model.requests()[1], "call_1");
    assert!(told.starts_with("denied: "), "{told}");
    assert!(outcome.stderr.contains("denied: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("rm -rf a"), "{}", outcome.stderr);
    assert_eq!(place.read("a"), "a\n");
}

#[test]
fn the_command_line_says_how_careful_to_be_and_which_wire_to_use() {
    let place = Place::new();
    let model =
        FakeModel::start([runs("resp_1", "call_1", &["touch", "x"]), says("resp_2", "read-only")]);
    let more = ["--sandbox", "read-only", "--approval", "never", "x"];
    assert_eq!(run(&place, &model, &more).code, 0);
    assert!(!place.work.join("x").exists());

    use sabir_testkit::fake_model::chat;
    let reply = [chat::text("c", "hi"), chat::finish("c", "stop"), chat::done()];
    let model = FakeModel::start([Reply::sse(reply)]);
    let outcome = run(&place, &model, &["--wire", "chat", "x"]);
    assert_eq!(outcome.stdout, "hi\n", "{}", outcome.stderr);
    assert_eq!(model.requests()[0].path, "/v1/chat/completions");
}

/// The environment says where the home is when nobody else does.
#[test]
fn the_home_is_found_in_the_environment() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "hi")]);
    let mut command = crate::process::sabir();
    let base_url = model.base_url();
    command.current_dir(&place.work).env("SABIR_HOME", &place.home);
    command.args(["run", "x", "--model", "m", "--base-url", base_url.as_str()]);
    let outcome = crate::process::finish(&mut command, &["run"], "");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(place.home.exists());
}

fn spawn(place: &Place, model: &FakeModel, task: &str) -> Child {
    let base_url = model.base_url();
    let args = ["run", task, "--model", "m", "--base-url", base_url.as_str()];
    let mut command = place.command(&args);
    command.args(["--approval", "never", "--sandbox", "danger-full-access"]);
    command.stdin(Stdio::null()).spawn().unwrap()
}

fn send_interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

#[test]
fn ctrl_c_interrupts_the_task_and_ends_its_processes() {
    let place = Place::new();
    let script = "setsid sleep 1000 & echo $! > pid; wait";
    let model = FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script])]);
    let mut child = spawn(&place, &model, "x");
    let pid = wait_for_file(&place.work.join("pid"));
    send_interrupt(&child);
    assert_eq!(crate::process::wait(&mut child), Some(130));
    wait_until_gone(&pid);
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    assert!(stderr.contains("interrupt"), "{stderr}");
}

#[test]
fn ctrl_c_while_the_model_thinks_closes_its_connection() {
    let place = Place::new();
    let model = FakeModel::start([Reply::sse([responses::text_delta("I")]).then_hold_open()]);
    let mut child = spawn(&place, &model, "x");
    model.wait_for_request(0);
    let mut first = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    send_interrupt(&child);
    assert_eq!(crate::process::wait(&mut child), Some(130));
    model.wait_for_close(0);
}
