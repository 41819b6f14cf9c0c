//! The steps of `docs/protocol/ldp.md`, followed with nothing of ours: what another program would write,
//! checked against the committed vectors. Only the primitives (Ed25519, X25519, SHA-256, HMAC, HKDF)
//! come from elsewhere.

#![expect(clippy::unwrap_used, reason = "a vector that is not as described fails its test")]

use std::fmt::Write as _;

use ed25519_dalek::{Signature, VerifyingKey};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const SIGNING: &str = include_str!("../../../../spec/vectors/ldp-signing.json");
const RESUME: &str = include_str!("../../../../spec/vectors/ldp-resume.json");

fn vectors(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn unhex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digits).collect()
}

/// Step 3. The vectors have only numbers whose text is easily said.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_by_key(|key| key.encode_utf16().collect::<Vec<_>>());
            let field = |key: &&String| {
                format!("{}:{}", canonical(&json!(key)), canonical(&fields[key.as_str()]))
            };
            format!("{{{}}}", keys.iter().map(field).collect::<Vec<_>>().join(","))
        }
        Value::Array(all) => {
            format!("[{}]", all.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::String(text) => {
            let mut out = String::from('"');
            for c in text.chars() {
                match c {
                    '"' | '\\' => out.extend(['\\', c]),
                    '\u{8}' => out.push_str("\\b"),
                    '\t' => out.push_str("\\t"),
                    '\n' => out.push_str("\\n"),
                    '\u{c}' => out.push_str("\\f"),
                    '\r' => out.push_str("\\r"),
                    c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c)).unwrap(),
                    c => out.push(c),
                }
            }
            out + "\""
        }
        Value::Number(number) => match number.as_f64().unwrap() {
            1e21 => "1e+21".to_owned(),
            small if small.abs() < 1e15 && small.fract() == 0.0 => format!("{}", small as i64),
            small => {
                assert!((1e-6..1e15).contains(&small.abs()), "{small}: not in the vectors");
                format!("{small}")
            }
        },
        Value::Bool(_) | Value::Null => value.to_string(),
    }
}

fn framed(parts: &[&[u8]]) -> Vec<u8> {
    let framed = |part: &&[u8]| [&(part.len() as u64).to_be_bytes(), *part].concat();
    parts.iter().flat_map(framed).collect()
}

/// Steps 2 to 4.
fn signed_bytes(envelope: &Value) -> Vec<u8> {
    let mut rest = envelope.clone();
    rest.as_object_mut().unwrap().shift_remove("signature").unwrap();
    let algorithm = envelope["signature_algorithm"].as_str().unwrap();
    let canonical = canonical(&rest);
    framed(&[b"sabir-ldp-v1/envelope", algorithm.as_bytes(), canonical.as_bytes()])
}

fn is_signed_by(public_key: &Value, bytes: &[u8], signature: &Value) -> bool {
    let key = VerifyingKey::from_bytes(&unhex(public_key).try_into().unwrap()).unwrap();
    let signature = Signature::from_bytes(&unhex(signature).try_into().unwrap());
    key.verify_strict(bytes, &signature).is_ok()
}

fn has_hmac(key: &[u8], bytes: &[u8], signature: &Value) -> bool {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    hmac.update(bytes);
    hmac.verify_slice(&unhex(signature)).is_ok()
}

/// The keys of a session: initiator's and responder's. Only the secret of one side is needed.
fn session_keys(secret: &Value, share: &Value, propose: &Value, accept: &Value) -> [Vec<u8>; 2] {
    let secret: [u8; 32] = unhex(secret).try_into().unwrap();
    let shared = x25519_dalek::x25519(secret, unhex(share).try_into().unwrap());
    let handshake = [signed_bytes(propose), signed_bytes(accept)].concat();
    let salt = Sha256::digest(&handshake);
    let text = |value: &Value| value.as_str().unwrap().as_bytes().to_vec();
    let info = framed(&[
        b"sabir-ldp-v1/session",
        &text(&accept["body"]["session_id"]),
        &text(&propose["from"]),
        &text(&accept["from"]),
    ]);
    let mut keys = [0; 64];
    Hkdf::<Sha256>::new(Some(&salt), &shared).expand(&info, &mut keys).unwrap();
    [keys[..32].to_vec(), keys[32..].to_vec()]
}

fn check(envelope: &Value, identities: &Value, keys: &[Vec<u8>; 2], initiator: &str) -> bool {
    let (bytes, signature) = (signed_bytes(envelope), &envelope["signature"]);
    let from = envelope["from"].as_str().unwrap();
    match envelope["signature_algorithm"].as_str().unwrap() {
        "ed25519" => is_signed_by(&identities[from]["public_key"], &bytes, signature),
        "sabir-session-hmac-sha256" => {
            has_hmac(&keys[usize::from(from != initiator)], &bytes, signature)
        }
        other => panic!("{other} is not native"),
    }
}

