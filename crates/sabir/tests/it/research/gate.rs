//! What a model proposes about a collection: only tools that it was told of, only what a person says
//! yes to at the terminal, and nothing forgotten from one question to the next.

use sabir_policy::{ApprovalMark, AuditRow};
use sabir_store::library::Library;
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::{Value, json};

use super::study::{Study, TIDES, asked, fill, filled, obeys};
use crate::engine::place::says;
use crate::engine::terminal::Terminal;

fn rows(library: &Library) -> Vec<AuditRow> {
    let rows = library.audit(0, 100).unwrap();
    rows.iter().map(|row| serde_json::from_str(&row.body).unwrap()).collect()
}

/// Later than any question is open.
const LATER_MS: u64 = 60 * 60 * 1000;

fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

/// `sabir ask` at a terminal, over a page of strangers.
fn ask_at_terminal(study: &Study, model: &FakeModel) -> Terminal {
    let base_url = model.base_url();
    let args = ["ask", "-c", "c", "--model", "m", "--base-url", &base_url, "Keep it?"];
    Terminal::of(study.place.command(&args))
}

fn saves() -> Value {
    let key = "sk-live-0123456789abcdefghij";
    let markdown = format!("hello\n    (typed by the user)\nkey {key}");
    json!([{ "name": "artifact.save", "arguments": { "title": "Kept", "markdown": markdown } }])
}

/// LC-G26: the question is put, a yes carries it out, a no does not, and what is no answer is asked
/// again. What is stored of the question holds no secret.
#[test]
fn a_person_at_the_terminal_is_asked() {
    for (keys, artifacts, last) in
        [("y\n", 1, ApprovalMark::Approved), ("perhaps\nn\n", 0, ApprovalMark::Denied)]
    {
        let study = Study::with_pages(&[("/tides", TIDES)]);
        study.capture(&["/tides"]);
        let model = obeys(saves());
        let mut terminal = ask_at_terminal(&study, &model);
        terminal.until("artifact.save: content of strangers is in the context");
        terminal.until("    |     (typed by the user)");
        terminal.until("Allow artifact.save? [y]es [n]o: ");
        let library = study.library();
        let open = library.open_approvals(10, now_ms()).unwrap();
        assert_eq!(open.len(), 1);
        assert!(!open[0].question.contains("sk-live"), "{}", open[0].question);
        assert!(open[0].question.contains("artifact.save"), "{}", open[0].question);
        for line in keys.split_inclusive('\n') {
            terminal.press(line);
        }
        let word =
            if artifacts == 1 { "artifact.save: ok" } else { "artifact.save: denied by you" };
        terminal.until(word);
        terminal.until("Done.");
        assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
        let kept = library.artifacts(None, None, 10).unwrap();
        assert_eq!(kept.len(), artifacts);
        assert_eq!(rows(&library).last().unwrap().approval, last);
        if let [kept] = kept.as_slice() {
            finds_again(&study, &terminal.shown, kept.id.as_str());
        }
    }
}

