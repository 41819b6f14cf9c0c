//! `sabir run` without a terminal: for scripts.

use std::process::{Child, Stdio};

use rustix::process::Signal;
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
    let server = FakeModel::start([Reply::json(200, &list), Reply::json(200, &list)]);
    for config in [None, Some("[serve]\nconsole = false\n")] {
        // A file that says nothing about models changes nothing about them.
        if let Some(config) = config {
            std::fs::create_dir_all(&place.home).unwrap();
            std::fs::write(place.home.join("sabir.toml"), config).unwrap();
        }
        let mut command = place.command(&["run", "x"]);
        command.env("SABIR_LOCAL_PORTS", server.address().port().to_string());
        let outcome = crate::process::finish(&mut command, &["run", "x"], "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
        for model in ["tiny", r"'it'\''s big'"] {
            let base_url = server.base_url();
            let line =
                format!("sabir run --model {model} --base-url {base_url} --wire chat \"TASK\"");
            assert!(outcome.stderr.contains(&line), "{}", outcome.stderr);
        }
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

fn send(child: &Child, signal: Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn ctrl_c_interrupts_the_task_and_ends_its_processes() {
    let place = Place::new();
    let script = "setsid sleep 1000 & echo $! > pid; wait";
    let model = FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script])]);
    let mut child = spawn(&place, &model, "x");
    let pid = wait_for_file(&place.work.join("pid"));
    send(&child, Signal::INT);
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
    send(&child, Signal::INT);
    assert_eq!(crate::process::wait(&mut child), Some(130));
    model.wait_for_close(0);
}

/// A message that was not streamed.
fn item(text: &str) -> String {
    let content = json!([{ "type": "output_text", "text": text }]);
    responses::item(&json!({ "type": "message", "role": "assistant", "content": content }))
}

/// What was streamed of an answer that broke off is not the answer.
#[test]
fn the_answer_is_whole_whatever_was_streamed_of_it() {
    let place = Place::new();
    let model = FakeModel::start([
        Reply::sse([responses::created("resp_1"), responses::text_delta("partial answ")]),
        Reply::sse([item("whole other answer"), responses::completed("resp_2")]),
    ]);
    let outcome = run(&place, &model, &["x"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "partial answ\nwhole other answer\n");

    for (delta, message, shown) in [
        ("sec", "second", "second\n"),
        ("second", "second", "second\n"),
        ("first", "second", "first\nsecond\n"),
    ] {
        let reply = Reply::sse([
            responses::text_delta(delta),
            item(message),
            responses::completed("resp_1"),
        ]);
        let outcome = run(&place, &FakeModel::start([reply]), &["x"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (0, shown), "{}", outcome.stderr);
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_not_a_success() {
    for more in [&["x"][..], &["--json", "x"]] {
        let place = Place::new();
        let model = FakeModel::start([says("resp_1", "an answer")]);
        let base_url = model.base_url();
        let args = [&["run", "--model", "m", "--base-url", base_url.as_str()], more].concat();
        let mut command = place.command(&args);
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut child = command.stdin(Stdio::null()).stdout(full).spawn().unwrap();
        assert_eq!(crate::process::wait(&mut child), Some(2));
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
        assert!(stderr.contains("standard output cannot be written"), "{stderr}");
    }
}

/// Who closes the pipe has seen enough.
#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "an answer")]);
    let base_url = model.base_url();
    let mut command = place.command(&["run", "--model", "m", "--base-url", &base_url, "x"]);
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(crate::process::wait(&mut child), Some(0));
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    assert!(!stderr.contains("cannot be written"), "{stderr}");
}

#[test]
fn a_configuration_file_that_is_named_must_be_there() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "an answer")]);
    let outcome = run(&place, &model, &["--config", "nowhere.toml", "x"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nowhere.toml: there is no such"), "{}", outcome.stderr);
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn without_a_task_standard_input_is_the_task() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "an answer")]);
    let base_url = model.base_url();
    let args = ["run", "--model", "m", "--base-url", base_url.as_str()];
    let outcome = crate::process::finish(&mut place.command(&args), &args, "hi\nthere\n");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "an answer\n"), "{}", outcome.stderr);
    let asked = serde_json::to_string(&model.requests()[0].body["input"]).unwrap();
    assert!(asked.contains(r"hi\nthere"), "{asked}");

    for (more, input) in [(&[][..], ""), (&[], " \n"), (&[""], ""), (&["  "], "x")] {
        let args = [&args[..], more].concat();
        let outcome = crate::process::finish(&mut place.command(&args), &args, input);
        assert_eq!(outcome.code, 2, "{more:?} {input:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("the task is empty"), "{}", outcome.stderr);
    }
}

