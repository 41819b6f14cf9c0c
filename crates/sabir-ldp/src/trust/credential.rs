//! What the transport knows about a message: where it came from and what was shown on the way.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::hex;

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