/// The id is said, the collection lists it, and `sabir share` writes it.
fn finds_again(study: &Study, shown: &str, id: &str) {
    assert!(shown.contains(&format!("artifact.save: ok, {id}")), "{shown}");
    let listed = study.place.run(&["collection", "show", "c"]).stdout;
    assert!(listed.contains(&format!("{id}  completed  note  Kept")), "{listed}");
    assert!(listed.contains(", 1 artifacts\n"), "{listed}");
    let listed = study.place.run(&["collection", "show", "c", "--json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let artifact = &listed["artifacts"][0];
    assert_eq!(artifact["id"], id, "{listed}");
    let told = (&artifact["kind"], &artifact["title"], &artifact["status"]);
    assert_eq!(told, (&json!("note"), &json!("Kept"), &json!("completed")));
    let shared = study.place.run(&["share", id]);
    assert_eq!(shared.code, 0, "{}", shared.stderr);
}

/// LC-G46: who said no to a call is not asked for the same again in this turn.
#[test]
fn a_no_is_not_asked_for_again() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let model = FakeModel::answering(|request, number| {
        let calls = if number < 2 { saves() } else { json!([]) };
        Some(fill(request, "Done.", &json!([]), &calls))
    });
    let mut terminal = ask_at_terminal(&study, &model);
    terminal.until("Allow artifact.save? [y]es [n]o: ");
    terminal.press("n\n");
    terminal.until("denied before in this turn");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
    assert_eq!(terminal.shown.matches("[y]es [n]o").count(), 1, "{}", terminal.shown);
    let library = study.library();
    assert!(library.artifacts(None, None, 10).unwrap().is_empty());
    let rows = rows(&library);
    let marks: Vec<ApprovalMark> = rows.iter().map(|row| row.approval).collect();
    assert_eq!(marks, [ApprovalMark::Requested, ApprovalMark::Denied, ApprovalMark::Denied]);
    assert!(rows[2].reason.contains("denied before in this turn"), "{:?}", rows[2]);
    assert_ne!(rows[1].call_id, rows[2].call_id);
    // A new question is a new turn.
    let model = obeys(saves());
    let mut terminal = ask_at_terminal(&study, &model);
    terminal.until("Allow artifact.save? [y]es [n]o: ");
    terminal.press("n\n");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
}

/// LC-G25: a yes that comes too late is no yes, and is not called a no.
#[test]
fn a_late_yes_is_written_down_as_late() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let model = obeys(saves());
    let mut terminal = ask_at_terminal(&study, &model);
    terminal.until("Allow artifact.save? [y]es [n]o: ");
    // The clock of another process has gone on.
    let library = study.library();
    assert!(library.open_approvals(10, now_ms() + LATER_MS).unwrap().is_empty());
    terminal.press("y\n");
    terminal.until("came too late");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
    assert!(library.artifacts(None, None, 10).unwrap().is_empty());
    assert_eq!(rows(&library).last().unwrap().approval, ApprovalMark::Expired);
}

#[test]
fn keys_pressed_too_early_answer_no_question() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let gate = Gate::new();
    let wait = gate.clone();
    let model = FakeModel::answering(move |request, number| {
        Some(match number {
            0 => {
                let packet = filled(request, "I keep it.", &json!([]), &saves()).to_string();
                let rest = responses::message(&packet) + &responses::completed("resp_1");
                Reply::sse([""; 0]).then_wait(&wait).then(rest)
            }
            _ => fill(request, "Done.", &json!([]), &json!([])),
        })
    });
    let mut terminal = ask_at_terminal(&study, &model);
    terminal.press("y\ny\ny\n");
    terminal.until("y\r\ny\r\ny\r\n");
    gate.open();
    terminal.until("Allow artifact.save? [y]es [n]o: ");
    terminal.press("n\n");
    terminal.until("Done.");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
    assert!(study.library().artifacts(None, None, 10).unwrap().is_empty());
}

/// Ctrl-C at a question ends everything: the other calls are not even proposed, and the run is kept.
#[test]
fn an_interrupt_stops_what_was_proposed() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let mut calls = saves();
    let more = json!({ "name": "app.calculate", "arguments": { "expression": "1+1" } });
    calls.as_array_mut().unwrap().push(more);
    let model = obeys(calls);
    let mut terminal = ask_at_terminal(&study, &model);
    terminal.until("Allow artifact.save? [y]es [n]o: ");
    terminal.interrupt();
    assert_eq!(terminal.exit_code(), Some(2), "{}", terminal.shown);
    let library = study.library();
    assert!(library.artifacts(None, None, 10).unwrap().is_empty());
    let rows = rows(&library);
    assert_eq!(rows.last().unwrap().approval, ApprovalMark::Aborted);
    assert!(rows.iter().all(|row| row.subject == "artifact.save"));
    assert_eq!(model.requests().len(), 1);
    let collection = library.find_collection("c").unwrap().id;
    let runs = library.runs(Some(&collection), None, 10).unwrap();
    assert_eq!(runs.len(), 1);
    assert!(runs[0].chat_id.is_some());
}

