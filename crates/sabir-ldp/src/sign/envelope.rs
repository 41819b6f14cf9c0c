//! Signing an envelope, and checking that one is signed.
//!
//! A native signature covers the whole envelope as it was sent, with keys that we have never heard
//! of; only the signature itself is outside. Whose key is asked is for others to decide.

use std::borrow::Cow;
use std::fmt;

use sabir_base::json::{JsonKind, JsonValue};
use serde_json::{Map, Value};

use super::bytes::{SIGNATURE_KEY, SigningBytes, before_canonical, framed, write_unsigned};
use super::key::{PublicKey, SigningKey, WrongSignature};
use super::reference::{SharedSecret, is_ambiguous};
use super::session::SessionKey;
use crate::canonical::{NotCanonical, text_of};
use crate::envelope::Envelope;
use crate::hex;
use crate::wire::TYPICAL_BYTES;

/// How an envelope is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// With the sender's identity key.
    Ed25519,
    /// With the key that the sender has in this session.
    SessionHmac,
    /// The reference's: a shared secret, and a string that leaves out most of the message.
    ReferenceHmac,
}

/// What we sign with.
#[derive(Clone, Copy, Debug)]
pub enum Signer<'a> {
    Identity(&'a SigningKey),
    Session(&'a SessionKey),
    Reference(&'a SharedSecret),
}

/// What a signature is checked with.
#[derive(Clone, Copy, Debug)]
pub enum Verifier<'a> {
    Identity(&'a PublicKey),
    Session(&'a SessionKey),
    Reference(&'a SharedSecret),
}

/// Sixteen bytes that a sender uses once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce([u8; 16]);

/// Why a message is not accepted as signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureFault {
    /// It has an algorithm and no signature, or the other way round.
    Incomplete,
    UnknownAlgorithm(String),
    /// There is no key for that algorithm and that sender.
    NoKey(Algorithm),
    /// The signature is not written as that algorithm writes it.
    Malformed,
    /// A native signature without a nonce of 32 lower-case hexadecimal digits.
    BadNonce,
    /// A native signature without a timestamp.
    NoTimestamp,
    NotCanonical(NotCanonical),
    /// A signature of the reference over a field that holds its separator: it fits other messages, too.
    Ambiguous,
    Mismatch,
}

impl Algorithm {
    pub fn wire_name(self) -> &'static str {
        match self {
            Algorithm::Ed25519 => "ed25519",
            Algorithm::SessionHmac => "sabir-session-hmac-sha256",
            Algorithm::ReferenceHmac => "hmac-sha256",
        }
    }

    /// Whether it covers the whole envelope.
    pub fn is_native(self) -> bool {
        match self {
            Algorithm::Ed25519 | Algorithm::SessionHmac => true,
            Algorithm::ReferenceHmac => false,
        }
    }

    pub fn from_wire(name: &str) -> Option<Self> {
        [Algorithm::Ed25519, Algorithm::SessionHmac, Algorithm::ReferenceHmac]
            .into_iter()
            .find(|algorithm| algorithm.wire_name() == name)
    }
}

impl Nonce {
    pub fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub fn to_hex(&self) -> String {
        hex::encode(&self.0)
    }
}

impl Signer<'_> {
    pub fn algorithm(self) -> Algorithm {
        match self {
            Signer::Identity(_) => Algorithm::Ed25519,
            Signer::Session(_) => Algorithm::SessionHmac,
            Signer::Reference(_) => Algorithm::ReferenceHmac,
        }
    }

    fn sign(self, bytes: &[u8]) -> String {
        match self {
            Signer::Identity(key) => key.sign(bytes),
            Signer::Session(key) => key.sign(bytes),
            Signer::Reference(secret) => secret.sign(bytes),
        }
    }

    /// Signs parts, each behind its length.
    fn sign_framed(self, parts: &[&[u8]]) -> String {
        match self {
            Signer::Session(key) => key.sign_framed(parts),
            Signer::Identity(_) | Signer::Reference(_) => self.sign(&framed(parts)),
        }
    }
}

impl Verifier<'_> {
    pub fn algorithm(self) -> Algorithm {
        match self {
            Verifier::Identity(_) => Algorithm::Ed25519,
            Verifier::Session(_) => Algorithm::SessionHmac,
            Verifier::Reference(_) => Algorithm::ReferenceHmac,
        }
    }

    fn verify(self, bytes: &[u8], signature: &str) -> Result<(), WrongSignature> {
        match self {
            Verifier::Identity(key) => key.verify(bytes, signature),
            Verifier::Session(key) => key.verify(bytes, signature),
            Verifier::Reference(secret) => secret.verify(bytes, signature),
        }
    }
}

/// Signs an envelope in place: its signature, algorithm and nonce are set, the last not for the
/// reference, whose clients do not know it. Gives what was signed.
pub fn sign_envelope(
    envelope: &mut Envelope,
    signer: Signer<'_>,
    nonce: Nonce,
) -> Result<SigningBytes, NotCanonical> {
    let algorithm = prepare(envelope, signer, nonce);
    let bytes = SigningBytes::of_envelope(algorithm, envelope)?;
    envelope.signature = Some(signer.sign(bytes.as_bytes()));
    Ok(bytes)
}

