//! What people and programs are shown of answers that are not as they should be.

use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};

use super::study::{Study, TIDES, asked, fill, filled};
use crate::engine::place::says;

/// The id of the only source, as the model reads it.
fn source_in(prompt: &str) -> String {
    let source = prompt.split("src_").nth(1).unwrap();
    let end = source.find(|c: char| !c.is_ascii_alphanumeric()).unwrap();
    format!("src_{}", &source[..end])
}

/// LC-P49: a citation that cannot be read keeps its number and proves nothing; a mark without a
/// citation says so.
#[test]
fn a_dropped_citation_moves_no_other() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    for confidence in [json!(7), json!(0.5)] {
        let model = FakeModel::answering(move |request, _| {
            let source = source_in(&asked(request).user);
            let citations = json!([
                { "source_id": source, "quote": "The moon is cheese", "confidence": confidence },
                { "source_id": source, "quote": "Spring tides come at new moon" },
            ]);
            let mut packet = filled(request, "", &citations, &json!([]));
            packet["assistant"]["render"] = json!({ "type": "doc", "children": [
                { "type": "paragraph", "children": [
                    { "type": "text", "text": "The moon is cheese." }, { "type": "cite", "ref": 1 },
                    { "type": "text", "text": " Tides come." }, { "type": "cite", "ref": 2 },
                    { "type": "text", "text": " So they say." }, { "type": "cite", "ref": 99 },
                ] }] });
            Some(says("r", &packet.to_string()))
        });
        let outcome = study.ask_model(&model, &[], "What about tides?");
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let status = |at: usize| answer["citations"][at]["status"].as_str().unwrap().to_owned();
        assert_eq!((status(0), status(1)), ("unverified".into(), "verified".into()), "{answer}");
        assert_eq!(answer["citations"][1]["number"], 2);
        let text = answer["answer"].as_str().unwrap();
        assert!(text.contains("no citation 99"), "{text}");
        assert!(!text.contains("[99]"), "{text}");
        let library = study.library();
        let collection = library.find_collection("c").unwrap().id;
        let kept = library.recent_chat(&collection, None, 1).unwrap();
        let kept = library.citations_of_chat(&kept[0].id).unwrap();
        assert_eq!((kept.len(), kept[1].position), (2, 2));
    }
}

#[test]
fn an_empty_answer_is_no_answer() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    for text in ["", "<think>hm</think>", "packet"] {
        let model = FakeModel::answering(move |request, _| {
            let mut packet = filled(request, "", &json!([]), &json!([]));
            packet["assistant"]["render"] = json!({ "type": "doc", "children": [] });
            let packet = packet.to_string();
            Some(says("r", if text == "packet" { &packet } else { text }))
        });
        let base_url = model.base_url();
        let server = ["--model", "m", "--base-url", base_url.as_str()];
        for args in [&["ask", "-c", "c", "What?"][..], &["transform", "-c", "c", "timeline"]] {
            let outcome = study.run(&[args, &server].concat());
            assert_eq!(outcome.code, 2, "{args:?} {text:?}: {}", outcome.stdout);
            assert!(outcome.stderr.contains("gave no answer"), "{text:?}: {}", outcome.stderr);
        }
    }
    let library = study.library();
    let made = library.artifacts(None, None, 10).unwrap();
    assert_eq!(made.len(), 3);
    assert!(made.iter().all(|it| it.status.as_str() == "failed"), "{made:?}");
    // What could not be made is not handed on.
    let outcome = study.place.run(&["share", made[0].id.as_str(), "-o", "-"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("could not be made"), "{}", outcome.stderr);
    // The runs stand beside what they were for.
    let collection = library.find_collection("c").unwrap().id;
    let runs = library.runs(Some(&collection), None, 10).unwrap();
    assert_eq!(runs.len(), 6);
    assert!(runs.iter().all(|run| run.chat_id.is_some() != run.artifact_id.is_some()));
}

#[test]
fn data_that_does_not_fit_is_the_models_fault() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.place.write("s.json", r#"{"type":"object","required":["price"]}"#);
    let model = FakeModel::answering(|request, _| {
        let mut packet = filled(request, "Here.", &json!([]), &json!([]));
        packet["assistant"]["data"] = json!({ "cost": 1 });
        Some(says("r", &packet.to_string()))
    });
    let base_url = model.base_url();
    let url = study.url("/tides");
    let args = ["extract", "--json", "--schema", "s.json", &url, "--model", "m", "--base-url"];
    let outcome = study.run(&[&args[..], &[&base_url]].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("price"), "{}", outcome.stderr);
    // So is no data at all.
    let model = FakeModel::answering(|request, _| {
        let packet = filled(request, "There is no price.", &json!([]), &json!([]));
        Some(says("r", &packet.to_string()))
    });
    let base_url = model.base_url();
    let outcome = study.run(&[&args[..], &[&base_url]].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no data"), "{}", outcome.stderr);
}

/// What a model says reaches a terminal without the backslashes of Markdown, and a program without
/// characters that nobody sees.
#[test]
fn answers_are_shown_as_they_are_meant() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let model = FakeModel::answering(|request, _| {
        let text = "2 * 3 * 4_x_ \u{202e}turned\u{200b} [back](slash)";
        Some(fill(request, text, &json!([]), &json!([])))
    });
    let base_url = model.base_url();
    let args = ["ask", "-c", "c", "--model", "m", "--base-url", &base_url, "What?"];
    let outcome = study.run(&args);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("2 * 3 * 4_x_"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("[back](slash)"), "{}", outcome.stdout);
    let outcome = study.ask_model(&model, &[], "What?");
    assert!(!outcome.stdout.contains(['\u{202e}', '\u{200b}']), "{}", outcome.stdout);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert!(answer["answer"].as_str().unwrap().contains("turned"), "{answer}");
}