/// LD-S1, LD-S3, LD-S4, LD-S8, LD-S9
#[test]
fn messages_and_keys_are_as_described() {
    let all = vectors(SIGNING);
    let ed25519 = all["ed25519"].as_array().unwrap();
    let named = |name: &str| &ed25519.iter().find(|it| it["name"] == name).unwrap()["envelope"];
    let session = &all["session"];
    let (propose, accept) = (named("propose"), named("accept"));
    let keys = session_keys(
        &session["initiator"]["secret"],
        &accept["body"]["key_share"],
        propose,
        accept,
    );
    let theirs = session_keys(
        &session["responder"]["secret"],
        &propose["body"]["config"]["key_share"],
        propose,
        accept,
    );
    assert_eq!(keys, theirs);
    assert_eq!(keys, [unhex(&session["initiator_key"]), unhex(&session["responder_key"])]);
    let by_session = all["sabir-session-hmac-sha256"].as_array().unwrap();
    assert_eq!((ed25519.len(), by_session.len()), (12, 7));
    for vector in ed25519.iter().chain(by_session) {
        let envelope = &vector["envelope"];
        assert_eq!(signed_bytes(envelope), unhex(&vector["signed_bytes"]), "{}", vector["name"]);
        assert!(check(envelope, &all["identities"], &keys, "ldp:delegate:alice"));
        let mut changed = envelope.clone();
        changed["x-unknown"] = "changed".into();
        assert!(!check(&changed, &all["identities"], &keys, "ldp:delegate:alice"));
    }
}

/// LD-S10, LD-S11, LD-S30
#[test]
fn records_are_as_described() {
    let all = vectors(SIGNING);
    let without = |record: &Value| {
        let mut record = record.clone();
        let signature = record.as_object_mut().unwrap().shift_remove("signature").unwrap();
        (canonical(&record), signature)
    };
    let provenance_bytes = |body: &Value| {
        let (record, signature) = without(&body["provenance"]);
        let bytes = framed(&[
            b"sabir-ldp-v1/provenance",
            b"ed25519",
            body["task_id"].as_str().unwrap().as_bytes(),
            &Sha256::digest(canonical(&body["output"])),
            record.as_bytes(),
        ]);
        (bytes, signature)
    };
    let (bytes, signature) = provenance_bytes(&all["records"]["provenance"]["body"]);
    assert!(is_signed_by(&signature["public_key"], &bytes, &signature["signature"]));
    for body in all["records"]["batch"].as_array().unwrap() {
        let (bytes, signature) = provenance_bytes(body);
        let leaf = Sha256::digest([&[0], &*bytes].concat()).to_vec();
        let root = signature["path"].as_array().unwrap().iter().fold(leaf, |node, step| {
            let (side, beside) = step.as_str().unwrap().split_at(1);
            let beside = unhex(&beside.into());
            let (left, right) = if side == "l" { (beside, node) } else { (node, beside) };
            Sha256::digest([&[1], &*left, &*right].concat()).to_vec()
        });
        let bytes = framed(&[b"sabir-ldp-v1/records", b"ed25519-batch", &root]);
        assert!(is_signed_by(&signature["public_key"], &bytes, &signature["signature"]));
    }
    let attestation = &all["records"]["attestation"];
    let (evidence, signature) = without(&attestation["body"]["evidence"]);
    let bytes = framed(&[
        b"sabir-ldp-v1/attestation",
        b"ed25519",
        attestation["issuer"].as_str().unwrap().as_bytes(),
        canonical(&attestation["body"]["claim"]).as_bytes(),
        evidence.as_bytes(),
    ]);
    assert!(is_signed_by(&signature["public_key"], &bytes, &signature["signature"]));
}

/// LD-M21, LD-M22, LD-S8: opened, suspended, resumed with other keys; the old ones are worth nothing.
#[test]
fn suspending_and_resuming_are_as_described() {
    let all = vectors(RESUME);
    let messages = all["messages"].as_array().unwrap();
    let keys_of = |name: &str, propose: &Value, accept: &Value| {
        let given = &all[name];
        let share = &accept["body"]["key_share"];
        let keys = session_keys(&given["initiator_secret"], share, propose, accept);
        assert_eq!(keys, [unhex(&given["initiator_key"]), unhex(&given["responder_key"])]);
        keys
    };
    let mut keys = [Vec::new(), Vec::new()];
    let mut steps = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        assert!(check(message, &all["identities"], &keys, "ldp:delegate:alice"), "{at}");
        let body = &message["body"];
        steps.push(format!("{} {}", body["type"], message["signature_algorithm"]).replace('"', ""));
        if body["type"] == "SESSION_ACCEPT" {
            let name = if body["resumed"] == true { "second_keys" } else { "first_keys" };
            keys = keys_of(name, &messages[at - 1], message);
        }
    }
    assert_eq!(
        steps,
        [
            "SESSION_PROPOSE ed25519",
            "SESSION_ACCEPT ed25519",
            "SESSION_CLOSE sabir-session-hmac-sha256",
            "SESSION_CLOSE sabir-session-hmac-sha256",
            "SESSION_PROPOSE ed25519",
            "SESSION_ACCEPT ed25519",
            "TASK_SUBMIT sabir-session-hmac-sha256",
        ]
    );
    assert_eq!(messages[2]["body"]["suspend"], true);
    assert_eq!(messages[4]["body"]["config"]["resume_session_id"], "s-1");
    let stale = &all["refused_after_resuming"];
    assert!(!check(stale, &all["identities"], &keys, "ldp:delegate:alice"));
}
