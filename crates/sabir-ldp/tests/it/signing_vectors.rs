//! `spec/vectors/ldp-signing.json`, which other programs can check themselves against. It is made
//! here, from fixed seeds; after a change on purpose, `UPDATE_EXPECT=1` writes it anew.

#![expect(clippy::unwrap_used, reason = "a vector that cannot be made fails its test")]

use expect_test::expect_file;
use sabir_base::json::Json;
use sabir_ldp::{
    Algorithm, Body, Envelope, Handshake, Nonce, Outcome, Received, RecordFault, ShareSecret,
    SharedSecret, Signer, SigningBytes, SigningKey, UnsignedRecord, Verifier, canonical_text,
    canonical_value, sign_attestation, sign_fields, sign_provenance, sign_records,
    verify_attestation, verify_provenance,
};
use serde_json::{Map, Value, json};

const INITIATOR: &str = "ldp:delegate:alice";
const RESPONDER: &str = "ldp:delegate:bob";
const INITIATOR_SEED: [u8; 32] = [0x11; 32];
const RESPONDER_SEED: [u8; 32] = [0x22; 32];
const INITIATOR_SHARE: [u8; 32] = [0x33; 32];
const RESPONDER_SHARE: [u8; 32] = [0x44; 32];
const SECRET: &str = "test-secret";

/// Every message type, with who sends it.
fn messages() -> Vec<(&'static str, &'static str, Value)> {
    let initiator = SigningKey::from_seed(&INITIATOR_SEED);
    let responder = SigningKey::from_seed(&RESPONDER_SEED);
    vec![
        (
            "hello",
            INITIATOR,
            json!({
                "type": "HELLO", "delegate_id": INITIATOR, "supported_modes": ["semantic_frame", "text"],
                "public_key": initiator.public_key().to_hex(),
            }),
        ),
        (
            "manifest",
            RESPONDER,
            json!({
                "type": "CAPABILITY_MANIFEST",
                "capabilities": {"capabilities": [{"name": "echo"}], "supported_modes": ["text"]},
                "supported_modes": ["text"],
                "public_key": responder.public_key().to_hex(),
            }),
        ),
        (
            "propose",
            INITIATOR,
            json!({
                "type": "SESSION_PROPOSE",
                "config": {
                    "preferred_payload_modes": ["semantic_frame", "text"], "ttl_secs": 3600,
                    "trust_domain": "default",
                    "key_share": ShareSecret::from_bytes(INITIATOR_SHARE).share(),
                },
            }),
        ),
        (
            "accept",
            RESPONDER,
            json!({
                "type": "SESSION_ACCEPT", "session_id": "s-1", "negotiated_mode": "text",
                "fallback_chain": [], "trust_domain": "default",
                "key_share": ShareSecret::from_bytes(RESPONDER_SHARE).share(),
            }),
        ),
        ("reject", RESPONDER, json!({"type": "SESSION_REJECT", "reason": "no"})),
        (
            "submit",
            INITIATOR,
            json!({
                "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo",
                "input": {"task_type": "greeting", "instruction": "Grüße \u{1f600}\n", "weights": [1.0, 1e21, 0.1, -0.0]},
            }),
        ),
        (
            "update",
            RESPONDER,
            json!({
                "type": "TASK_UPDATE", "task_id": "t-1", "progress": 0.5, "message": "half way", "seq": 1,
            }),
        ),
        (
            "result",
            RESPONDER,
            json!({
                "type": "TASK_RESULT", "task_id": "t-1", "output": "Grüße",
                "provenance": {
                    "produced_by": RESPONDER, "model_version": "m-1", "payload_mode_used": "text",
                    "verified": false,
                },
            }),
        ),
        (
            "failed",
            RESPONDER,
            json!({
                "type": "TASK_FAILED", "task_id": "t-1",
                "error": {
                    "code": "SKILL_NOT_FOUND", "category": "capability", "message": "no such skill",
                    "severity": "error", "retryable": false,
                },
            }),
        ),
        ("cancel", INITIATOR, json!({"type": "TASK_CANCEL", "task_id": "t-1"})),
        (
            "attestation",
            RESPONDER,
            json!({
                "type": "ATTESTATION", "claim": {"quality": 0.9}, "evidence": {},
            }),
        ),
        ("close", INITIATOR, json!({"type": "SESSION_CLOSE", "reason": null})),
    ]
}

