//! What the transport knows about a message: where it came from and what was shown on the way.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::hex;
use crate::value::HexBytes;

/// The way that a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    pub origin: Origin,
    /// What the other side showed, if anything.
    pub credential: Option<Credential>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A caller on this machine.
    Loopback,
    /// A caller from elsewhere.
    Remote,
    /// What answered at an address that we called: on this machine, or over TLS that proved its name.
    Answer,
}

/// What a peer can show to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    Token(Fingerprint),
    Certificate(Fingerprint),
}

/// Which token or certificate that anybody may hold was shown, and for which domain. It tells two
/// holders apart and is no way back to what they hold, so that it can stand in a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark(pub HexBytes<16>);

impl Mark {
    pub(super) fn of(credential: Credential, domain: &str) -> Self {
        let (kind, fingerprint) = match credential {
            Credential::Token(fingerprint) => ("token", fingerprint),
            Credential::Certificate(fingerprint) => ("certificate", fingerprint),
        };
        let mut hash = Sha256::new();
        for part in [MARK_LABEL.as_bytes(), kind.as_bytes(), domain.as_bytes(), &fingerprint.0] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let hash: [u8; 32] = hash.finalize().into();
        let mut mark = [0; 16];
        mark.copy_from_slice(&hash[..16]);
        Self(HexBytes(mark))
    }
}

/// Says what is hashed, and in which version.
const MARK_LABEL: &str = "sabir-ldp-v1/holder";

/// The SHA-256 hash of a bearer token or of a certificate. Two are compared in constant time.
#[derive(Clone, Copy)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of the token's text, or of the certificate's DER bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// From 64 lower-case hexadecimal digits, as configuration writes it.
    pub fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).map(Self)
    }

    pub fn to_hex(&self) -> String {
        hex::encode(&self.0)
    }
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Fingerprint {}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({})", self.to_hex())
    }
}