/// The seconds and the tokens are those of the task; the session's are named as such.
#[test]
fn the_last_line_counts_the_task_and_says_how_to_go_on() {
    let place = Place::new();
    let usage = |id: &str| {
        Reply::sse([responses::message("ok"), responses::completed_with_usage(id, 100, 7)])
    };
    let model = FakeModel::start([usage("resp_1"), usage("resp_2")]);
    let first = run(&place, &model, &["first"]);
    assert!(first.stderr.contains("100 tokens in"), "{}", first.stderr);
    assert!(!first.stderr.contains("the whole session"), "{}", first.stderr);
    let line = first.stderr.lines().find_map(|line| line.strip_prefix("go on with: sabir "));
    let words: Vec<&str> = line.unwrap().split(' ').collect();
    assert_eq!(words[2..], ["--home", place.home.to_str().unwrap()]);

    let mut command = crate::process::sabir();
    command.current_dir(&place.work).args(&words).arg("second").env_remove("SABIR_HOME");
    let second = crate::process::finish(&mut command, &words, "");
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(second.stderr.contains(", 100 tokens in"), "{}", second.stderr);
    assert!(second.stderr.contains("; the whole session: 200 tokens in"), "{}", second.stderr);
}

/// A server that cares neither for the end of its input nor for signals, and what it started.
#[test]
fn no_server_of_tools_survives_the_program() {
    for (signal, code) in
        [(Signal::TERM, Some(143)), (Signal::HUP, Some(129)), (Signal::KILL, None)]
    {
        let place = Place::new();
        place.write(
            "server.sh",
            "trap '' TERM INT HUP\nsetsid sleep 1000 &\necho $! > started\necho $$ > server\n\
             while :; do sleep 0.1; done\n",
        );
        std::fs::create_dir_all(&place.home).unwrap();
        let config =
            "[mcp.deaf]\ncommand = [\"bash\", \"server.sh\"]\nstartup_timeout_ms = 100000\n";
        std::fs::write(place.home.join("sabir.toml"), config).unwrap();
        let model = FakeModel::start([]);
        let mut child = spawn(&place, &model, "x");
        let pids = ["started", "server"].map(|name| wait_for_file(&place.work.join(name)));
        send(&child, signal);
        assert_eq!(crate::process::wait(&mut child), code);
        pids.iter().for_each(|pid| wait_until_gone(pid));
    }
}

/// An editor's agent ends in order too.
#[test]
fn acp_ends_when_it_is_told_to() {
    use std::io::{BufRead as _, Write as _};
    let place = Place::new();
    let model = FakeModel::start([]);
    let base_url = model.base_url();
    let mut command = place.command(&["acp", "--model", "m", "--base-url", &base_url]);
    let mut child = command.spawn().unwrap();
    let greeting = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": { "protocolVersion": 1, "clientCapabilities": {} },
    });
    writeln!(child.stdin.as_mut().unwrap(), "{greeting}").unwrap();
    let mut answer = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    std::io::BufReader::new(stdout).read_line(&mut answer).unwrap();
    assert!(answer.contains("protocolVersion"), "{answer}");
    send(&child, Signal::TERM);
    assert_eq!(crate::process::wait(&mut child), Some(143));
}