fn envelope(from: &str, body: Value) -> Map<String, Value> {
    let to = if from == INITIATOR { RESPONDER } else { INITIATOR };
    let value = json!({
        "message_id": "m-1", "session_id": "s-1", "from": from, "to": to, "body": body,
        "payload_mode": "text", "timestamp": "2026-11-16T12:00:00.000Z", "provenance": null,
        "x-unknown": "covered, too",
    });
    value.as_object().unwrap().clone()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Signs a message, checks it, and shows all that another implementation has to arrive at.
fn vector(
    name: &str,
    from: &str,
    body: Value,
    signer: Signer<'_>,
    verifier: Verifier<'_>,
) -> Value {
    let signed = sign_fields(envelope(from, body), signer, Nonce::new([0xab; 16])).unwrap();
    let received = Received::read(&signed.to_string()).unwrap();
    let message = received.signed().unwrap().unwrap();
    assert_eq!(message.verify(verifier), Ok(()), "{name}");
    let mut unsigned = signed.clone();
    unsigned.as_object_mut().unwrap().shift_remove("signature");
    let bytes = message.signing_bytes().as_bytes();
    let mut vector = json!({ "name": name, "envelope": signed });
    if signer.algorithm().is_native() {
        vector["canonical"] = canonical_value(&unsigned).unwrap().into();
        vector["signed_bytes"] = hex(bytes).into();
    } else {
        vector["signed_string"] = String::from_utf8(bytes.to_vec()).unwrap().into();
    }
    vector
}

fn identity(seed: [u8; 32]) -> Value {
    let public_key = SigningKey::from_seed(&seed).public_key().to_hex();
    json!({ "seed": hex(&seed), "public_key": public_key })
}

fn session() -> (Value, sabir_ldp::SessionKeys) {
    let bytes_of = |name: &str, seed: [u8; 32]| {
        let (_, from, body) = messages().into_iter().find(|(it, ..)| *it == name).unwrap();
        let key = SigningKey::from_seed(&seed);
        let signed =
            sign_fields(envelope(from, body), Signer::Identity(&key), Nonce::new([0xab; 16]));
        SigningBytes::of_value(Algorithm::Ed25519, &signed.unwrap()).unwrap()
    };
    let propose = bytes_of("propose", INITIATOR_SEED);
    let accept = bytes_of("accept", RESPONDER_SEED);
    let handshake = Handshake {
        session_id: "s-1",
        initiator: INITIATOR,
        responder: RESPONDER,
        propose: &propose,
        accept: &accept,
    };
    let ours = ShareSecret::from_bytes(INITIATOR_SHARE);
    let theirs = ShareSecret::from_bytes(RESPONDER_SHARE);
    let keys = ours.agree(&theirs.share(), handshake).unwrap();
    assert_eq!(*theirs.agree(&ours.share(), handshake).unwrap().reveal(), *keys.reveal());
    let revealed = keys.reveal();
    let vector = json!({
        "about": "X25519 of the two shares, then HKDF-SHA256; the messages are `propose` and `accept` under `ed25519`",
        "initiator": {"secret": hex(&INITIATOR_SHARE), "share": ours.share()},
        "responder": {"secret": hex(&RESPONDER_SHARE), "share": theirs.share()},
        "session_id": "s-1",
        "initiator_id": INITIATOR,
        "responder_id": RESPONDER,
        "initiator_key": &revealed[..64],
        "responder_key": &revealed[64..],
    });
    (vector, keys)
}

fn records() -> Value {
    let key = SigningKey::from_seed(&RESPONDER_SEED);
    let output = json!({"answer": 42});
    let mut provenance = json!({
        "produced_by": RESPONDER, "model_version": "m-1", "payload_mode_used": "text",
        "cost_usd": 0.00012, "verified": false,
    });
    let signature = sign_provenance(&provenance, "t-1", &output, &key).unwrap();
    provenance["signature"] = signature.to_value();
    let result = json!({
        "type": "TASK_RESULT", "task_id": "t-1", "output": output, "provenance": provenance,
    });
    let text = result.to_string();
    let signer = verify_provenance(Json::read(&text, 64).unwrap().top());
    assert_eq!(signer, Ok(key.public_key()));
    let (claim, mut evidence) = (json!({"quality": 0.9}), json!({"runs": 100}));
    let signature = sign_attestation(RESPONDER, &claim, &evidence, &key).unwrap();
    evidence["signature"] = signature.to_value();
    let attestation = json!({"type": "ATTESTATION", "claim": claim, "evidence": evidence});
    let text = attestation.to_string();
    let signer = verify_attestation(RESPONDER, Json::read(&text, 64).unwrap().top());
    assert_eq!(signer, Ok(key.public_key()));
    json!({
        "provenance": {"body": result},
        "batch": batch(&key),
        "attestation": {"issuer": RESPONDER, "body": attestation},
    })
}

/// Results whose records were signed together: three, so that one of them has no neighbour.
fn batch(key: &SigningKey) -> Vec<Value> {
    let mut outcomes: Vec<Outcome> =
        (1..=3).map(|number| outcome(&format!("b-{number}"))).collect();
    let records: Vec<UnsignedRecord> =
        outcomes.iter().map(|outcome| UnsignedRecord::of(outcome).unwrap()).collect();
    let signatures = sign_records(&records, key);
    assert!(signatures.iter().all(|it| it.signature == signatures[0].signature));
    for (outcome, signature) in outcomes.iter_mut().zip(signatures) {
        outcome.provenance.signature = Some(signature);
    }
    let bodies = outcomes.into_iter().map(|outcome| Body::TaskResult(outcome).to_value());
    let bodies: Vec<Value> = bodies.collect();
    for body in &bodies {
        let text = body.to_string();
        let signer = verify_provenance(Json::read(&text, 64).unwrap().top());
        assert_eq!(signer, Ok(key.public_key()));
    }
    bodies
}

fn outcome(task: &str) -> Outcome {
    let envelope = json!({
        "message_id": "m", "session_id": "s-1", "from": RESPONDER, "to": INITIATOR,
        "payload_mode": "text", "timestamp": "2026-11-16T12:00:00Z",
        "body": {
            "type": "TASK_RESULT", "task_id": task, "output": { "answer": task },
            "provenance": {
                "produced_by": RESPONDER, "model_version": "m-1", "payload_mode_used": "text",
            },
        },
    });
    match serde_json::from_value::<Envelope>(envelope).unwrap().body {
        Body::TaskResult(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

/// LD-S30: what was signed with others cannot be moved, and no step of its way can be left out.
#[test]
fn a_record_of_a_batch_stands_for_itself_alone() {
    let key = SigningKey::from_seed(&RESPONDER_SEED);
    let check = |body: &Value| verify_provenance(Json::read(&body.to_string(), 64).unwrap().top());
    for body in batch(&key) {
        assert_eq!(check(&body), Ok(key.public_key()));
        let path = body["provenance"]["signature"]["path"].as_array().unwrap().clone();
        let with = |change: &dyn Fn(&mut Value)| {
            let mut changed = body.clone();
            change(&mut changed);
            check(&changed)
        };
        let signature = "/provenance/signature";
        let put = |key: &'static str, value: Value| {
            move |body: &mut Value| body.pointer_mut(signature).unwrap()[key] = value.clone()
        };
        assert_eq!(
            with(&put("path", path[1..].into())),
            match path.len() {
                1 => Err(RecordFault::Malformed),
                _ => Err(RecordFault::Mismatch),
            }
        );
        assert_eq!(with(&put("path", json!(["l00"]))), Err(RecordFault::Malformed));
        assert_eq!(with(&put("path", json!([]))), Err(RecordFault::Malformed));
        assert_eq!(with(&put("algorithm", json!("ed25519"))), Err(RecordFault::Malformed));
        assert_eq!(with(&|body| body["output"] = json!(1)), Err(RecordFault::Mismatch));
        assert_eq!(with(&|body| body["task_id"] = json!("b-9")), Err(RecordFault::Mismatch));
        let model = |body: &mut Value| body["provenance"]["model_version"] = json!("m-2");
        assert_eq!(with(&model), Err(RecordFault::Mismatch));
    }
}

fn canonical() -> Value {
    let texts = [
        r#"{"b":1,"a":[true,null]}"#,
        r#"{ "\u00e9" : "\u0041\u000f\/" , "z":{"y":1.0,"x":-0} }"#,
        r#"[1E30,4.50,2e-3,0.000000000000000000000000001,333333333.33333329]"#,
        r#"{"\ud83d\ude00":1,"\ufb33":2,"\r":3,"1":4}"#,
        "[9007199254740992,100000000000000000000,1e400]",
        "[9007199254740993]",
    ];
    let vectors = texts.map(|text| {
        let json = Json::read(text, 64).unwrap();
        match canonical_text(json.top()) {
            Ok(canonical) => json!({ "json": text, "canonical": canonical }),
            Err(error) => json!({ "json": text, "refused_at": error.pointer }),
        }
    });
    vectors.to_vec().into()
}

/// LD-S1, LD-S2, LD-S3, LD-S4, LD-S8, LD-S10, LD-S11, LD-S12, LD-S30
#[test]
fn the_vectors_are_what_the_code_makes() {
    let initiator = SigningKey::from_seed(&INITIATOR_SEED);
    let responder = SigningKey::from_seed(&RESPONDER_SEED);
    let secret = SharedSecret::new(SECRET.to_owned());
    let (session, keys) = session();
    let (mut by_key, mut by_session, mut by_secret) = (Vec::new(), Vec::new(), Vec::new());
    for (name, from, body) in messages() {
        let (key, session_key) = if from == INITIATOR {
            (&initiator, &keys.initiator)
        } else {
            (&responder, &keys.responder)
        };
        let public = key.public_key();
        let (signer, verifier) = (Signer::Identity(key), Verifier::Identity(&public));
        by_key.push(vector(name, from, body.clone(), signer, verifier));
        // Before there is a session there is no key of it.
        if !["hello", "manifest", "propose", "accept", "reject"].contains(&name) {
            let (signer, verifier) = (Signer::Session(session_key), Verifier::Session(session_key));
            by_session.push(vector(name, from, body.clone(), signer, verifier));
        }
        let (signer, verifier) = (Signer::Reference(&secret), Verifier::Reference(&secret));
        by_secret.push(vector(name, from, body, signer, verifier));
    }
    let vectors = json!({
        "about": "Described in docs/protocol/ldp-security.md. Bytes are in hexadecimal digits.",
        "identities": {
            INITIATOR: identity(INITIATOR_SEED),
            RESPONDER: identity(RESPONDER_SEED),
        },
        "canonical": canonical(),
        "ed25519": by_key,
        "session": session,
        "sabir-session-hmac-sha256": by_session,
        "hmac-sha256": {"secret": SECRET, "messages": by_secret},
        "records": records(),
    });
    let text = serde_json::to_string_pretty(&vectors).unwrap() + "\n";
    expect_file!["../../../../spec/vectors/ldp-signing.json"].assert_eq(&text);
}
