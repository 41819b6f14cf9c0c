//! Signed envelopes and records: what may change on the way, and that nothing else may.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made fails its test")]

use proptest::prelude::*;
use sabir_base::json::Json;
use sabir_ldp::{
    Algorithm, Body, Handshake, Nonce, PublicKey, Received, RecordFault, SessionKeys, ShareSecret,
    SharedSecret, SignatureFault, SignedMessage, Signer, SigningBytes, SigningKey, UnsignedRecord,
    Verifier, canonical_text, canonical_value, sign_attestation, sign_envelope, sign_fields,
    sign_provenance, sign_records, verify_attestation, verify_provenance,
};
use serde_json::{Map, Value, json};

use crate::made;

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn session_keys() -> SessionKeys {
    let bytes = SigningBytes::of_value(Algorithm::Ed25519, &json!({})).unwrap();
    let handshake = Handshake {
        session_id: "s-1",
        initiator: "ldp:delegate:a",
        responder: "ldp:delegate:b",
        propose: &bytes,
        accept: &bytes,
    };
    let theirs = ShareSecret::from_bytes([2; 32]).share();
    ShareSecret::from_bytes([1; 32]).agree(&theirs, handshake).unwrap()
}

fn envelope() -> Value {
    json!({
        "message_id": "m-1",
        "session_id": "s-1",
        "from": "ldp:delegate:a",
        "to": "ldp:delegate:b",
        "body": {
            "type": "TASK_SUBMIT",
            "task_id": "t-1",
            "skill": "echo",
            "input": {"task_type": "t", "instruction": "grüße", "list": [1, 2.5, null, true, ""]},
        },
        "payload_mode": "semantic_frame",
        "timestamp": "2026-11-16T12:00:00.000Z",
        "provenance": null,
        "x-unknown": {"to": ["us"]},
    })
}

fn sign(envelope: &Value, signer: Signer<'_>) -> Value {
    sign_fields(envelope.as_object().unwrap().clone(), signer, Nonce::new([0xab; 16])).unwrap()
}

fn verify(text: &str, verifier: Verifier<'_>) -> Result<(), SignatureFault> {
    let json = Json::read(text, 64).unwrap();
    match SignedMessage::read(json.top())? {
        Some(signed) => signed.verify(verifier),
        None => panic!("not signed: {text}"),
    }
}

/// Every value that differs from `value` in one place: something else there, a key less, a key more,
/// a key renamed.
fn changed(value: &Value) -> Vec<Value> {
    let mut all = vec![match value {
        Value::Null => json!(0),
        Value::Bool(it) => json!(!it),
        Value::Number(it) => json!(it.as_f64().unwrap() + 1.0),
        Value::String(it) => json!(format!("{it}x")),
        Value::Array(_) => json!({}),
        Value::Object(_) => json!([]),
    }];
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let put = |new: Vec<Value>| {
                    let mut items = items.clone();
                    items.splice(at..=at, new);
                    Value::Array(items)
                };
                all.extend(changed(item).into_iter().map(|new| put(vec![new])));
                all.extend([put(vec![]), put(vec![item.clone(), item.clone()])]);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let put = |new: Vec<(String, Value)>| {
                    let mut fields = fields.clone();
                    fields.shift_remove(key);
                    fields.extend(new);
                    Value::Object(fields)
                };
                all.extend(changed(item).into_iter().map(|new| put(vec![(key.clone(), new)])));
                all.push(put(vec![]));
                all.push(put(vec![(format!("{key}x"), item.clone())]));
                all.push(put(vec![(key.clone(), item.clone()), (format!("{key}x"), Value::Null)]));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

/// LD-S4: also in keys that nobody knows, and in nulls.
#[test]
fn whatever_is_changed_the_signature_fails() {
    let (identity, keys) = (key(1), session_keys());
    let public = identity.public_key();
    for (signer, verifier) in [
        (Signer::Identity(&identity), Verifier::Identity(&public)),
        (Signer::Session(&keys.initiator), Verifier::Session(&keys.initiator)),
    ] {
        let signed = sign(&envelope(), signer);
        assert_eq!(verify(&signed.to_string(), verifier), Ok(()));
        let changes = changed(&signed);
        assert!(changes.len() > 80, "{} changes", changes.len());
        for change in changes.into_iter().filter(Value::is_object) {
            let text = change.to_string();
            let json = Json::read(&text, 64).unwrap();
            let result = match SignedMessage::read(json.top()) {
                Ok(Some(signed)) => signed.verify(verifier),
                Ok(None) => panic!("one change cannot make it unsigned: {text}"),
                Err(fault) => Err(fault),
            };
            assert!(result.is_err(), "accepted {text}");
        }
    }
}

/// LD-S4
#[test]
fn order_and_white_space_may_change() {
    let identity = key(1);
    let signed = sign(&envelope(), Signer::Identity(&identity));
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(fields) => Value::Object(
                fields.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect(),
            ),
            Value::Array(items) => items.iter().map(reversed).collect(),
            other => other.clone(),
        }
    }
    let text = serde_json::to_string_pretty(&reversed(&signed)).unwrap();
    assert_ne!(text, signed.to_string());
    assert_eq!(verify(&text, Verifier::Identity(&identity.public_key())), Ok(()));
    // Another way of writing the same strings and numbers.
    let text = text.replace("grüße", r"gr\u00fc\u00dfe").replace("2.5", "25e-1");
    assert_eq!(verify(&text, Verifier::Identity(&identity.public_key())), Ok(()));
}