/// LC-C18: an address that is not kept whole leads to another page, so that none is opened.
#[test]
fn a_page_whose_address_is_not_told_is_not_opened() {
    let study = Study::with_site(|_| Some(Reply::body(200, "text/html", TIDES)));
    study.capture(&["/tides?session=0123456789abcdef"]);
    let answer = study.ask("When do neap tides come?");
    assert_eq!(answer["citations"][0]["status"], "verified", "{answer}");
    assert_eq!(answer["citations"][0]["link"], Value::Null, "{answer}");
    let args = ["ask", "-c", "c", "--open=1", "When do neap tides come?"];
    let mut command = study.place.command(&args);
    let opened = study.place.work.join("opened");
    let opener = study.place.work.join("opener");
    std::fs::write(&opener, format!("#!/bin/sh\ntouch '{}'\n", opened.display())).unwrap();
    std::fs::set_permissions(&opener, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    command.env("BROWSER", &opener);
    let outcome = crate::process::finish(&mut command, &args, "");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("Neap tides come at the first"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("its page is not opened"), "{}", outcome.stderr);
    assert!(!opened.exists());
}

/// Programs find every field, also when it is empty.
#[test]
fn fields_are_there_when_they_are_empty() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    assert_eq!(study.ask("When do spring tides come?")["calls"], json!([]));
    let url = study.url("/tides");
    let schema =
        r#"{"type":"object","properties":{"wings":{"type":"number"}},"required":["wings"]}"#;
    let args = ["extract", "--json", "--schema", "-", &url, "--allow-egress"];
    let egress = study.site.address().to_string();
    let args = [&args[..], &[egress.as_str()]].concat();
    let outcome = crate::process::finish(&mut study.place.command(&args), &args, schema);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(found.get("data"), Some(&Value::Null), "{found}");
    let outcome = study.run(&["summarize", &url, "--json"]);
    let summary: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(summary["citations"][0]["source_id"], Value::Null, "{summary}");
    assert_eq!(summary["citations"][0]["doc_id"], "doc:web:summary", "{summary}");
}

#[test]
fn arguments_mean_what_they_say() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    for count in ["0", "101"] {
        let outcome = study.run(&["transform", "-c", "c", "quiz", "--count", count]);
        assert_eq!(outcome.code, 2, "{count}");
    }
    // A question behind --open is a question.
    let args = ["ask", "-c", "c", "--open", "When do neap tides come?"];
    let mut command = study.place.command(&args);
    command.env("BROWSER", "true");
    let outcome = crate::process::finish(&mut command, &args, "");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("Neap tides come"), "{}", outcome.stderr);
    // The built-in model needs no configuration, but a broken one may hold what the policy denies.
    std::fs::write(study.place.home.join("sabir.toml"), "what = [").unwrap();
    let args = ["ask", "-c", "c", "--model", "extractive", "When do neap tides come?"];
    let outcome = study.run(&args);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("sabir.toml: line 1"), "{}", outcome.stderr);
}

/// What is hidden in an answer is spelled out, so that nothing stands there unseen.
#[test]
fn hidden_characters_of_an_answer_are_seen() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let model = FakeModel::answering(|request, _| {
        let packet = filled(request, "a\u{200b}b\u{ad}c\u{2028}d", &json!([]), &json!([]));
        Some(says("r", &packet.to_string()))
    });
    let base_url = model.base_url();
    let args = ["ask", "-c", "c", "--model", "m", "--base-url", &base_url, "What?"];
    let outcome = study.run(&args);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let hidden = ['\u{200b}', '\u{ad}', '\u{2028}'];
    assert!(!outcome.stdout.contains(hidden), "{:?}", outcome.stdout);
}

/// Whatever was paid for is shown and kept, as far as there is room.
#[test]
fn long_answers_and_titles_are_kept_as_far_as_there_is_room() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let model = FakeModel::answering(|request, _| {
        let packet = filled(request, &"word ".repeat(80_000), &json!([]), &json!([]));
        Some(says("r", &packet.to_string()))
    });
    let outcome = study.ask_model(&model, &[], "What about tides?");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.len() > 390_000);
    let library = study.library();
    let collection = library.find_collection("c").unwrap().id;
    let kept = library.recent_chat(&collection, None, 1).unwrap();
    assert!(kept[0].markdown.ends_with("more bytes ...]"), "{}", kept[0].markdown.len());

    let name = "t".repeat(495);
    let url = study.url("/tides");
    assert_eq!(study.run(&["capture", "-c", &name, &url]).code, 0);
    let outcome = study.run(&["transform", "-c", &name, "timeline"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}
