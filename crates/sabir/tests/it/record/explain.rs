//! `sabir explain` for everything that has a name.

use serde_json::Value;

use super::home::{CALL, Home, ORDER, PEER, SESSION, TASK};

fn explained(home: &Home, id: &str) -> (String, Vec<Value>) {
    let all = home.stdout(&["explain", id, "--json"]);
    (home.stdout(&["explain", id]), serde_json::from_str(&all).unwrap())
}

#[test]
fn sessions_and_orders_say_what_came_of_them() {
    let home = Home::filled();
    let (shown, things) = explained(&home, SESSION);
    assert!(shown.starts_with(&format!("{SESSION} is a session: paint the fence\n")), "{shown}");
    for words in ["state: done", "model: m", "waits for a person: call_remove", "1 of the gate"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(shown.contains(&format!("sabir log --session {SESSION}")), "{shown}");
    assert_eq!((&things[0]["what"], &things[0]["state"]), (&"session".into(), &"done".into()));

    // Also by the name that a delegate knows its task by.
    for name in [ORDER, &ORDER[6..]] {
        let (shown, things) = explained(&home, name);
        for words in ["an order: choose a colour", "nobody else knows colours", "done by: ldp:"] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert_eq!((&things[0]["what"], &things[0]["id"]), (&"order".into(), &ORDER.into()));
        assert_eq!(things.len(), 1);
    }
}

#[test]
fn tasks_delegations_delegates_and_responses_are_told_apart() {
    let home = Home::filled();
    home.pin(7);
    for (id, what, words) in [
        (TASK, "task", &["sent to researcher", "SKILL_FAILED: no source", "skill: research"][..]),
        ("given-away-1", "delegation", &["given to ldp:delegate:peer", "TIMEOUT: too slow"]),
        (PEER, "delegate", &["a delegate that this node knows", "key: "]),
        ("resp_7", "response", &[SESSION, "sabir fork"]),
        (CALL, "approval", &["asked for: rm paint", "waits for a person", "sabir log node/4"]),
        ("dangerous_command", "", &[]),
        ("ldp:delegate:nobody", "", &[]),
        ("x1-no-such", "", &[]),
    ] {
        if what.is_empty() {
            assert_eq!(home.run(&["explain", id]).code, 2);
            continue;
        }
        let (shown, things) = explained(&home, id);
        assert_eq!(things[0]["what"], what, "{shown}");
        for word in words {
            assert!(shown.contains(word), "{word}: {shown}");
        }
    }
}

#[test]
fn a_row_is_explained_as_the_log_shows_it() {
    let home = Home::filled();
    assert_eq!(home.stdout(&["explain", "audit/1"]), home.stdout(&["log", "audit/1"]));
    assert_eq!(home.run(&["explain", "audit/2"]).code, 2);
}

#[test]
fn the_beginning_of_a_name_is_enough_if_it_is_one() {
    let home = Home::filled();
    assert_eq!(explained(&home, "0198-ses"), explained(&home, SESSION));
    let start = &ORDER[..12];
    assert_eq!(explained(&home, start), explained(&home, ORDER));
    // What is short is everywhere.
    assert_eq!(home.run(&["explain", "0198"]).code, 2);
}