/// LD-S5
#[test]
fn a_native_signature_needs_nonce_and_time_and_small_digits() {
    let identity = key(1);
    let public = identity.public_key();
    let refused = |change: fn(&mut Map<String, Value>)| {
        let mut fields =
            sign(&envelope(), Signer::Identity(&identity)).as_object().unwrap().clone();
        change(&mut fields);
        verify(&Value::Object(fields).to_string(), Verifier::Identity(&public)).unwrap_err()
    };
    let upper = |value: &Value| value.as_str().unwrap().to_uppercase();
    assert_eq!(refused(|it| drop(it.remove("nonce"))), SignatureFault::BadNonce);
    assert_eq!(refused(|it| it["nonce"] = Value::Null), SignatureFault::BadNonce);
    assert_eq!(refused(|it| it["nonce"] = "abab".into()), SignatureFault::BadNonce);
    assert_eq!(refused(|it| it["nonce"] = "AB".repeat(16).into()), SignatureFault::BadNonce);
    assert_eq!(refused(|it| drop(it.remove("timestamp"))), SignatureFault::NoTimestamp);
    let mut fields = sign(&envelope(), Signer::Identity(&identity));
    fields["signature"] = upper(&fields["signature"]).into();
    let result = verify(&fields.to_string(), Verifier::Identity(&public));
    assert_eq!(result, Err(SignatureFault::Malformed));
    assert_eq!(refused(|it| it["signature"] = "".into()), SignatureFault::Malformed);
    assert_eq!(refused(|it| it["signature"] = 7.into()), SignatureFault::Malformed);
}

/// LD-S7
#[test]
fn signature_and_algorithm_belong_together() {
    let read = |change: fn(&mut Map<String, Value>)| {
        let mut fields = sign(&envelope(), Signer::Identity(&key(1))).as_object().unwrap().clone();
        change(&mut fields);
        let text = Value::Object(fields).to_string();
        let json = Json::read(&text, 64).unwrap();
        SignedMessage::read(json.top())
    };
    assert_eq!(read(|it| drop(it.remove("signature"))), Err(SignatureFault::Incomplete));
    assert_eq!(read(|it| it["signature"] = Value::Null), Err(SignatureFault::Incomplete));
    assert_eq!(read(|it| drop(it.remove("signature_algorithm"))), Err(SignatureFault::Incomplete));
    let unsigned = read(|it| {
        it["signature"] = Value::Null;
        it["signature_algorithm"] = Value::Null;
        it["nonce"] = Value::Null;
    });
    assert_eq!(unsigned, Ok(None));
    assert_eq!(
        read(|it| it["signature_algorithm"] = "none".into()),
        Err(SignatureFault::UnknownAlgorithm("none".to_owned()))
    );
}

/// LD-S2, LD-S18
#[test]
fn an_envelope_that_has_no_canonical_form_is_refused() {
    let mut bad = envelope();
    bad["body"]["input"]["big"] = json!(u64::MAX);
    let fields = bad.as_object().unwrap().clone();
    let error = sign_fields(fields, Signer::Identity(&key(1)), Nonce::new([0; 16]));
    assert_eq!(error.unwrap_err().pointer, "/body/input/big");
    let mut signed = sign(&envelope(), Signer::Identity(&key(1)));
    signed["body"]["input"]["list"][0] = json!(u64::MAX);
    let result = verify(&signed.to_string(), Verifier::Identity(&key(1).public_key()));
    let Err(SignatureFault::NotCanonical(fault)) = result else { panic!("{result:?}") };
    assert_eq!(fault.pointer, "/body/input/list/0");
}

