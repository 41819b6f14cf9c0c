//! How something that we send is to be signed. A machine says how; who drives it has the keys of the
//! node and signs, outside of any lock.

use serde::{Serialize, Serializer};

use crate::envelope::Envelope;
use crate::id::DelegateId;
use crate::moment::Moment;
use crate::sign::{Algorithm, SessionKey};

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

    /// Puts into the envelope what a signature covers: all but the signature. Keys of a session hang
    /// on these bytes, so that they must be known before anything is signed.
    pub(crate) fn prepare(&self, envelope: &mut Envelope, moment: &mut Moment) {
        envelope.signature_algorithm = self.algorithm().map(|it| it.wire_name().to_owned());
        envelope.nonce = match self {
            Self::Identity | Self::Session(_) => Some(moment.fresh_nonce()),
            // The reference's clients do not know the field.
            Self::None | Self::Reference(_) => None,
        };
    }
}

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
