//! What the gate decides in a session is in the audit before it is done, under the policy file of the
//! home, and can be asked about.

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use super::client::{Client, settings_for};
use super::place::{Place, calls, output_of, runs, says};
use crate::process::Outcome;

fn run(place: &Place, model: &FakeModel, more: &[&str]) -> Outcome {
    let base_url = model.base_url();
    place.run(&[&["run", "--model", "m", "--base-url", base_url.as_str()], more].concat())
}

fn write_policy(place: &Place, text: &str) {
    std::fs::create_dir_all(&place.home).unwrap();
    std::fs::write(place.home.join("policy.toml"), text).unwrap();
}

/// The rows of a call.
fn rows(place: &Place, call_id: &str) -> Vec<Value> {
    let outcome = place.run(&["explain", call_id, "--json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn fields(rows: &[Value], key: &str) -> Vec<String> {
    rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

/// LC-G37: a command that asks for the audit finds itself in it.
#[test]
fn what_is_decided_is_stored_before_it_is_done() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_sabir");
    let home = place.home.to_str().unwrap();
    let model = FakeModel::start([
        runs("resp_1", "call_self", &[program, "audit", "list", "--home", home]),
        says("resp_2", "done"),
    ]);
    let outcome = run(&place, &model, &["--sandbox", "danger-full-access", "look"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let told = output_of(&model.requests()[1], "call_self");
    let line = told.lines().find(|line| line.contains("call_self")).unwrap();
    assert!(line.contains("allow") && line.contains("shell"), "{told}");
    // And it stays: the same rows are found later, in a chain that is whole.
    let rows = rows(&place, "call_self");
    assert_eq!(fields(&rows, "outcome"), ["allow"]);
    assert!(rows[0]["at"].as_u64().unwrap() > 1_700_000_000_000, "{rows:?}");
    let verified = place.run(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    assert!(verified.stdout.contains("the library is whole: 1 decisions"), "{}", verified.stdout);
}

/// LC-G37: what cannot be written down is not done, and somebody is told.
#[test]
fn what_cannot_be_written_down_does_not_happen() {
    let place = Place::new();
    std::fs::create_dir_all(&place.home).unwrap();
    std::fs::write(place.home.join("library.db"), "this is no library".repeat(100)).unwrap();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["touch", "made"]),
        says("resp_2", "never said"),
    ]);
    let outcome = run(&place, &model, &["make it"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let words = "what was decided cannot be written down";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("library.db"), "{}", outcome.stderr);
    assert!(!place.work.join("made").exists());
    assert_eq!(model.requests().len(), 1);
}

/// LC-G38: a question that a crash left open is closed when the session goes on.
#[test]
fn an_open_question_is_closed_when_the_session_is_resumed() {
    let place = Place::new();
    let model = FakeModel::start([runs("resp_1", "call_open", &["rm", "-f", "a"])]);
    let mut client = Client::start(&place);
    let settings = settings_for(&place, &model, &json!({}));
    let session = client.configure("c", &settings);
    client.say("1", "clean up");
    client.until("1", "exec_approval_request");
    client.kill();
    assert_eq!(fields(&rows(&place, "call_open"), "approval"), ["requested"]);
    let mut client = Client::start(&place);
    client.configure("again", &json!({ "session_id": session }));
    client.close();
    let closed = rows(&place, "call_open");
    assert_eq!(fields(&closed, "approval"), ["requested", "aborted"]);
    assert_eq!(fields(&closed, "outcome"), ["ask", "deny"]);
    assert_eq!(fields(&closed, "actor"), [session.as_str(), session.as_str()]);
    // Once is enough.
    let mut client = Client::start(&place);
    client.configure("again", &json!({ "session_id": session }));
    client.close();
    assert_eq!(rows(&place, "call_open").len(), 2);
}

/// LC-G27: a policy file that forbids commands forbids them to agents.
#[test]
fn a_policy_file_forbids_commands() {
    let place = Place::new();
    write_policy(&place, "[[deny]]\ntool = \"shell\"\nreason = \"nothing is run here\"\n");
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["touch", "made"]),
        says("resp_2", "It is forbidden."),
    ]);
    let outcome = run(&place, &model, &["--sandbox", "danger-full-access", "make it"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "It is forbidden.\n"));
    let reason = "the policy file forbids this: nothing is run here";
    assert!(outcome.stderr.contains(reason), "{}", outcome.stderr);
    assert!(output_of(&model.requests()[1], "call_1").contains(reason));
    assert!(!place.work.join("made").exists());
    let explained = place.run(&["explain", "call_1"]);
    assert!(explained.stdout.starts_with("shell was refused (call call_1 of "), "{explained:?}");
    assert!(explained.stdout.contains("policy.denied"), "{explained:?}");
}

