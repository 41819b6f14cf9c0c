//! Artifacts in every form that is text, beside what they were made of.

use expect_test::expect_file;
use sabir_document::{Cites, Document};
use sabir_export::{Format, export};
use sabir_testkit::cases;

use crate::generate::artifact;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/artifact");

/// LC-O1, LC-O5, LC-O6, LC-O7, LC-O9, LC-O10.
#[test]
fn every_case_looks_as_it_should() {
    for case in cases(DATA) {
        let artifact = artifact("No tables", &case.text);
        let mut out = String::new();
        for format in [Format::Markdown, Format::Text, Format::Json, Format::Csv] {
            let bytes = export(&artifact, format).unwrap();
            let text = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
            out.push_str(&format!("==== {}\n{text}", format.extension()));
        }
        expect_file![case.out_path()].assert_eq(&out);
    }
}

/// LC-O5.
#[test]
fn the_body_reads_back_from_markdown() {
    for case in cases(DATA) {
        let artifact = artifact("A title of its own", &case.text);
        let markdown = String::from_utf8(export(&artifact, Format::Markdown).unwrap()).unwrap();
        let mut read = Document::from_cited_markdown(&markdown, Cites::Upto(3)).children;
        let body = artifact.document.children;
        // The title and when it was made.
        read.drain(..2);
        assert_eq!(read[..body.len()], body, "{}", case.name);
    }
}

/// LC-O7.
#[test]
fn json_has_its_keys_in_order() {
    let artifact = artifact("T", "words");
    let json = export(&artifact, Format::Json).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["format", "version", "id", "title", "made_at", "markdown", "document", "references"]
    );
    let keys: Vec<_> = value["references"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["number", "quote", "status", "title", "url"]);
}