/// Signs an envelope, and gives the text that is sent. That is mostly the very text that was signed, so
/// that it is written once.
pub(crate) fn write_signed(
    envelope: &mut Envelope,
    signer: Signer<'_>,
    nonce: Nonce,
) -> Result<String, NotCanonical> {
    let algorithm = prepare(envelope, signer, nonce);
    if algorithm.is_native() {
        let mut text = Vec::with_capacity(TYPICAL_BYTES);
        let is_exact = write_unsigned(envelope, &mut text)?;
        let [label, name] = before_canonical(algorithm);
        let signature = signer.sign_framed(&[label, name, &text]);
        if is_exact && text.pop() == Some(b'}') {
            for part in [",\"", SIGNATURE_KEY, "\":\"", &signature, "\"}"] {
                text.extend_from_slice(part.as_bytes());
            }
            return Ok(text_of(text));
        }
        envelope.signature = Some(signature);
    } else {
        sign_envelope(envelope, signer, nonce)?;
    }
    Ok(envelope.to_text())
}

/// Puts in what a signature covers besides the message.
fn prepare(envelope: &mut Envelope, signer: Signer<'_>, nonce: Nonce) -> Algorithm {
    let algorithm = signer.algorithm();
    // Mostly both are there already: the machine has put them in.
    let name = algorithm.wire_name();
    if envelope.signature_algorithm.as_deref() != Some(name) {
        envelope.signature_algorithm = Some(name.to_owned());
    }
    let kept = envelope.nonce.take().filter(|text| hex::decode(text) == Some(nonce.0));
    envelope.nonce = algorithm.is_native().then(|| kept.unwrap_or_else(|| nonce.to_hex()));
    algorithm
}

/// The same for an envelope that is an object, with keys in it that our types do not know.
pub fn sign_fields(
    envelope: Map<String, Value>,
    signer: Signer<'_>,
    nonce: Nonce,
) -> Result<Value, NotCanonical> {
    let algorithm = signer.algorithm();
    let mut signed = envelope;
    signed.insert("signature_algorithm".to_owned(), algorithm.wire_name().into());
    if algorithm.is_native() {
        signed.insert("nonce".to_owned(), nonce.to_hex().into());
    } else {
        signed.shift_remove("nonce");
    }
    let mut signed = Value::Object(signed);
    let bytes = SigningBytes::of_value(algorithm, &signed)?;
    signed[SIGNATURE_KEY] = signer.sign(bytes.as_bytes()).into();
    Ok(signed)
}

/// What a received envelope says about its signature, and what the signature has to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedMessage {
    algorithm: Algorithm,
    signature: String,
    bytes: SigningBytes,
}

impl SignedMessage {
    /// None if the message is not signed. A null counts as absent: some peers write every key.
    pub fn read(envelope: JsonValue<'_>) -> Result<Option<Self>, SignatureFault> {
        let present =
            |key| envelope.get(key).filter(|value: &JsonValue<'_>| value.kind() != JsonKind::Null);
        let (signature, name) = match (present(SIGNATURE_KEY), present("signature_algorithm")) {
            (None, None) => return Ok(None),
            (Some(signature), Some(name)) => (signature, name),
            (Some(_), None) | (None, Some(_)) => return Err(SignatureFault::Incomplete),
        };
        let name = name.string().map_err(|_| SignatureFault::Malformed)?;
        let signature = signature.string().map_err(|_| SignatureFault::Malformed)?.into_owned();
        let algorithm = Algorithm::from_wire(&name)
            .ok_or_else(|| SignatureFault::UnknownAlgorithm(name.chars().take(64).collect()))?;
        if algorithm.is_native() {
            let nonce = text_field(envelope, "nonce").ok_or(SignatureFault::BadNonce)?;
            hex::decode::<16>(&nonce).ok_or(SignatureFault::BadNonce)?;
            text_field(envelope, "timestamp").ok_or(SignatureFault::NoTimestamp)?;
        }
        if algorithm == Algorithm::ReferenceHmac && is_ambiguous(envelope) {
            return Err(SignatureFault::Ambiguous);
        }
        let bytes =
            SigningBytes::of_received(algorithm, envelope).map_err(SignatureFault::NotCanonical)?;
        Ok(Some(Self { algorithm, signature, bytes }))
    }

    /// What it says it is signed with.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// What the signature has to fit.
    pub fn signing_bytes(&self) -> &SigningBytes {
        &self.bytes
    }

    pub fn verify(&self, verifier: Verifier<'_>) -> Result<(), SignatureFault> {
        if self.algorithm != verifier.algorithm() {
            return Err(SignatureFault::NoKey(self.algorithm));
        }
        verifier.verify(self.bytes.as_bytes(), &self.signature).map_err(|wrong| match wrong {
            WrongSignature::Malformed => SignatureFault::Malformed,
            WrongSignature::Mismatch => SignatureFault::Mismatch,
        })
    }
}

/// A field that is a string; a null counts as absent.
fn text_field<'a>(envelope: JsonValue<'a>, key: &str) -> Option<Cow<'a, str>> {
    envelope.get(key)?.string().ok()
}

impl fmt::Display for SignatureFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignatureFault::Incomplete => {
                f.write_str("a signature and its algorithm belong together")
            }
            SignatureFault::UnknownAlgorithm(name) => {
                write!(f, "the signature algorithm {name:?} is not known")
            }
            SignatureFault::NoKey(algorithm) => {
                write!(f, "there is no key to check {} with", algorithm.wire_name())
            }
            SignatureFault::Malformed => f.write_str("the signature is not written as it must be"),
            SignatureFault::BadNonce => {
                f.write_str("a signed message needs a nonce of 32 lower-case hexadecimal digits")
            }
            SignatureFault::NoTimestamp => f.write_str("a signed message needs a timestamp"),
            SignatureFault::NotCanonical(fault) => fault.fmt(f),
            SignatureFault::Ambiguous => f.write_str(
                "a field under this signature holds `|`, so that it fits other messages",
            ),
            SignatureFault::Mismatch => f.write_str("the signature does not fit the message"),
        }
    }
}

impl std::error::Error for SignatureFault {}
