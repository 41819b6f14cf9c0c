//! `sabir transform` and `sabir share`: what is made opens in other programs.

use std::process::Command;

use serde_json::Value;

use super::study::{HARBOUR, Study, TIDES};

fn made(study: &Study, kind: &str) -> String {
    let outcome = study.run(&["transform", "-c", "c", kind]);
    assert_eq!(outcome.code, 0, "{kind}: {}", outcome.stderr);
    let id = outcome.stdout.trim().to_owned();
    assert!(id.starts_with("art_"), "{id}");
    id
}

#[test]
fn every_artifact_is_made_and_shared_in_every_format() {
    let study = Study::with_pages(&[("/tides", TIDES), ("/harbour", HARBOUR)]);
    study.capture(&["/tides", "/harbour"]);
    for kind in [
        "comparison",
        "timeline",
        "executive_brief",
        "report",
        "outline",
        "study_guide",
        "quiz",
        "flashcards",
    ] {
        let id = made(&study, kind);
        for format in ["markdown", "text", "json", "csv", "pdf"] {
            let outcome = study.place.run(&["share", &id, "--format", format]);
            assert_eq!(outcome.code, 0, "{kind} {format}: {}", outcome.stderr);
            let name = outcome.stdout.trim();
            let bytes = std::fs::read(study.place.work.join(name)).unwrap();
            assert!(!bytes.is_empty(), "{kind} {format}");
            if format == "json" {
                serde_json::from_slice::<Value>(&bytes).unwrap();
            }
        }
    }
    // A second file does not overwrite the first.
    let id = made(&study, "timeline");
    let names: Vec<String> = (0..2)
        .map(|_| study.place.run(&["share", &id, "--format", "text"]).stdout.trim().to_owned())
        .collect();
    assert_ne!(names[0], names[1]);
    let outcome = study.place.run(&["share", &id, "--format", "markdown", "-o", "-"]);
    assert!(outcome.stdout.contains("1909"), "{}", outcome.stdout);
    assert_eq!(study.place.run(&["share", "art_none", "--format", "pdf"]).code, 2);
}

#[test]
fn the_pdf_has_the_words() {
    let study = Study::with_pages(&[("/tides", TIDES)]);
    study.capture(&["/tides"]);
    let id = made(&study, "executive_brief");
    let name = study.place.run(&["share", &id, "--format", "pdf"]).stdout.trim().to_owned();
    let read = Command::new("pdftotext").arg(study.place.work.join(&name)).arg("-").output();
    let read = read.expect("pdftotext is in Debian's poppler-utils");
    let text = String::from_utf8(read.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Bay of Fundy"), "{text}");
    assert!(text.contains("verified"), "{text}");
}