/// LC-G27, LC-G39: what is asked for is refused where nobody can be asked, and a host is forbidden to
/// commands that name it.
#[test]
fn a_policy_file_binds_reads_patches_and_hosts() {
    let place = Place::new();
    place.write("a.txt", "a secret\n");
    write_policy(
        &place,
        "[[ask]]\ntool = \"read\"\n[[ask]]\ntool = \"apply_patch\"\n[[deny]]\nhost = \"*.evil.example\"\n",
    );
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let curl = json!({ "command": ["bash", "-c", "echo ran > ran; curl https://x.evil.example"] });
    let model = FakeModel::start([
        Reply::sse([
            responses::call("call_read", "read_file", &json!({ "path": "a.txt" })),
            responses::call("call_patch", "apply_patch", &json!({ "input": patch })),
            responses::call("call_curl", "shell", &curl),
            responses::completed("resp_1"),
        ]),
        says("resp_2", "ok"),
    ]);
    let outcome = run(&place, &model, &["go"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for call in ["call_read", "call_patch"] {
        let rows = rows(&place, call);
        assert_eq!(fields(&rows, "outcome"), ["ask", "deny"], "{rows:?}");
        assert_eq!(fields(&rows, "reason_code"), ["policy_asks", "policy_asks"]);
    }
    let told = output_of(&model.requests()[1], "call_curl");
    assert!(told.contains("the policy file forbids this"), "{told}");
    assert!(!place.work.join("new.txt").exists() && !place.work.join("ran").exists());
}

/// LC-G40: a session that is resumed is held by the file as it is then.
#[test]
fn a_resumed_session_is_held_by_the_policy_of_today() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["touch", "one"]),
        says("resp_2", "ok"),
        runs("resp_3", "call_2", &["touch", "two"]),
        says("resp_4", "ok"),
    ]);
    let mut client = Client::start(&place);
    let session = client.configure("c", &settings_for(&place, &model, &json!({})));
    client.say("1", "first");
    client.until("1", "task_complete");
    client.close();
    write_policy(&place, "[[deny]]\ntool = \"shell\"\n");
    let mut client = Client::start(&place);
    client.configure("c", &json!({ "session_id": session }));
    client.say("2", "second");
    client.until("2", "task_complete");
    client.close();
    assert!(place.work.join("one").exists() && !place.work.join("two").exists());
}

/// LC-G40: nothing starts under a policy file that is not understood.
#[test]
fn a_broken_policy_file_is_an_error_with_its_line() {
    let place = Place::new();
    write_policy(&place, "[[deny]]\ntool = \"shell\"\n\n[[forbid]]\ntool = \"read\"\n");
    let model = FakeModel::start([says("resp_1", "never said")]);
    let outcome = run(&place, &model, &["go"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    let file = place.home.join("policy.toml");
    let words = format!("error: {}: line 4: ", file.display());
    assert!(outcome.stderr.contains(&words), "{}", outcome.stderr);
    assert!(model.requests().is_empty());
    for command in [&["proto"][..], &["policy", "show"], &["policy", "check", "read"]] {
        let outcome = place.run(command);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{command:?}");
        assert!(outcome.stderr.contains(&words), "{command:?}: {}", outcome.stderr);
    }
}

/// LC-G41: a call is explained by its id or the beginning of it.
#[test]
fn calls_are_explained_and_listed() {
    let place = Place::new();
    let nothing = place.run(&["audit", "list"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
    assert!(!place.home.join("library.db").exists());
    let model = FakeModel::start([
        Reply::sse([
            responses::call("call_abc1", "shell", &json!({ "command": ["ls"] })),
            responses::call("call_abc2", "shell", &json!({ "command": ["rm", "-rf", "x"] })),
            responses::call("call_xyz", "shell", &json!({ "command": ["pwd"] })),
            responses::completed("resp_1"),
        ]),
        says("resp_2", "ok"),
    ]);
    assert_eq!(run(&place, &model, &["go"]).code, 0);
    let explained = place.run(&["explain", "call_x"]);
    assert_eq!(explained.code, 0, "{}", explained.stderr);
    assert!(explained.stdout.starts_with("shell was allowed (call call_xyz of "), "{explained:?}");
    assert!(explained.stdout.contains("decided by exec.known-safe"), "{explained:?}");
    let several = place.run(&["explain", "call_a"]);
    assert_eq!((several.code, several.stdout.as_str()), (2, ""));
    assert!(several.stderr.contains("call_abc1, call_abc2"), "{}", several.stderr);
    let refused = rows(&place, "call_abc2");
    assert_eq!(fields(&refused, "reason_code").last().unwrap(), "dangerous_command");
    assert_eq!(fields(&refused, "outcome").last().unwrap(), "deny");
    for wrong in ["call_nothing", "", "%"] {
        let unknown = place.run(&["explain", wrong]);
        assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""), "{wrong}");
        assert!(unknown.stderr.contains("sabir audit list"), "{}", unknown.stderr);
    }
    let all = place.run(&["audit", "list", "--json"]);
    let all: Vec<Value> = serde_json::from_str(&all.stdout).unwrap();
    let listed = place.run(&["audit", "list", "-n", "1"]);
    assert_eq!(listed.stdout.lines().count(), 1);
    let last = fields(&all[all.len() - 1..], "call_id").remove(0);
    assert!(listed.stdout.contains(&last), "{}", listed.stdout);
    let numbers: Vec<u64> = all.iter().map(|row| row["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

/// LC-G37: patches and other agents have rows, and what they do has rows of its own.
#[test]
fn patches_and_agents_have_rows() {
    let place = Place::new();
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let model = FakeModel::start([
        calls("resp_1", "call_patch", "apply_patch", &json!({ "input": patch })),
        calls("resp_2", "call_spawn", "spawn_agent", &json!({ "task": "list it" })),
        runs("resp_3", "call_below", &["ls"]),
        says("resp_4", "listed"),
        says("resp_5", "done"),
    ]);
    let outcome = run(&place, &model, &["go"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let subject = |call| fields(&rows(&place, call), "subject");
    assert_eq!(subject("call_patch"), ["apply_patch"]);
    assert_eq!(subject("call_spawn"), ["spawn"]);
    assert_eq!(subject("call_below"), ["shell"]);
    let actor = |call| fields(&rows(&place, call), "actor");
    assert_ne!(actor("call_below"), actor("call_spawn"));
}
