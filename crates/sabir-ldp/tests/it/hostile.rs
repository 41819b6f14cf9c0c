//! Whatever a peer sends, it gets an answer: no panic, no endless loop, no superlinear time.

use proptest::prelude::*;
use sabir_ldp::{Fault, IdentityCard, Received, Weighed};
use serde_json::{Map, Value};

use crate::made::{any_json, card, envelope};

/// Puts `with` where the `at`-th value of a JSON text stands, counted in the order of writing.
fn replaced(value: &mut Value, at: &mut usize, with: &Value) -> bool {
    if *at == 0 {
        *value = with.clone();
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| replaced(item, at, with)),
        Value::Object(fields) => fields.values_mut().any(|field| replaced(field, at, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// LD-W5: any text gets an answer.
    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,200}|[\\[\\]{}\":,a-z0-9\\\\]{0,200}") {
        let _ = Received::read(&text);
        let _ = IdentityCard::check(&text);
    }

    /// LD-W5: a message in which one value was changed is read, or refused with a place that exists
    /// in it.
    #[test]
    fn one_wrong_value_is_found(made in envelope(), at in 0_usize..80, with in any_json()) {
        let mut value = made.to_value();
        replaced(&mut value, &mut { at }, &with);
        match Received::read(&value.to_string()) {
            Ok(received) => {
                let again = Received::read(&received.envelope.to_text());
                prop_assert!(again.is_ok_and(|again| again.envelope == received.envelope));
            }
            Err(malformed) => {
                prop_assert!(value.pointer(&malformed.pointer).is_some(), "{}", malformed);
                prop_assert!(malformed.message.len() < 400, "{}", malformed);
            }
        }
    }

    /// LD-W20: the same of cards.
    #[test]
    fn one_wrong_value_of_a_card_is_found(made in card(), at in 0_usize..60, with in any_json()) {
        let mut value = made.to_value();
        replaced(&mut value, &mut { at }, &with);
        let reading = IdentityCard::check(&value.to_string());
        for finding in &reading.findings {
            prop_assert!(value.pointer(&finding.pointer).is_some(), "{}", finding);
        }
        if let Some(card) = reading.card {
            prop_assert_eq!(IdentityCard::check(&card.to_text()).card, Some(card));
        }
    }

    /// LD-W2: unknown keys, and null for any key that may be missing, change nothing. LD-W15: but in a
    /// contract an unknown key is a term, and only null says nothing.
    #[test]
    fn unknown_keys_change_nothing(made in envelope(), extra in any_json()) {
        let mut value = made.to_value();
        for place in ["", "/body", "/body/config", "/body/error", "/body/provenance", "/provenance"] {
            if let Some(Value::Object(fields)) = value.pointer_mut(place) {
                fields.insert("x_unknown".to_owned(), extra.clone());
                fields.insert("x_null".to_owned(), Value::Null);
            }
        }
        let parts =
            ["/body/contract", "/body/contract/policy", "/body/contract/policy/budget"];
        for part in parts {
            if let Some(Value::Object(terms)) = value.pointer_mut(part) {
                terms.insert("x_null".to_owned(), Value::Null);
            }
        }
        let read = Received::read(&value.to_string());
        prop_assert_eq!(read.ok().map(|received| received.envelope), Some(made));
        for part in parts {
            let mut value = value.clone();
            if let Some(Value::Object(terms)) = value.pointer_mut(part) {
                terms.insert("x_unknown".to_owned(), 1.into());
                let refused = Received::read(&value.to_string()).unwrap_err();
                prop_assert_eq!(refused.pointer, format!("{part}/x_unknown"));
            }
        }
    }
}

/// LD-W42: what fits into 64 bits is kept to the digit wherever JSON is free, and what does not is
/// refused with its place.
#[test]
fn integers_are_kept_to_the_digit_or_refused() {
    let of = |body: &str| {
        format!(
            r#"{{"message_id":"m","from":"a","timestamp":"2026-11-16T12:00:00Z","body":{body}}}"#
        )
    };
    let bodies = |number: &str| {
        [
            format!(r#"{{"type":"TASK_SUBMIT","task_id":"t","skill":"s","input":[{number}]}}"#),
            format!(
                r#"{{"type":"TASK_RESULT","task_id":"t","output":[{number}],
                "provenance":{{"produced_by":"a","payload_mode_used":"text"}}}}"#
            ),
            format!(r#"{{"type":"ATTESTATION","claim":[{number}]}}"#),
            format!(r#"{{"type":"ATTESTATION","evidence":[{number}]}}"#),
            format!(
                r#"{{"type":"TASK_FAILED","task_id":"t","error":{{"code":"X","message":"m",
                "partial_output":[{number}]}}}}"#
            ),
        ]
    };
    for kept in ["18446744073709551615", "-9223372036854775808", "9007199254740993"] {
        for body in bodies(kept) {
            let received = Received::read(&of(&body)).unwrap();
            let sent = received.envelope.to_text();
            assert!(sent.contains(&format!("[{kept}]")), "{sent}");
        }
    }
    for long in ["18446744073709551616", "-9223372036854775809", "12345678901234567890123456"] {
        for body in bodies(long) {
            let refused = Received::read(&of(&body)).unwrap_err();
            assert!(refused.pointer.ends_with("/0"), "{refused}");
            assert!(refused.message.contains(long), "{refused}");
        }
    }
    // What has a point or an exponent is a double, for everybody who reads it.
    let double = Received::read(&of(&bodies("1e26")[0])).unwrap();
    let sent: Value = serde_json::from_str(&double.envelope.to_text()).unwrap();
    assert_eq!(sent["body"]["input"][0], 1e26);
}

