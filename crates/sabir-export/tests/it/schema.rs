//! The committed schema of the JSON form, against what comes out.

#![expect(clippy::disallowed_methods, reason = "tests read the committed files")]
#![expect(clippy::unwrap_used, reason = "a schema that cannot be read fails the test")]

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use proptest::prelude::*;
use sabir_export::{Artifact, Format, export, export_schema};
use sabir_testkit::cases;
use serde_json::{Value, json};

use crate::generate::{any_artifact, artifact};

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/schema/export.schema.json")
}

fn committed() -> Validator {
    let text = std::fs::read_to_string(path()).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

fn written(artifact: &Artifact) -> Value {
    serde_json::from_slice(&export(artifact, Format::Json).unwrap()).unwrap()
}

/// LC-O17.
#[test]
fn the_committed_schema_is_current() {
    let text = std::fs::read_to_string(path()).unwrap();
    assert!(text == format!("{:#}\n", export_schema()), "run `cargo xtask schema`");
}

/// LC-O17: it accepts every case, and a key that a later version adds.
#[test]
fn the_schema_accepts_what_is_written() {
    let schema = committed();
    for case in cases(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/artifact")) {
        let mut value = written(&artifact("T", &case.text));
        value["later"] = json!(1);
        let errors: Vec<String> = schema.iter_errors(&value).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", case.name);
    }
}

/// LC-O17: and refuses what is no artifact.
#[test]
fn the_schema_refuses_what_has_the_wrong_shape() {
    let schema = committed();
    let right = written(&artifact("T", "Words. [1]\n"));
    assert!(schema.is_valid(&right));
    for key in ["format", "version", "id", "title", "made_at", "markdown", "document", "references"]
    {
        let mut wrong = right.clone();
        wrong[key] = json!([{}]);
        assert!(!schema.is_valid(&wrong), "{key} is wrong");
        wrong.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&wrong), "{key} is missing");
    }
}

proptest! {
    /// LC-O17.
    #[test]
    fn the_schema_accepts_every_artifact(mut artifact in any_artifact()) {
        artifact.references.iter_mut().for_each(|it| it.number = it.number.max(1));
        let value = written(&artifact);
        prop_assert!(committed().is_valid(&value), "{value}");
    }
}
