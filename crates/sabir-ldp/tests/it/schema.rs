//! The schemas agree with the reader: what it reads passes them, and so does what we write.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use proptest::prelude::*;
use sabir_ldp::{card_schema, envelope_schema};
use sabir_testkit::cases;
use serde_json::{Value, json};

use crate::made::{card, data, envelope};

fn check(schema: &Value, folder: &str) {
    let validator = jsonschema::validator_for(schema).unwrap();
    for case in cases(data(&format!("{folder}/ok"))) {
        let value: Value = serde_json::from_str(&case.text).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{}: {error}", case.name);
        }
    }
}

/// LD-W39: messages and cards of every dialect pass the schemas.
#[test]
fn what_is_read_passes_the_schema() {
    check(&envelope_schema(), "envelopes");
    check(&card_schema(), "cards");
}

/// LD-W39: the schemas can refuse.
#[test]
fn what_is_wrong_does_not_pass() {
    let envelope = jsonschema::validator_for(&envelope_schema()).unwrap();
    let card = jsonschema::validator_for(&card_schema()).unwrap();
    let message = |body: Value| {
        json!({
            "message_id": "m", "from": "a", "timestamp": "2026-11-16T12:00:00Z", "body": body,
        })
    };
    assert!(envelope.is_valid(&message(json!({ "type": "SESSION_CLOSE" }))));
    for body in [
        json!({}),
        json!({ "type": "TASK_EXPLODE" }),
        json!({ "type": "TASK_CANCEL" }),
        json!({ "type": "TASK_RESULT", "task_id": "t", "output": 1 }),
        json!({ "type": "SESSION_PROPOSE", "config": { "ttl_secs": -1 } }),
        json!({ "type": "SESSION_PROPOSE", "config": { "ttl_secs": 1.5 } }),
    ] {
        assert!(!envelope.is_valid(&message(body.clone())), "{body}");
    }
    assert!(!card.is_valid(&json!({ "delegate_id": "harbor" })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// LD-W39: whatever we write passes the schemas.
    #[test]
    fn what_is_written_passes_the_schema(message in envelope(), card in card()) {
        let validator = jsonschema::validator_for(&envelope_schema()).unwrap();
        prop_assert!(validator.is_valid(&message.to_value()), "{:#}", message.to_value());
        let validator = jsonschema::validator_for(&card_schema()).unwrap();
        prop_assert!(validator.is_valid(&card.to_value()), "{:#}", card.to_value());
    }
}
