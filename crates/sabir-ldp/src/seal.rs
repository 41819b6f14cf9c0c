//! How something that we send is to be signed. A machine says how; who drives it has the keys of the
//! node and signs, outside of any lock.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::canonical::NotCanonical;
use crate::envelope::Envelope;
use crate::hex;
use crate::id::DelegateId;
use crate::moment::Moment;
use crate::sign::{
    Algorithm, Nonce, SessionKey, SessionKeys, Signer, SigningKey, sign_envelope, write_signed,
};
use crate::trust::{Means, Standing, Trust};

#[derive(Debug, Clone)]
pub enum Seal {
    /// Not at all: the peer does not sign either.
    None,
    /// With the node's identity key.
    Identity,
    /// With our key of the session. It is here, and not looked up, because the session may be over
    /// when its last answer is signed.
    Session(SessionKey),
    /// With the secret that is shared with this peer, as the reference does.
    Reference(DelegateId),
}

impl Seal {
    /// An answer is signed as the question was. Whoever follows a task is told of it in the same way.
    /// `keys` are those of the session that the question names.
    pub fn of_answer(
        question: &Envelope,
        standing: Option<&Standing>,
        trust: &Trust,
        keys: Option<&SessionKeys>,
    ) -> Self {
        let from = &question.from;
        let Some(standing) = standing else {
            // It failed the verification: the answer is signed as the peer can check it.
            return match trust.peer(from) {
                Some(peer) if peer.secret.is_some() => Self::Reference(from.clone()),
                _ if question.signature_algorithm.is_some() => Self::Identity,
                _ => Self::None,
            };
        };
        match standing.means {
            Means::SessionKey => {
                keys.map_or(Self::Identity, |keys| Self::Session(keys.responder.clone()))
            }
            Means::PinnedKey | Means::FirstUse(_) => Self::Identity,
            Means::ReferenceHmac => Self::Reference(from.clone()),
            Means::Credential | Means::UnsignedLoopback | Means::UnsignedAnswer => Self::None,
        }
    }

    pub fn algorithm(&self) -> Option<Algorithm> {
        match self {
            Self::None => None,
            Self::Identity => Some(Algorithm::Ed25519),
            Self::Session(_) => Some(Algorithm::SessionHmac),
            Self::Reference(_) => Some(Algorithm::ReferenceHmac),
        }
    }

    /// Signs an envelope that a machine put out, with the node's key and the secrets it shares.
    pub fn apply(
        &self,
        envelope: &mut Envelope,
        identity: &SigningKey,
        trust: &Trust,
    ) -> Result<(), SealError> {
        if let Some(signer) = self.signer(identity, trust)? {
            let nonce = nonce_of(envelope);
            sign_envelope(envelope, signer, nonce).map_err(SealError::NotCanonical)?;
        }
        Ok(())
    }

    /// Signs it as [`apply`](Self::apply) does, and gives the text that is sent.
    pub fn write(
        &self,
        envelope: &mut Envelope,
        identity: &SigningKey,
        trust: &Trust,
    ) -> Result<String, SealError> {
        let Some(signer) = self.signer(identity, trust)? else { return Ok(envelope.to_text()) };
        let nonce = nonce_of(envelope);
        write_signed(envelope, signer, nonce).map_err(SealError::NotCanonical)
    }

    fn signer<'a>(
        &'a self,
        identity: &'a SigningKey,
        trust: &'a Trust,
    ) -> Result<Option<Signer<'a>>, SealError> {
        let secret = |peer: &DelegateId| trust.peer(peer)?.secret.as_ref();
        Ok(Some(match self {
            Self::None => return Ok(None),
            Self::Identity => Signer::Identity(identity),
            Self::Session(key) => Signer::Session(key),
            Self::Reference(peer) => {
                Signer::Reference(secret(peer).ok_or_else(|| SealError::NoSecret(peer.clone()))?)
            }
        }))
    }

    /// Puts into the envelope what a signature covers: all but the signature. Keys of a session hang
    /// on these bytes, so that they must be known before anything is signed.
    pub fn prepare(&self, envelope: &mut Envelope, moment: &mut Moment) {
        envelope.signature_algorithm = self.algorithm().map(|it| it.wire_name().to_owned());
        envelope.nonce = match self {
            Self::Identity | Self::Session(_) => Some(moment.fresh_nonce()),
            // The reference's clients do not know the field.
            Self::None | Self::Reference(_) => None,
        };
    }
}

