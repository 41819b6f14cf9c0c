//! `spec/vectors/ldp-resume.json`: a session that is opened, suspended and resumed, with all its keys. It
//! is made here, from fixed secrets; after a change on purpose, `UPDATE_EXPECT=1` writes it anew.

#![expect(clippy::unwrap_used, reason = "a vector that cannot be made fails its test")]

use expect_test::expect_file;
use sabir_ldp::{
    Algorithm, Handshake, Nonce, Received, SessionKeys, ShareSecret, SignatureFault, Signer,
    SigningBytes, SigningKey, Verifier, sign_fields,
};
use serde_json::{Value, json};

const INITIATOR: &str = "ldp:delegate:alice";
const RESPONDER: &str = "ldp:delegate:bob";

/// The messages of one exchange, in their order.
#[derive(Default)]
struct Exchange {
    messages: Vec<Value>,
}

impl Exchange {
    /// Signs a message and keeps it.
    fn say(&mut self, from: &str, session: &str, body: Value, signer: Signer<'_>) -> Value {
        let to = if from == INITIATOR { RESPONDER } else { INITIATOR };
        let number = self.messages.len() + 1;
        let envelope = json!({
            "message_id": format!("m-{number}"), "session_id": session, "from": from, "to": to,
            "body": body, "payload_mode": "text", "timestamp": format!("2026-11-16T12:00:0{number}.000Z"),
            "provenance": null,
        });
        let nonce = Nonce::new([number as u8; 16]);
        let signed = sign_fields(envelope.as_object().unwrap().clone(), signer, nonce).unwrap();
        assert!(Received::read(&signed.to_string()).is_ok());
        self.messages.push(signed.clone());
        signed
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn propose(share: &ShareSecret, resume: Option<&str>) -> Value {
    let mut config = json!({
        "preferred_payload_modes": ["semantic_frame", "text"], "ttl_secs": 3600,
        "trust_domain": "default", "key_share": share.share(),
    });
    if let Some(session) = resume {
        config["resume_session_id"] = session.into();
    }
    json!({ "type": "SESSION_PROPOSE", "config": config })
}

fn accept(share: &ShareSecret, resumed: bool) -> Value {
    json!({
        "type": "SESSION_ACCEPT", "session_id": "s-1", "negotiated_mode": "semantic_frame",
        "fallback_chain": ["text"], "trust_domain": "default", "key_share": share.share(),
        "resumed": resumed,
    })
}

fn agree(shares: [&ShareSecret; 2], propose: &Value, accept: &Value) -> SessionKeys {
    let bytes = |message| SigningBytes::of_value(Algorithm::Ed25519, message).unwrap();
    let (propose, accept) = (bytes(propose), bytes(accept));
    let handshake = Handshake {
        session_id: "s-1",
        initiator: INITIATOR,
        responder: RESPONDER,
        propose: &propose,
        accept: &accept,
    };
    shares[0].agree(&shares[1].share(), handshake).unwrap()
}

fn keys(secrets: [u8; 2], keys: &SessionKeys) -> Value {
    let revealed = keys.reveal();
    json!({
        "initiator_secret": hex(&[secrets[0]; 32]), "responder_secret": hex(&[secrets[1]; 32]),
        "initiator_key": &revealed[..64], "responder_key": &revealed[64..],
    })
}

/// LD-M21, LD-M22, LD-S8, LD-S9
#[test]
fn the_vectors_of_a_session_that_rests() {
    let (alice, bob) = (SigningKey::from_seed(&[0x11; 32]), SigningKey::from_seed(&[0x22; 32]));
    let share = |byte| ShareSecret::from_bytes([byte; 32]);
    let mut exchange = Exchange::default();
    let (ours, theirs) = (share(0x33), share(0x44));
    let proposed = exchange.say(INITIATOR, "", propose(&ours, None), Signer::Identity(&alice));
    let accepted = exchange.say(RESPONDER, "s-1", accept(&theirs, false), Signer::Identity(&bob));
    let first = agree([&ours, &theirs], &proposed, &accepted);
    let rest =
        |reason: Value| json!({ "type": "SESSION_CLOSE", "reason": reason, "suspend": true });
    exchange.say(INITIATOR, "s-1", rest(Value::Null), Signer::Session(&first.initiator));
    exchange.say(RESPONDER, "s-1", rest("suspended".into()), Signer::Session(&first.responder));
    let (ours, theirs) = (share(0x55), share(0x66));
    let again = propose(&ours, Some("s-1"));
    let proposed = exchange.say(INITIATOR, "s-1", again, Signer::Identity(&alice));
    let accepted = exchange.say(RESPONDER, "s-1", accept(&theirs, true), Signer::Identity(&bob));
    let second = agree([&ours, &theirs], &proposed, &accepted);
    let submit = json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "echo", "input": "x" });
    exchange.say(INITIATOR, "s-1", submit.clone(), Signer::Session(&second.initiator));
    let mut late = Exchange::default();
    let stale = late.say(INITIATOR, "s-1", submit, Signer::Session(&first.initiator));
    let received = Received::read(&stale.to_string()).unwrap();
    let signed = received.signed().unwrap().unwrap();
    let checked = signed.verify(Verifier::Session(&second.initiator));
    assert_eq!(checked, Err(SignatureFault::Mismatch));
    let vectors = json!({
        "about": "Described in docs/protocol/ldp.md: a session is opened, suspended and resumed. Bytes are in hexadecimal digits.",
        "identities": {
            INITIATOR: { "seed": hex(&[0x11; 32]), "public_key": alice.public_key().to_hex() },
            RESPONDER: { "seed": hex(&[0x22; 32]), "public_key": bob.public_key().to_hex() },
        },
        "messages": exchange.messages,
        "first_keys": keys([0x33, 0x44], &first),
        "second_keys": keys([0x55, 0x66], &second),
        "refused_after_resuming": stale,
    });
    let text = serde_json::to_string_pretty(&vectors).unwrap() + "\n";
    expect_file!["../../../../spec/vectors/ldp-resume.json"].assert_eq(&text);
}
