//! How something that we send is to be signed. A machine says how; who drives it has the keys of the
//! node and signs, outside of any lock.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::canonical::NotCanonical;
use crate::envelope::Envelope;
use crate::hex;
use crate::id::DelegateId;
use crate::moment::Moment;
use crate::sign::{Algorithm, Nonce, SessionKey, Signer, SigningKey, sign_envelope};
use crate::trust::Trust;

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
        let secret = |peer: &DelegateId| trust.peer(peer)?.secret.as_ref();
        let signer = match self {
            Self::None => return Ok(()),
            Self::Identity => Signer::Identity(identity),
            Self::Session(key) => Signer::Session(key),
            Self::Reference(peer) => {
                Signer::Reference(secret(peer).ok_or_else(|| SealError::NoSecret(peer.clone()))?)
            }
        };
        // The machine's: the keys of a session may hang on it.
        let nonce = envelope.nonce.as_deref().and_then(hex::decode).unwrap_or_default();
        sign_envelope(envelope, signer, Nonce::new(nonce)).map_err(SealError::NotCanonical)?;
        Ok(())
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
