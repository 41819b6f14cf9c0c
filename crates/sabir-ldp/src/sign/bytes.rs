//! The bytes that are signed.
//!
//! Each begins with a label that says what is signed and in which version, so that a signature made
//! for one purpose is worth nothing for another. Each part stands behind its length: joining with a
//! separator would let ("a|b", "c") and ("a", "b|c") share a signature.

use std::fmt;

use sabir_base::json::JsonValue;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::envelope::Algorithm;
use super::reference::{string_of_received, string_of_wire};
use crate::canonical::{NotCanonical, canonical_text_without, canonical_wire_without};
use crate::wire::Wire;

/// What is signed when an envelope is signed. The session's keys depend on the bytes of two of them.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningBytes(Vec<u8>);

impl SigningBytes {
    /// Of an envelope that was received: everything that it says, known to us or not.
    pub fn of_received(
        algorithm: Algorithm,
        envelope: JsonValue<'_>,
    ) -> Result<Self, NotCanonical> {
        if !algorithm.is_native() {
            return Ok(Self(string_of_received(envelope).into_bytes()));
        }
        Ok(Self::of_canonical(algorithm, &canonical_text_without(envelope, SIGNATURE_KEY)?))
    }

    /// Of an envelope that we are about to send.
    pub fn of_value(algorithm: Algorithm, envelope: &Value) -> Result<Self, NotCanonical> {
        Self::of_wire(algorithm, &envelope.into())
    }

    /// The same of one that is not put together yet.
    pub(crate) fn of_wire(algorithm: Algorithm, envelope: &Wire<'_>) -> Result<Self, NotCanonical> {
        if !algorithm.is_native() {
            return Ok(Self(string_of_wire(envelope).into_bytes()));
        }
        let canonical = canonical_wire_without(envelope, SIGNATURE_KEY)?;
        Ok(Self::of_canonical(algorithm, &canonical.text))
    }

    pub(super) fn of_canonical(algorithm: Algorithm, canonical: &str) -> Self {
        let parts = [ENVELOPE_LABEL, algorithm.wire_name(), canonical];
        Self(framed(&parts.map(str::as_bytes)))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SigningBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An envelope may hold what does not belong into a log.
        write!(f, "SigningBytes({} bytes)", self.0.len())
    }
}

/// The parts one after the other, each behind its length in eight bytes, big end first.
pub(super) fn framed(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    for part in parts {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(*part);
    }
    bytes
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The one key of an envelope that its signature cannot cover.
pub(super) const SIGNATURE_KEY: &str = "signature";

const ENVELOPE_LABEL: &str = "sabir-ldp-v1/envelope";

#[cfg(test)]
mod tests {
    use super::*;

    /// LD-S3
    #[test]
    fn parts_cannot_run_into_each_other() {
        assert_eq!(framed(&[b"ab", b""]), *b"\0\0\0\0\0\0\0\x02ab\0\0\0\0\0\0\0\0");
        assert_ne!(framed(&[b"ab", b"c"]), framed(&[b"a", b"bc"]));
    }
}