/// LD-S4, LD-S13: what we write is what we signed.
#[test]
fn an_envelope_of_ours_is_signed_as_it_is_sent() {
    let (identity, keys) = (key(1), session_keys());
    let secret = SharedSecret::new("test-secret".to_owned());
    let public = identity.public_key();
    for (signer, verifier) in [
        (Signer::Identity(&identity), Verifier::Identity(&public)),
        (Signer::Session(&keys.initiator), Verifier::Session(&keys.initiator)),
        (Signer::Reference(&secret), Verifier::Reference(&secret)),
    ] {
        let mut ours = Received::read(&envelope().to_string()).unwrap().envelope;
        let bytes = sign_envelope(&mut ours, signer, Nonce::new([1; 16])).unwrap();
        let received = Received::read(&ours.to_text()).unwrap();
        let signed = received.signed().unwrap().unwrap();
        assert_eq!(signed.verify(verifier), Ok(()));
        assert_eq!(*signed.signing_bytes(), bytes);
        assert_eq!(received.envelope.nonce.is_some(), signer.algorithm().is_native());
        // Signing anew replaces all of it.
        sign_envelope(&mut ours, Signer::Identity(&identity), Nonce::new([2; 16])).unwrap();
        assert_eq!(verify(&ours.to_text(), Verifier::Identity(&public)), Ok(()));
    }
}

/// LD-S9
#[test]
fn a_message_that_is_sent_back_fails() {
    let keys = session_keys();
    let text = sign(&envelope(), Signer::Session(&keys.initiator)).to_string();
    assert_eq!(verify(&text, Verifier::Session(&keys.initiator)), Ok(()));
    assert_eq!(verify(&text, Verifier::Session(&keys.responder)), Err(SignatureFault::Mismatch));
}

/// LD-S3: the algorithm is part of what is signed, and a key is asked only about its own.
#[test]
fn a_signature_of_one_kind_is_none_of_another() {
    let (identity, keys) = (key(1), session_keys());
    let mut signed = sign(&envelope(), Signer::Session(&keys.initiator));
    let result = verify(&signed.to_string(), Verifier::Identity(&identity.public_key()));
    assert_eq!(result, Err(SignatureFault::NoKey(Algorithm::SessionHmac)));
    signed["signature_algorithm"] = "hmac-sha256".into();
    let secret = SharedSecret::new("test-secret".to_owned());
    let result = verify(&signed.to_string(), Verifier::Reference(&secret));
    assert_eq!(result, Err(SignatureFault::Mismatch));
}

/// LD-S13: what a task says can be changed, which is why it is called weak; who asks for which task
/// cannot. Our own signature of this kind has no nonce.
#[test]
fn the_signature_of_the_reference_covers_little() {
    let secret = SharedSecret::new("test-secret".to_owned());
    let signed = sign(&envelope(), Signer::Reference(&secret));
    assert_eq!(signed.get("nonce"), None);
    let check = |value: &Value| verify(&value.to_string(), Verifier::Reference(&secret));
    assert_eq!(check(&signed), Ok(()));
    let mut changed = signed.clone();
    changed["body"]["input"] = json!("anything");
    assert_eq!(check(&changed), Ok(()));
    for field in ["message_id", "session_id", "from", "to", "timestamp"] {
        let mut changed = signed.clone();
        changed[field] = "other".into();
        assert_eq!(check(&changed), Err(SignatureFault::Mismatch), "{field}");
    }
    let other = SharedSecret::new("other".to_owned());
    let result = verify(&signed.to_string(), Verifier::Reference(&other));
    assert_eq!(result, Err(SignatureFault::Mismatch));
}

