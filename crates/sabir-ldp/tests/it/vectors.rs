//! `spec/vectors/ldp-messages.json` and `ldp-negotiation.json`, against which other programs can check
//! themselves. They are made of the same cases as the other tests.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use expect_test::expect_file;
use sabir_ldp::{PayloadMode, Received, negotiate};
use sabir_testkit::cases;
use serde_json::{Value, json};

use crate::made::data;
use crate::negotiation::{lists_of_ours, offers};

fn check(file: &str, vectors: &Value) {
    let text = serde_json::to_string_pretty(vectors).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors").join(file);
    expect_file![path].assert_eq(&(text + "\n"));
}

/// LD-W40: every message in every dialect, what we would send in its place, and texts that are none.
#[test]
fn the_vectors_of_messages() {
    let read: Vec<Value> = cases(data("envelopes/ok"))
        .into_iter()
        .map(|case| {
            let received: Value = serde_json::from_str(&case.text).unwrap();
            let sent = Received::read(&case.text).unwrap().envelope.to_value();
            json!({ "name": case.name, "received": received, "sent": sent })
        })
        .collect();
    let refused: Vec<Value> = cases(data("envelopes/err"))
        .into_iter()
        .map(|case| {
            let malformed = Received::read(&case.text).unwrap_err();
            let (pointer, text) = (malformed.pointer, case.text);
            json!({ "name": case.name, "text": text, "pointer": pointer })
        })
        .collect();
    check("ldp-messages.json", &json!({ "read": read, "refused": refused }));
}

/// LD-W40: offers and lists of ours, with what is negotiated.
#[test]
fn the_vectors_of_negotiation() {
    let modes = [
        PayloadMode::CacheSlices,
        PayloadMode::SemanticGraph,
        PayloadMode::SemanticFrame,
        PayloadMode::Text,
    ];
    let mut rows = Vec::new();
    for ours in lists_of_ours() {
        for offer in offers(&modes) {
            let negotiated = negotiate(&offer, &ours);
            rows.push(json!({
                "offer": offer,
                "ours": ours,
                "mode": negotiated.mode,
                "fallback_chain": negotiated.fallback_chain,
            }));
        }
    }
    check("ldp-negotiation.json", &json!({ "negotiations": rows }));
}
