//! `sabir log` and `sabir replay --session`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use sabir_axon::{Rules, Tier};
use sabir_lingua::{Form, hear, utter};
use sabir_store::{Entry, Store};
use serde_json::Value;

use super::home::{CALL, Home, ORDER, SESSION, append};
use crate::process::{run, sabir};

fn places(rows: &[Value]) -> Vec<String> {
    let place = |row: &Value| format!("{}/{}", row["journal"].as_str().unwrap(), row["seq"]);
    rows.iter().map(place).collect()
}

#[test]
fn the_rows_of_every_journal_are_listed_in_the_order_of_time() {
    let home = Home::new();
    let nothing = home.run(&["log"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
    assert!(nothing.stderr.contains("nothing was written down"), "{}", nothing.stderr);
    let home = Home::filled();
    let all = home.rows(&["log", "--json", "-n", "100"]);
    let node = (1..=11).map(|seq| format!("node/{seq}"));
    let others = ["researcher/1", "researcher/2", "researcher/3", "audit/1"].map(str::to_owned);
    assert_eq!(places(&all), node.chain(others).collect::<Vec<_>>());
    assert_eq!(all[1]["summary"], "user asks agent for user input (1): paint the fence");
    assert_eq!((&all[1]["kind"], &all[1]["session_id"]), (&"submission".into(), &SESSION.into()));
    assert_eq!(all[1]["hash"].as_str().unwrap().len(), 64);
    let shown = home.stdout(&["log", "-n", "2"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(lines[0].starts_with("researcher/3"), "{shown}");
    assert!(lines[1].starts_with("audit/1 ") && lines[1].contains("gate refuses"), "{shown}");
}

#[test]
fn what_is_not_asked_for_is_not_shown() {
    let home = Home::filled();
    let found = |args: &[&str]| {
        places(&home.rows(&[&["log", "--json", "-n", "100"], args].concat())).join(" ")
    };
    assert_eq!(found(&["--journal", "audit"]), "audit/1");
    assert_eq!(found(&["--session", ORDER]), "node/8 node/9 node/10 node/11");
    assert_eq!(found(&["--kind", "turn", "--kind", "approval"]), "node/4 node/6");
    assert_eq!(found(&["--tag", "deny"]), "audit/1");
    assert_eq!(found(&["--grep", "is \"GREEN\" now"]), "node/5");
    assert_eq!(found(&["--grep", "colours", "--kind", "event"]), "node/10");
    assert_eq!(
        found(&["--since", "1970-01-01T00:50:00Z"]),
        "researcher/1 researcher/2 researcher/3 audit/1"
    );
    assert_eq!(found(&["--until", "1970-01-01T00:16:40Z"]), "");
    assert_eq!(found(&["--since", "1h"]), "");
    let none = home.run(&["log", "--grep", "words that nobody said"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("no row fits"), "{}", none.stderr);
    for wrong in [&["log", "--since", "then"][..], &["log", "--as", "latin"], &["log", "12"]] {
        assert_eq!(home.run(wrong).code, 2, "{wrong:?}");
    }
    let unknown = home.run(&["log", "--journal", "coder"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("there are node, researcher, audit"), "{}", unknown.stderr);
}

/// Every row of every journal, in every language: each can be read, and they say the same.
#[test]
fn all_forms_of_all_rows_say_the_same() {
    let home = Home::filled();
    let of = |form: &str| home.rows(&["log", "--json", "-n", "100", "--as", form]);
    let (json, axon, llmx, english) = (of("json"), of("axon"), of("llmx"), of("english"));
    assert_eq!(json.len(), 15);
    for row in 0..json.len() {
        let text = |rows: &[Value]| rows[row]["text"].as_str().unwrap().to_owned();
        let told = hear(&text(&json), Form::Json).unwrap();
        for (form, rows) in [(Form::Axon, &axon), (Form::Llmx, &llmx)] {
            let heard = hear(&text(rows), form);
            assert_eq!(heard.as_ref(), Some(&told), "{}", text(rows));
        }
        let said = text(&axon);
        let found = sabir_axon::check(&said, Rules { tier: Some(Tier::One) });
        assert!(!found.has_errors(), "{said}");
        assert!(!sabir_llmx::check(&text(&llmx)).has_errors(), "{}", text(&llmx));
        assert_eq!(text(&english), utter(&told, Form::English).unwrap());
        for rows in [&json, &axon, &llmx, &english] {
            assert!(rows[row]["tokens"].as_u64().unwrap() > 10, "{}", rows[row]);
        }
    }
    // The other commands of the program agree.
    let document = axon.iter().map(|row| row["text"].as_str().unwrap()).collect::<Vec<_>>();
    let checked = run(&["axon", "check", "--tier", "1"], document.join("\n"));
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let plain = home.stdout(&["log", "--as", "axon", "--journal", "audit"]);
    assert_eq!(plain.trim_end(), axon[14]["text"].as_str().unwrap());
}

#[test]
fn one_row_is_shown_in_four_languages() {
    let home = Home::filled();
    let shown = home.stdout(&["log", "node/5"]);
    for words in ["json (", "axon (", "llmx (", "english (", "tokens of o200k)", "agent tells user"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let row = home.stdout(&["log", "node/5", "--json", "--tokenizer", "llama3"]);
    let row: Value = serde_json::from_str(&row).unwrap();
    assert_eq!(row["vocabulary"], "llama3");
    for form in ["json", "axon", "llmx", "english"] {
        assert!(row["tokens"][form].as_u64().unwrap() > 10, "{row}");
        assert!(row["forms"][form].as_str().unwrap().contains("green"), "{row}");
    }
    assert!(row["body"].as_str().unwrap().contains("agent_message"));
    assert_eq!(home.stdout(&["log", "node/5", "--as", "json"]).trim_end(), row["forms"]["json"]);
    let missing = home.run(&["log", "node/99"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (1, ""));
}

/// Beside a process that writes, and in a journal that was not there when it began.
#[test]
fn what_is_written_is_followed() {
    let home = Home::new();
    let store = Store::open(home.path()).unwrap();
    append(&store, SESSION, 1, vec![super::home::facts("m", None)]);
    let mut command = sabir();
    command.args(["log", "--follow", "--as", "json", "-n", "1", "--home"]).arg(home.path());
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["id"], "node/1");
    let item = || Entry::Item { body: "\"more\"".to_owned() };
    append(&store, SESSION, 2, vec![item(), item()]);
    assert_eq!(next()["id"], "node/2");
    assert_eq!(next()["id"], "node/3");
    home.write_decisions();
    assert_eq!(next()["id"], "audit/1");
    append(&store, SESSION, 3, vec![item()]);
    assert_eq!(next()["id"], "node/4");
    // Who does not read any more is not written for.
    drop(lines);
    append(&store, SESSION, 4, vec![item()]);
    assert_eq!(crate::process::wait(&mut child), Some(0));
}

#[test]
fn a_stored_session_is_replayed_like_its_export() {
    let home = Home::filled();
    let exported = home.stdout(&["sessions", "export", SESSION]);
    let from_file = run(&["replay", "--json"], &exported);
    assert_eq!(from_file.code, 0, "{}", from_file.stderr);
    assert_eq!(home.stdout(&["replay", "--session", SESSION, "--json"]), from_file.stdout);
    let shown = home.stdout(&["replay", "--session", SESSION]);
    assert_eq!(shown, "It is \"green\" now.\n");
    let axon = home.stdout(&["replay", "--session", SESSION, "--as", "axon"]);
    assert_eq!(
        axon,
        home.stdout(&["log", "--session", SESSION, "--as", "axon", "--journal", "node"])
    );
    assert_eq!(run(&["replay", "--as", "axon"], &exported).stdout, axon);
    assert!(axon.contains(CALL));
    let order = home.stdout(&["replay", "--session", ORDER]);
    assert!(
        order.contains("nobody else knows colours") && order.contains("state: done"),
        "{order}"
    );
    let missing = home.run(&["replay", "--session", "nobody"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
}
