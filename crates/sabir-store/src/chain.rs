//! The hash chain: each entry's hash covers the hash before it. No database here, so that an export
//! can be checked by the same functions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 value, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

/// What the hash of an entry covers, besides the hash of the entry before.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    pub seq: u64,
    pub session_id: &'a [u8],
    pub at_ms: u64,
    pub kind: &'a [u8],
    pub tag: &'a [u8],
    pub key: &'a [u8],
    pub body: &'a [u8],
}

/// The hash that stands before the first entry of a store.
#[must_use]
pub fn genesis_hash(store_id: &str) -> Hash {
    let mut digest = Covered::new(GENESIS);
    digest.field(store_id.as_bytes());
    digest.finish()
}

/// The hash of an entry that follows one with the hash `previous`.
#[must_use]
pub fn entry_hash(previous: &Hash, link: &Link<'_>) -> Hash {
    let mut digest = Covered::new(ENTRY);
    digest.field(&previous.0);
    digest.field(&link.seq.to_be_bytes());
    digest.field(link.session_id);
    digest.field(&link.at_ms.to_be_bytes());
    digest.field(link.kind);
    digest.field(link.tag);
    digest.field(link.key);
    digest.field(link.body);
    digest.finish()
}

impl Hash {
    /// The hash of a text by itself, as `sha256sum` prints it.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// `None` unless it is 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
        if pairs.len() != 32 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text)
            .ok_or_else(|| serde::de::Error::custom("a hash is 64 lower-case hexadecimal digits"))
    }
}

/// Every field is length-prefixed. Joining with a separator would let `("a|b", "c")` and
/// `("a", "b|c")` share a hash.
pub(crate) struct Covered(Sha256);

impl Covered {
    pub(crate) fn new(label: &str) -> Self {
        let mut digest = Self(Sha256::new());
        digest.field(label.as_bytes());
        digest
    }

    pub(crate) fn field(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Hash {
        Hash(self.0.finalize().into())
    }
}

/// The labels keep these hashes apart from all others; a change of what is covered changes them.
const GENESIS: &str = "sabir journal genesis v1";
const ENTRY: &str = "sabir journal entry v1";