/// LD-S13: fields that hold the separator could be cut elsewhere. With a nonce that becomes part of the
/// message id, a message would come again under another id.
#[test]
fn a_signature_that_fits_two_messages_fits_none() {
    let secret = SharedSecret::new("test-secret".to_owned());
    let check = |value: &Value| verify(&value.to_string(), Verifier::Reference(&secret));
    let mut cut = envelope();
    cut["from"] = "a|b".into();
    cut["to"] = "c".into();
    let mut cut = sign(&cut, Signer::Reference(&secret));
    for (from, to) in [("a|b", "c"), ("a", "b|c")] {
        cut["from"] = from.into();
        cut["to"] = to.into();
        assert_eq!(check(&cut), Err(SignatureFault::Ambiguous));
    }
    // `m|n` under one name or two: the signature is the same.
    let mut joined = envelope();
    joined["message_id"] = "m|00".into();
    let mut apart = sign(&joined, Signer::Reference(&secret));
    assert_eq!(check(&apart), Err(SignatureFault::Ambiguous));
    apart["message_id"] = "m".into();
    apart["nonce"] = "00".into();
    assert_eq!(check(&apart), Ok(()));
    for key in ["task_id", "skill"] {
        let mut changed = envelope();
        changed["body"][key] = "x|y".into();
        let signed = sign(&changed, Signer::Reference(&secret));
        assert_eq!(check(&signed), Err(SignatureFault::Ambiguous), "{key}");
    }
    // Words for people stand last, and nothing behind them can be cut.
    let mut rejected = envelope();
    rejected["body"] = json!({"type": "SESSION_REJECT", "reason": "this | that"});
    assert_eq!(check(&sign(&rejected, Signer::Reference(&secret))), Ok(()));
}

fn result_body(key: &SigningKey) -> Value {
    let output = json!({"answer": 42, "share": 0.1});
    let mut provenance = json!({
        "produced_by": "ldp:delegate:b",
        "model_version": "m",
        "payload_mode_used": "text",
        "cost_usd": 0.00012,
        "verified": false,
        "lineage": [],
    });
    let signature = sign_provenance(&provenance, "t-1", &output, key).unwrap();
    provenance["signature"] = signature.to_value();
    json!({"type": "TASK_RESULT", "task_id": "t-1", "output": output, "provenance": provenance})
}

fn check_result(body: &Value) -> Result<PublicKey, RecordFault> {
    let text = body.to_string();
    verify_provenance(Json::read(&text, 64).unwrap().top())
}

/// LD-S10
#[test]
fn a_provenance_record_belongs_to_its_output() {
    let body = result_body(&key(3));
    assert_eq!(check_result(&body), Ok(key(3).public_key()));
    // The type is not the record's business; everything else is.
    let parts = ["task_id", "output", "provenance"];
    for part in parts {
        let changes = changed(&body[part]);
        for change in changes {
            let mut body = body.clone();
            body[part] = change;
            // Of the signature object itself only the three known keys count.
            let is_same = canonical_value(&without_strangers(&body)).unwrap()
                == canonical_value(&without_strangers(&result_body(&key(3)))).unwrap();
            assert_eq!(check_result(&body).is_ok(), is_same, "{body}");
        }
    }
    let mut body = body;
    body["provenance"]["signature"]["algorithm"] = "rsa".into();
    assert_eq!(check_result(&body), Err(RecordFault::UnknownAlgorithm));
    body["provenance"]["signature"] = Value::Null;
    assert_eq!(check_result(&body), Err(RecordFault::Absent));
}

fn without_strangers(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(Value::Object(signature)) = body.pointer_mut("/provenance/signature") {
        signature.retain(|key, _| ["algorithm", "public_key", "signature"].contains(&key.as_str()));
    }
    body
}

/// LD-S10: a key that anybody could have chosen is still only that key.
#[test]
fn a_record_names_the_key_that_signed_it() {
    let mut body = result_body(&key(3));
    let other = result_body(&key(4));
    assert_eq!(check_result(&other), Ok(key(4).public_key()));
    body["provenance"]["signature"]["public_key"] = key(4).public_key().to_hex().into();
    assert_eq!(check_result(&body), Err(RecordFault::Mismatch));
}

/// LD-S11
#[test]
fn an_attestation_belongs_to_who_makes_it() {
    let claim = json!({"delegate": "ldp:delegate:b", "quality_score": 0.9});
    let mut evidence = json!({"benchmark": "b-1"});
    let signature = sign_attestation("ldp:delegate:a", &claim, &evidence, &key(5)).unwrap();
    evidence["signature"] = signature.to_value();
    let body = json!({"type": "ATTESTATION", "claim": claim, "evidence": evidence});
    let check = |issuer: &str, body: &Value| {
        let text = body.to_string();
        verify_attestation(issuer, Json::read(&text, 64).unwrap().top())
    };
    assert_eq!(check("ldp:delegate:a", &body), Ok(key(5).public_key()));
    assert_eq!(check("ldp:delegate:x", &body), Err(RecordFault::Mismatch));
    for path in ["/claim/quality_score", "/claim/delegate", "/evidence/benchmark"] {
        let mut changed = body.clone();
        *changed.pointer_mut(path).unwrap() = 1.into();
        assert_eq!(check("ldp:delegate:a", &changed), Err(RecordFault::Mismatch), "{path}");
    }
    // A signature for one purpose is none for another.
    let mut result = result_body(&key(5));
    result["provenance"]["signature"] = body["evidence"]["signature"].clone();
    assert_eq!(check_result(&result), Err(RecordFault::Mismatch));
}