/// LD-W41: values are counted before anything is made of them, whatever they stand in, and what looks
/// like some in a text is none.
#[test]
fn a_message_has_no_more_values_than_it_may() {
    let message = |input: &str| {
        format!(
            r#"{{"message_id":"m","from":"a","timestamp":"2026-11-16T12:00:00Z",
            "body":{{"type":"TASK_SUBMIT","task_id":"t","skill":"s","input":{input}}}}}"#
        )
    };
    let list =
        |value: &str, count: usize| message(&format!("[{}]", [value].repeat(count).join(",")));
    // Eight values are around the list, and it is one itself.
    for (value, values) in [("0", 1), ("\"\"", 1), ("[0]", 2), ("{\"\":0}", 2), ("[{\"\":[0]}]", 4)]
    {
        let most = (200_000 - 9) / values;
        assert!(Received::read(&list(value, most)).is_ok(), "{value}");
        let refused = Received::read(&list(value, most + 1)).unwrap_err();
        assert_eq!((refused.fault, refused.to_string().as_str()), (Fault::Text, BEYOND), "{value}");
    }
    let words = r#"[{,\\\"[{,"#.repeat(100_000);
    let quoted = Received::read(&message(&format!("\"{words}\""))).unwrap();
    assert!(Weighed::of(quoted.text()).bytes() < quoted.text().len() + 10_000);
    let numbers = list("0", 100_000);
    assert!(Weighed::of(&numbers).bytes() > 10_000_000);
    let card = IdentityCard::check(&format!("[{}0]", "0,".repeat(200_000)));
    assert_eq!(card.findings[0].message, BEYOND);
}

const BEYOND: &str = "more than 200000 values";

/// LD-W3: large messages of every kind are answered; a superlinear reader would not end.
#[test]
fn large_messages_end() {
    let many_keys: Map<String, Value> =
        (0..190_000).map(|index| (format!("k{index}"), Value::Null)).collect();
    let base = serde_json::json!({
        "message_id": "m", "from": "a", "timestamp": "2026-11-16T12:00:00Z",
        "body": { "type": "TASK_SUBMIT", "task_id": "t", "skill": "s" },
    });
    let mut wide = base.clone();
    if let Value::Object(fields) = &mut wide {
        fields.extend(many_keys.clone());
    }
    assert!(Received::read(&wide.to_string()).is_ok());
    let mut input = base.clone();
    input["body"]["input"] = Value::Object(many_keys);
    assert!(Received::read(&input.to_string()).is_ok());
    let mut list = base.clone();
    list["body"] = serde_json::json!({
        "type": "HELLO", "delegate_id": "a", "supported_modes": vec!["text"; 200_000],
    });
    assert!(Received::read(&list.to_string()).is_err());
    let key = "k".repeat(1_000_000);
    let twice = format!("{{\"{key}\":1,\"{key}\":2}}");
    assert!(Received::read(&twice).is_err_and(|why| why.to_string().len() < 1000));
    let mut long = base;
    long["message_id"] = "x".repeat(4_000_000).into();
    assert!(Received::read(&long.to_string()).is_err());
}