/// The machine's: the keys of a session may hang on it.
fn nonce_of(envelope: &Envelope) -> Nonce {
    Nonce::new(envelope.nonce.as_deref().and_then(hex::decode).unwrap_or_default())
}

/// Why something could not be signed as it should be. It is not to be sent then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealError {
    NotCanonical(NotCanonical),
    /// No secret is shared with this peer.
    NoSecret(DelegateId),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCanonical(fault) => fault.fmt(f),
            Self::NoSecret(peer) => write!(f, "no secret is shared with {peer}"),
        }
    }
}

impl std::error::Error for SealError {}

/// By name: what is written down of an output holds no key.
impl Serialize for Seal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::None => "none",
            Self::Identity => "identity",
            Self::Session(_) => "session",
            Self::Reference(_) => "reference",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::card::TrustDomain;
    use crate::envelope::Received;
    use crate::sign::Verifier;
    use crate::trust::SignaturePolicy;

    fn envelope(output: &Value) -> Envelope {
        let message = json!({
            "message_id": "m", "session_id": "s", "from": "ldp:delegate:a", "to": "ldp:delegate:b",
            "payload_mode": "text", "timestamp": "2026-11-16T12:00:00Z", "nonce": "07".repeat(16),
            "body": {
                "type": "TASK_RESULT", "task_id": "t", "output": output,
                "provenance": {
                    "produced_by": "ldp:delegate:a", "payload_mode_used": "text",
                    "confidence": 1.0, "cost_usd": 0.25, "tokens_used": 7,
                },
            },
        });
        serde_json::from_value(message).unwrap()
    }

    /// LD-S4, LD-S13: the text is signed, and says what the envelope says, to the last digit.
    #[test]
    fn what_is_written_is_what_is_signed_and_nothing_is_lost() {
        let key = SigningKey::from_seed(&[1; 32]);
        let trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        let outputs = [
            json!(null),
            json!("a \"quote\", a\nline, \u{1f600} and \u{7f}"),
            json!({ "z": [1, -2, 0], "a": { "é": true, "e": {} }, "signature": "its own" }),
            // Whoever reads these sees whether they were doubles.
            json!(1.0),
            json!([{ "deep": [0.5, 1e300] }]),
        ];
        for output in &outputs {
            for seal in [Seal::None, Seal::Identity] {
                let mut written = envelope(output);
                let text = seal.write(&mut written, &key, &trust).unwrap();
                let mut applied = envelope(output);
                seal.apply(&mut applied, &key, &trust).unwrap();
                let received = Received::read(&text).unwrap();
                assert_eq!(received.envelope, applied, "{text}");
                let found: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(found["body"]["output"], *output, "{text}");
                if let Some(signed) = received.signed().unwrap() {
                    assert_eq!(signed.verify(Verifier::Identity(&key.public_key())), Ok(()));
                }
            }
        }
    }

    #[test]
    fn what_has_no_canonical_form_is_not_written_as_signed() {
        let key = SigningKey::from_seed(&[1; 32]);
        let trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        let result = Seal::Identity.write(&mut envelope(&json!(u64::MAX)), &key, &trust);
        let Err(SealError::NotCanonical(fault)) = result else { panic!("{result:?}") };
        assert_eq!(fault.pointer, "/body/output");
        assert!(Seal::None.write(&mut envelope(&json!(u64::MAX)), &key, &trust).is_ok());
    }
}