/// LD-S28
#[test]
fn secrets_are_not_printed() {
    let keys = session_keys();
    let secret = SharedSecret::new("hush".to_owned());
    let share = ShareSecret::from_bytes([9; 32]);
    let shown =
        format!("{:?} {keys:?} {secret:?} {share:?} {:?}", key(7), Signer::Reference(&secret));
    assert_eq!(
        shown,
        "SigningKey(..) SessionKeys(..) SharedSecret(..) ShareSecret(..) Reference(SharedSecret(..))"
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i32>().prop_map(Value::from),
        (-9_007_199_254_740_992_i64..=9_007_199_254_740_992).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |it| it.is_finite()).prop_map(Value::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        any::<String>().prop_map(Value::from),
        "[\u{0}-\u{20}\u{d7ff}-\u{e000}\u{ffff}\u{10000}a\"\\\\/]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let key = prop_oneof!["[a-c]{0,2}", "[\u{e000}\u{ffff}\u{10000}é]{1,2}", any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Equal where a number is a double, however it is kept.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}

proptest! {
    /// LD-S1: what we send and what arrives have one canonical form, and it is its own.
    #[test]
    fn both_roads_lead_to_one_text(value in any_json()) {
        let canonical = canonical_value(&value).unwrap();
        let compact = value.to_string();
        prop_assert_eq!(&canonical_text(Json::read(&compact, 64).unwrap().top()).unwrap(), &canonical);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(&canonical_text(Json::read(&pretty, 64).unwrap().top()).unwrap(), &canonical);
        prop_assert_eq!(&canonical_text(Json::read(&canonical, 64).unwrap().top()).unwrap(), &canonical);
        prop_assert!(is_same(&serde_json::from_str(&canonical).unwrap(), &value));
    }

    /// LD-S1: what is written field by field is what the general writer makes of the whole.
    #[test]
    fn our_own_types_are_signed_as_their_values_are(message in made::envelope()) {
        let mut signed = message;
        let bytes = sign_envelope(&mut signed, Signer::Identity(&key(1)), Nonce::new([7; 16]));
        let expected = SigningBytes::of_value(Algorithm::Ed25519, &signed.to_value());
        prop_assert_eq!(
            bytes.map(|it| it.as_bytes().to_vec()),
            expected.map(|it| it.as_bytes().to_vec())
        );
        if let Body::TaskResult(outcome) = &signed.body {
            let record = UnsignedRecord::of(outcome);
            let found = record.map(|record| sign_records(&[record], &key(2)).remove(0));
            let provenance = outcome.provenance.to_value();
            let task_id = outcome.task_id.as_str();
            let expected = sign_provenance(&provenance, task_id, &outcome.output, &key(2));
            prop_assert_eq!(found, expected);
        }
    }

    /// LD-S4: whatever byte is changed.
    #[test]
    fn a_changed_byte_is_noticed(input in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let keys = session_keys();
        let mut original = envelope();
        original["body"]["input"] = input;
        let signed = sign(&original, Signer::Session(&keys.initiator));
        let mut bytes = signed.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        // What is no JSON is refused before anybody asks for a signature.
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        let Ok(json) = Json::read(&text, 64) else { return Ok(()) };
        let accepted = match SignedMessage::read(json.top()) {
            Ok(Some(message)) => message.verify(Verifier::Session(&keys.initiator)).is_ok(),
            Ok(None) | Err(_) => false,
        };
        if accepted {
            prop_assert!(is_same(&serde_json::from_str(&text).unwrap(), &signed), "accepted {text}");
        }
    }

    /// Whatever arrives, reading it ends.
    #[test]
    fn reading_a_signature_never_panics(value in any_json(), names in prop::collection::vec(0_usize..8, 0..8)) {
        let known =
            ["signature", "signature_algorithm", "nonce", "timestamp", "body", "from", "to", "type"];
        let mut fields = Map::new();
        for name in names {
            fields.insert(known[name].to_owned(), value.clone());
        }
        fields.insert("signature_algorithm".to_owned(), "hmac-sha256".into());
        let text = Value::Object(fields).to_string();
        let json = Json::read(&text, 64).unwrap();
        drop(SignedMessage::read(json.top()));
        drop(verify_provenance(json.top()));
        drop(verify_attestation("", json.top()));
    }
}
