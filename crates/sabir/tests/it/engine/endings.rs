//! How the program ends: with its input, with `shutdown`, and not because of another program.

use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::json;

use super::client::{Client, settings_for};
use super::place::{Place, check_requests, output_of, runs, says, wait_for_file, wait_until_gone};

#[test]
fn end_of_input_ends_an_idle_engine() {
    let place = Place::new();
    Client::start(&place).close();
    let model = FakeModel::start([]);
    Client::open(&place, &model).close();
}

/// A script can pipe its submissions in and read the events.
#[test]
fn a_busy_engine_finishes_first() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["bash", "-c", "sleep 0.2; echo done > done.txt"]),
        says("resp_2", "one"),
        says("resp_3", "two"),
    ]);
    let mut client = Client::start(&place);
    let mut configure = settings_for(&place, &model, &json!({}));
    configure["type"] = json!("configure_session");
    client.send("c", &configure);
    client.say("1", "go");
    client.say_with("2", "and then", &json!({ "mode": "queue" }));
    client.close();
    let ended: Vec<&str> =
        client.all_of("task_complete").iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ended, ["1", "2"]);
    assert_eq!(place.read("done.txt"), "done\n");
}

/// Nobody can answer any more: the model is told, and the task goes on.
#[test]
fn what_would_have_to_be_asked_for_is_then_denied() {
    let place = Place::new();
    place.write("a", "a\n");
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-f", "a"]),
        runs("resp_2", "call_2", &["rm", "-f", "a"]),
        says("resp_3", "I may not."),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "go");
    client.until("1", "exec_approval_request");
    client.close();
    assert_eq!(client.all_of("task_complete").len(), 1);
    for (request, call_id) in [(1, "call_1"), (2, "call_2")] {
        let told = output_of(&model.requests()[request], call_id);
        assert!(told.starts_with("denied") && told.contains("nobody is there"), "{told}");
    }
    assert_eq!(place.read("a"), "a\n");
    check_requests(&model);
}

#[test]
fn shutdown_aborts_what_runs_and_says_when_it_is_done() {
    let place = Place::new();
    let script = "setsid sleep 1000 & echo $! > pid; wait";
    let model = FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script])]);
    let settings = json!({
        "approval_policy": "never",
        "sandbox_policy": { "mode": "danger-full-access" },
    });
    let mut client = Client::open_with(&place, &model, &settings);
    client.say("1", "go");
    let pid = wait_for_file(&place.work.join("pid"));
    client.send("2", &json!({ "type": "shutdown" }));
    client.until_exit(Some(0));
    let kinds: Vec<&str> =
        client.seen.iter().map(|event| event["msg"]["type"].as_str().unwrap()).collect();
    assert!(kinds.ends_with(&["turn_aborted", "shutdown_complete"]), "{kinds:?}");
    assert_eq!(client.seen.last().unwrap()["id"], "2");
    wait_until_gone(&pid);
}

/// The reader of the events is gone: nobody would see what is done.
#[test]
fn when_the_reader_goes_away_everything_is_stopped() {
    use std::io::{BufRead as _, BufReader, Write as _};

    let place = Place::new();
    let script = "setsid sleep 1000 & echo $! > pid; while true; do echo x; sleep 0.01; done";
    let model = FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script])]);
    let settings = json!({
        "approval_policy": "never",
        "sandbox_policy": { "mode": "danger-full-access" },
    });
    let mut child = place.command(&["proto"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut op = settings_for(&place, &model, &settings);
    op["type"] = json!("configure_session");
    let say = json!({ "type": "user_input", "items": [{ "type": "text", "text": "go" }] });
    writeln!(stdin, "{}", json!({ "id": "c", "op": op })).unwrap();
    writeln!(stdin, "{}", json!({ "id": "1", "op": say })).unwrap();
    let pid = wait_for_file(&place.work.join("pid"));
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    assert_eq!(crate::process::wait(&mut child), Some(0));
    wait_until_gone(&pid);
}

#[test]
fn a_second_program_on_the_same_home_is_told_so() {
    let place = Place::new();
    let gate = Gate::new();
    let reply = Reply::sse([responses::text_delta("a")])
        .then_wait(&gate)
        .then(responses::message("a") + &responses::completed("resp_1"));
    let model = FakeModel::start([reply]);
    let mut first = Client::open(&place, &model);
    first.say("1", "go");
    first.until("1", "agent_message_delta");
    let base_url = model.base_url();
    let agent = ["run", "--model", "m", "--base-url", base_url.as_str(), "hello"];
    for args in [&["proto"][..], &agent] {
        let second = place.run(args);
        assert_eq!((second.code, second.stdout.as_str()), (2, ""), "{}", second.stderr);
        let home = place.home.to_str().unwrap();
        assert!(second.stderr.contains(home), "{}", second.stderr);
        assert!(second.stderr.contains("another"), "{}", second.stderr);
    }
    // Reading needs no lock.
    assert_eq!(place.run(&["sessions", "--json"]).code, 0);
    gate.open();
    first.until("1", "task_complete");
    first.close();
    let third = Client::open(&place, &model);
    drop(third);
}
