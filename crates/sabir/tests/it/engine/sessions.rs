//! `sabir sessions`, `resume`, `fork`, `replay`: what was, and going on from it, on the command line.

use sabir_testkit::fake_model::FakeModel;
use serde_json::{Value, json};

use super::client::Client;
use super::place::{Place, items, output_of, runs, says};

fn listed(place: &Place) -> Vec<Value> {
    let outcome = place.run(&["sessions", "--json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn sessions_are_listed_for_people_and_for_programs() {
    let place = Place::new();
    assert_eq!(listed(&place), [] as [Value; 0]);
    let model = FakeModel::start([says("resp_1", "one"), says("resp_2", "two")]);
    let mut client = Client::open(&place, &model);
    client.say("1", "paint the fence");
    client.until("1", "task_complete");
    // While the program runs, and after it.
    let during = listed(&place);
    client.close();
    let after = listed(&place);
    assert_eq!(during, after);
    assert_eq!(after.len(), 1);
    assert_eq!(after[0]["id"], client.seen[0]["msg"]["session_id"]);
    assert_eq!(after[0]["title"], "paint the fence");
    assert_eq!(after[0]["cwd"], json!(place.work));
    assert_eq!((&after[0]["turns"], &after[0]["model"]), (&json!(1), &json!("m")));
    let shown = place.run(&["sessions"]).stdout;
    assert!(shown.contains("paint the fence") && shown.contains("1 turn "), "{shown}");
}

#[test]
fn an_exported_session_is_replayed_and_one_that_was_changed_is_not() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["echo", "a line"]),
        says("resp_2", "That was a line."),
    ]);
    let mut client = Client::open(&place, &model);
    client.say("1", "run it");
    client.until("1", "task_complete");
    client.close();
    let id = client.seen[0]["msg"]["session_id"].as_str().unwrap();
    let exported = place.run(&["sessions", "export", id]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let file = place.work.join("session.jsonl");
    std::fs::write(&file, &exported.stdout).unwrap();
    let file = file.to_str().unwrap();

    let replayed = crate::process::run(&["replay", file, "--json"], "");
    assert_eq!(replayed.code, 0, "{}", replayed.stderr);
    let events: Vec<Value> =
        replayed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events, client.seen);
    let shown = crate::process::run(&["replay", file], "");
    assert_eq!((shown.code, shown.stdout.as_str()), (0, "That was a line.\n"));
    for words in ["> run it", "$ echo 'a line'"] {
        assert!(shown.stderr.contains(words), "{}", shown.stderr);
    }

    let changed = exported.stdout.replacen("a line", "a lime", 1);
    let refused = crate::process::run(&["replay", "--json"], changed);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("changed"), "{}", refused.stderr);
    assert_eq!(crate::process::run(&["replay"], "nonsense\n").code, 1);
    let missing = place.run(&["sessions", "export", "nobody"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
}

/// QP-J13: an export that is not whole is shown to be so, also between entries of other sessions.
#[test]
fn an_export_from_which_something_is_missing_is_no_export() {
    let place = Place::new();
    let model =
        FakeModel::start([says("resp_1", "one"), says("resp_2", "two"), says("resp_3", "three")]);
    let base_url = model.base_url();
    let agent = ["--model", "m", "--base-url", base_url.as_str()];
    for task in ["first", "of another"] {
        assert_eq!(place.run(&[&["run", task][..], &agent].concat()).code, 0);
    }
    let id = listed(&place)[1]["id"].as_str().unwrap().to_owned();
    assert_eq!(place.run(&["resume", &id, "second"]).code, 0);
    let exported = place.run(&["sessions", "export", &id]).stdout;
    let whole = crate::process::run(&["replay"], &exported);
    assert_eq!((whole.code, whole.stdout.as_str()), (0, "one\nthree\n"), "{}", whole.stderr);

    let lines: Vec<&str> = exported.lines().collect();
    let replay = |lines: &[&str]| crate::process::run(&["replay", "--json"], lines.join("\n"));
    for at in 0..lines.len() {
        let mut fewer = lines.clone();
        let gone = fewer.remove(at);
        let outcome = replay(&fewer);
        assert_eq!(outcome.code, 1, "without {gone}");
        assert!(outcome.stderr.contains("missing") || outcome.stderr.contains("are here"));
        let changed = gone.replacen("\"at_ms\":1", "\"at_ms\":2", 1);
        if changed != gone {
            fewer.insert(at, &changed);
            assert_eq!(replay(&fewer).code, 1, "with {changed}");
        }
    }
    for end in 0..lines.len() {
        assert_eq!(replay(&lines[..end]).code, 1, "cut after {end} lines");
    }
    let nothing = crate::process::run(&["replay", "/dev/null"], "");
    assert_eq!(nothing.code, 1);
    assert!(nothing.stderr.contains("no entry"), "{}", nothing.stderr);
}

#[test]
fn a_session_that_is_not_there_is_the_same_failure_for_all() {
    let place = Place::new();
    let model = FakeModel::start([]);
    let base_url = model.base_url();
    for args in [&["resume", "nope", "x"][..], &["fork", "nope", "--at", "resp_1", "x"]] {
        let agent = ["--model", "m", "--base-url", base_url.as_str()];
        let outcome = place.run(&[args, &agent].concat());
        assert_eq!(outcome.code, 1, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("nope"), "{}", outcome.stderr);
    }
}

#[test]
fn resume_goes_on_where_the_last_session_here_ended() {
    let place = Place::new();
    let model =
        FakeModel::start([says("resp_1", "one"), says("resp_2", "two"), says("resp_3", "three")]);
    let base_url = model.base_url();
    let agent = ["--model", "m", "--base-url", base_url.as_str()];
    let first = place.run(&[&["run", "first"][..], &agent].concat());
    assert_eq!((first.code, first.stdout.as_str()), (0, "one\n"), "{}", first.stderr);
    let id = listed(&place)[0]["id"].as_str().unwrap().to_owned();
    assert!(first.stderr.contains(&format!("sabir resume {id}")), "{}", first.stderr);

    // The session knows its model.
    let second = place.run(&["resume", &id, "second"]);
    assert_eq!((second.code, second.stdout.as_str()), (0, "two\n"), "{}", second.stderr);
    assert_eq!(items(&model.requests()[1]), ["user: first", "assistant: one", "user: second"]);
    let nobody = place.run(&["resume", "nobody", "x"]);
    assert_eq!(nobody.code, 1, "{}", nobody.stderr);
    assert!(nobody.stderr.contains("sabir sessions"), "{}", nobody.stderr);
    assert_eq!(listed(&place).len(), 1);
}

#[test]
fn fork_starts_a_session_from_the_middle_of_another() {
    let place = Place::new();
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["echo", "one"]),
        says("resp_2", "two"),
        says("resp_3", "three"),
        says("resp_4", "four"),
    ]);
    let base_url = model.base_url();
    let run = place.run(&["run", "first", "--model", "m", "--base-url", base_url.as_str()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let id = listed(&place)[0]["id"].as_str().unwrap().to_owned();

    let forked = place.run(&["fork", &id, "--at", "resp_1", "another way"]);
    assert_eq!((forked.code, forked.stdout.as_str()), (0, "three\n"), "{}", forked.stderr);
    let asked = &model.requests()[2];
    assert_eq!(items(asked).len(), 4);
    assert!(output_of(asked, "call_1").contains("one"));

    // Without a task it only says the name of what it made.
    let forked = place.run(&["fork", &id, "--at", "resp_2"]);
    assert_eq!(forked.code, 0, "{}", forked.stderr);
    let fork = forked.stdout.trim();
    let all = listed(&place);
    assert_eq!(all.len(), 3);
    let made = all.iter().find(|it| it["id"] == fork).unwrap();
    assert_eq!(made["parent"]["session_id"], json!(id));
    let resumed = place.run(&["resume", fork, "go on"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "four\n"), "{}", resumed.stderr);
    assert_eq!(items(&model.requests()[3]).len(), 5);

    let nowhere = place.run(&["fork", &id, "--at", "resp_9"]);
    assert_eq!(nowhere.code, 1, "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("resp_9"), "{}", nowhere.stderr);
}
