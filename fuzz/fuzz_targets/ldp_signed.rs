//! The canonical form of JSON is its own canonical form, and a signed envelope that was changed is
//! not accepted.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_base::json::Json;
use sabir_ldp::{
    Nonce, SignedMessage, Signer, SigningKey, Verifier, canonical_text, canonical_value,
    sign_fields,
};
use serde_json::{Value, json};

fuzz_target!(|input: (&str, usize, u8)| {
    let (text, at, byte) = input;
    let Ok(json) = Json::read(text, 64) else { return };
    // Whatever was read has a signature or none, and asking for it ends.
    drop(SignedMessage::read(json.top()));
    let Ok(canonical) = canonical_text(json.top()) else { return };
    let again = match Json::read(&canonical, 64) {
        Ok(json) => canonical_text(json.top()),
        Err(error) => panic!("{canonical} is not JSON: {error}"),
    };
    assert_eq!(again.as_ref(), Ok(&canonical));
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    assert_eq!(canonical_value(&value).as_ref(), Ok(&canonical));

    let key = SigningKey::from_seed(&[7; 32]);
    let envelope = json!({
        "from": "a", "timestamp": "2026-11-16T12:00:00.000Z", "body": {"type": "X", "input": value},
    });
    let Value::Object(fields) = envelope else { return };
    // One level deeper than what was read, it may be too deep.
    let Ok(signed) = sign_fields(fields, Signer::Identity(&key), Nonce::new([0; 16])) else {
        return;
    };
    let original = signed.to_string();
    let mut bytes = original.clone().into_bytes();
    let at = at % bytes.len();
    bytes[at] = byte;
    let Ok(changed) = String::from_utf8(bytes) else { return };
    let Ok(json) = Json::read(&changed, 64) else { return };
    let Ok(Some(message)) = SignedMessage::read(json.top()) else { return };
    if message.verify(Verifier::Identity(&key.public_key())).is_ok() {
        // Then it says the same: white space, or another way of writing a number or a character.
        let canonical = |text: &str| match Json::read(text, 64) {
            Ok(json) => canonical_text(json.top()),
            Err(error) => panic!("{text} is not JSON: {error}"),
        };
        assert_eq!(canonical(&changed), canonical(&original));
    }
});
