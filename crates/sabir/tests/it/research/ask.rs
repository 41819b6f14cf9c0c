//! `sabir ask`, with the built-in model and with one on a server.

use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};

use super::study::{HARBOUR, Study, TIDES, asked, fill};
use crate::engine::place::says;

#[test]
fn the_built_in_model_answers_from_the_sources_and_cites_them() {
    let study = Study::with_pages(&[("/tides", TIDES), ("/harbour", HARBOUR)]);
    study.capture(&["/tides", "/harbour"]);
    let answer = study.ask("When do spring tides come?");
    assert!(answer["answer"].as_str().unwrap().contains("Spring tides come at new moon"));
    let citation = &answer["citations"][0];
    assert_eq!(citation["status"], "verified");
    assert_eq!(citation["url"], study.url("/tides"));
    // The place is that of the words in what was captured.
    let library = study.library();
    let source = citation["source_id"].as_str().unwrap();
    let source = sabir_store::library::SourceId::parse(source).unwrap();
    let text = library.current_text(&source).unwrap().unwrap().markdown;
    let at = |name: &str| citation[name].as_u64().unwrap() as usize;
    let quote = citation["quote"].as_str().unwrap();
    assert!(text[at("start")..at("end")].contains("Spring tides come at new moon"));
    assert!(quote.contains("Spring tides come at new moon"));
    assert!(citation["link"].as_str().unwrap().contains("#:~:text="));
    // The same question has the same answer, whoever asks.
    assert_eq!(
        study.run(&["ask", "-c", "c", "--json", "--fresh", "When do spring tides come?"]).stdout,
        study.run(&["ask", "-c", "c", "--json", "--fresh", "When do spring tides come?"]).stdout
    );
}

#[test]
fn what_the_sources_do_not_say_is_said_so() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let answer = study.ask("Who won the chess championship of 1972?");
    assert!(answer["answer"].as_str().unwrap().contains("not in your sources"), "{answer}");
    let citations = answer["citations"].as_array().unwrap();
    assert!(citations.iter().all(|it| it["status"] != "verified"), "{answer}");
    // A collection with nothing in it is no reason to make something up.
    assert_eq!(study.place.run(&["collection", "new", "empty"]).code, 0);
    let outcome = study.run(&["ask", "-c", "empty", "When do spring tides come?"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("not in your sources"), "{}", outcome.stdout);
}

#[test]
fn people_see_numbers_and_marks_and_can_jump_to_the_passage() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let args = ["ask", "-c", "c", "--open=1", "When do neap tides come?"];
    let mut command = study.place.command(&args);
    let opened = study.place.work.join("opened");
    let opener = study.place.work.join("opener");
    std::fs::write(&opener, format!("#!/bin/sh\nprintf %s \"$1\" > '{}'\n", opened.display()))
        .unwrap();
    let mut mode = std::fs::metadata(&opener).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&opener, mode).unwrap();
    command.env("BROWSER", &opener);
    let outcome = crate::process::finish(&mut command, &args, "");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("[1] verified: Tides <http://"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("Neap tides come at the first"), "{}", outcome.stderr);
    let link = std::fs::read_to_string(&opened).unwrap();
    assert!(link.starts_with(&study.url("/tides#:~:text=")), "{link}");
}