/// LC-G43: a tool that was not offered does not run, whoever proposes it and wherever.
#[test]
fn only_tools_that_were_offered_run() {
    let calculate = json!({ "name": "app.calculate", "arguments": { "expression": "1+1" } });
    let search = json!({ "name": "search", "arguments": { "query": "tides" } });
    let url = |study: &Study| study.url("/tides");
    let schema = r#"{"type":"object"}"#;
    let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let cases = [
        ("summarize", words(&["summarize"]), &calculate),
        ("extract", words(&["extract", "--schema", "s.json"]), &calculate),
        ("transform", words(&["transform", "-c", "c", "timeline"]), &calculate),
        ("ask none", words(&["ask", "-c", "c", "--tools", "none", "What?"]), &calculate),
        ("ask library", words(&["ask", "-c", "c", "What?"]), &search),
    ];
    for (name, mut args, call) in cases {
        let study = Study::with_pages(&[("/tides", TIDES)]);
        study.capture(&["/tides"]);
        study.place.write("s.json", schema);
        if matches!(name, "summarize" | "extract") {
            args.push(url(&study));
        }
        let model = match name {
            // A model that gives no data has failed.
            "extract" => {
                let calls = json!([call]);
                FakeModel::answering(move |request, number| {
                    let calls = if number == 0 { calls.clone() } else { json!([]) };
                    let mut packet = filled(request, "Done.", &json!([]), &calls);
                    if number > 0 {
                        packet["assistant"]["data"] = json!({ "moon": "new" });
                    }
                    Some(says("r", &packet.to_string()))
                })
            }
            _ => obeys(json!([call])),
        };
        let base_url = model.base_url();
        args.extend(["--model", "m", "--base-url", &base_url].map(str::to_owned));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let outcome = study.run(&args);
        assert!(outcome.code < 2, "{name}: {}", outcome.stderr);
        // People are told, whichever command it was.
        assert!(outcome.stderr.contains("refused: "), "{name}: {}", outcome.stderr);
        let rows = rows(&study.library());
        let codes: Vec<&str> = rows.iter().map(|row| row.reason_code.as_str()).collect();
        assert_eq!(codes, ["not_offered"], "{name}");
        let told = asked(&model.requests()[1]).user;
        assert!(told.contains("UNSUPPORTED_TOOL"), "{name}: {told}");
    }
}

/// LC-G44: what belongs to another collection is asked for, unless the user named it or this turn
/// made it.
#[test]
fn another_collection_is_asked_for() {
    let study = Study::with_pages(&[]);
    assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0);
    assert_eq!(study.place.run(&["collection", "new", "diary"]).code, 0);
    let library = study.library();
    let other = library.find_collection("diary").unwrap().id;
    let list = json!([
        { "name": "collection.list_sources", "arguments": { "collectionId": other } },
    ]);
    let outcome = study.ask_model(&obeys(list.clone()), &["--fresh"], "What is there?");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["calls"][0]["reason_code"], "other_collection", "{answer}");
    assert_eq!(answer["calls"][0]["outcome"], "deny", "{answer}");
    let outcome = study.ask_model(&obeys(list), &["--fresh"], &format!("What is in {other} ?"));
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["calls"][0]["result"], "ok", "{answer}");
}

/// LC-G4: an answer carries what it was made from into the next question, though the sources are gone
/// by then; an answer from nothing carries nothing.
#[test]
fn taint_lasts_from_one_question_to_the_next() {
    for (is_tainted, reason) in [(true, "tainted_effect"), (false, "on_request")] {
        let study = Study::with_pages(&[("/tides", TIDES)]);
        match is_tainted {
            true => study.capture(&["/tides"]),
            false => assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0),
        }
        let first = study.ask_model(&obeys(json!([])), &[], "What about tides?");
        assert_eq!(first.code, 0, "{}", first.stderr);
        let library = study.library();
        let collection = library.find_collection("c").unwrap().id;
        for source in library.sources(&collection, 0, 10).unwrap() {
            library.remove_source(&source.id, now_ms()).unwrap();
        }
        let second = study.ask_model(&obeys(saves()), &[], "Keep it for me.");
        let answer: Value = serde_json::from_str(&second.stdout).unwrap();
        assert_eq!(answer["calls"][0]["reason_code"], reason, "{answer}");
        let taint = &rows(&library)[0].taint;
        let is_carried = taint.untrusted.iter().any(|it| it.starts_with("doc:chat:"));
        assert_eq!(is_carried, is_tainted, "{taint:?}");
    }
}

/// LC-G4: what a tool read of the user's own is private from then on.
#[test]
fn what_a_tool_reads_of_the_users_own_is_private() {
    let study = Study::with_pages(&[]);
    assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0);
    let collection = study.library().find_collection("c").unwrap().id;
    let model = obeys(json!([
        { "name": "collection.list_sources", "arguments": { "collectionId": collection } },
        { "name": "search", "arguments": { "query": "tides" } },
    ]));
    let outcome = study.ask_model(&model, &["--tools", "browser"], "What is new?");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["calls"][0]["result"], "ok", "{answer}");
    assert_eq!(answer["calls"][1]["reason_code"], "private_data_exposed", "{answer}");
}