/// The whole way of a packet: packed, answered, parsed, verified, stored, with what a model gets
/// wrong on the way.
#[test]
fn a_model_on_a_server_is_believed_only_as_far_as_its_quotes_are_found() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let model = FakeModel::answering(|request, _| {
        let user = asked(request).user;
        let source = user.split("src_").nth(1).unwrap();
        let end = source.find(|c: char| !c.is_ascii_alphanumeric()).unwrap();
        let source = format!("src_{}", &source[..end]);
        Some(fill(
            request,
            "Tides are strong at full moon [1] and weak [2], they say [3] [4].",
            &json!([
                { "source_id": source, "url": "https://evil.example/", "quote": "Spring tides come at new moon and at full moon", "confidence": 1.0 },
                { "source_id": source, "quote": "The range is about 60 percent smaller" },
                { "source_id": source, "quote": "neap tides come at the first and third quarter" },
                { "source_id": "src_nobody", "quote": "Spring tides come at new moon" },
            ]),
            &json!([]),
        ))
    });
    let outcome = study.ask_model(&model, &["--tools", "none"], "How strong are tides?");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let status: Vec<&str> = answer["citations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(status, ["verified", "unverified", "repaired", "unknown_source"], "{answer}");
    // Where it is comes from our record, not from the model.
    assert_eq!(answer["citations"][0]["url"], study.url("/tides"));
    // The repaired one has the source's own words.
    let repaired = answer["citations"][2]["quote"].as_str().unwrap();
    assert!(repaired.contains("the first and the third quarter"), "{repaired}");

    // The prompt has the page behind a fence that says how far to trust it, and the rules.
    let prompt = asked(&model.requests()[0]);
    assert!(prompt.user.contains("untrusted") && prompt.user.contains("Bay of Fundy"));
    assert!(prompt.system.contains("JSON"));

    // What is kept: the question, the answer, its citations; of the page a digest.
    let library = study.library();
    let collection = library.find_collection("c").unwrap();
    let chat = library.recent_chat(&collection.id, None, 10).unwrap();
    assert_eq!(chat.len(), 2);
    assert_eq!(library.citations_of_chat(&chat[1].id).unwrap().len(), 4);
    let runs = library.runs(Some(&collection.id), None, 10).unwrap();
    assert_eq!(runs.len(), 1);
    assert!(!runs[0].request_redacted.contains("makes the water swing with the moon"));
    assert!(runs[0].request_redacted.contains("sha256"));
    library.verify().unwrap();
}

#[test]
fn a_broken_answer_is_shown_and_runs_nothing() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let calls =
        json!([{ "name": "artifact.save", "arguments": { "title": "x", "markdown": "y" } }]);
    type Spoil = fn(String) -> String;
    let cases: [(&str, Spoil); 4] = [
        ("fenced", |packet| format!("```json\n{packet}\n```")),
        ("thinking", |packet| format!("<think>hm</think>{packet}")),
        ("trailing comma", |packet| {
            packet.replace("\"tool_calls\":", "\"x_calls\":[],\"tool_calls\":")
        }),
        ("prose", |_| "**Tides** come and go.".to_owned()),
    ];
    for (name, spoil) in cases {
        let calls = calls.clone();
        let model = FakeModel::answering(move |request, _| {
            let user = asked(request).user;
            let packet = user.trim_end().lines().next_back().unwrap();
            let mut packet: Value = serde_json::from_str(packet).unwrap();
            packet["assistant"]["render"] = json!({ "type": "doc", "children": [
                { "type": "paragraph", "children": [{ "type": "text", "text": "Tides come and go." }] }] });
            packet["tool_calls"] = calls.clone();
            Some(says("r", &spoil(packet.to_string())))
        });
        let outcome = study.ask_model(&model, &[], "What about tides?");
        assert_eq!(outcome.code, 0, "{name}: {}", outcome.stderr);
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert!(answer["answer"].as_str().unwrap().contains("come and go"), "{name}: {answer}");
        assert_eq!(answer["calls"], json!([]), "{name}: {answer}");
        // Why it is only shown is said, and where the fault is.
        let notes = answer["notes"].to_string();
        assert!(notes.contains("the answer has a fault"), "{name}: {notes}");
        assert_eq!(model.requests().len(), 1, "{name}");
    }
    assert!(study.library().artifacts(None, None, 10).unwrap().is_empty());
}

#[test]
fn a_model_that_fails_leaves_a_run_and_a_clear_word() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let model = FakeModel::start([Reply::error(400, "bad", "no such model")]);
    let outcome = study.ask_model(&model, &[], "What about tides?");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("no such model"), "{}", outcome.stderr);
    let runs = study.library().runs(None, None, 10).unwrap();
    assert_eq!(runs.len(), 1);
    assert!(runs[0].fault.is_some());
}
