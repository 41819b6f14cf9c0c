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
use crate::canonical::{NotCanonical, write_own, write_text_without, write_wire_without};
use crate::envelope::Envelope;
use crate::wire::{TYPICAL_BYTES, Wire};

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
        let room = envelope.text().len();
        let write = |out: &mut Vec<u8>| write_text_without(envelope, SIGNATURE_KEY, out);
        let Self(mut bytes) = Self::of_written(algorithm, room, write)?;
        // They may be kept for long: a text that was mostly spaces leaves no room behind.
        bytes.shrink_to(bytes.len() + SIGNATURE_ROOM);
        Ok(Self(bytes))
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
        Self::of_written(algorithm, TYPICAL_BYTES, |out| {
            write_wire_without(envelope, SIGNATURE_KEY, out)
        })
    }

    /// As [`of_wire`](Self::of_wire), with nothing made before.
    pub(super) fn of_envelope(
        algorithm: Algorithm,
        envelope: &Envelope,
    ) -> Result<Self, NotCanonical> {
        if !algorithm.is_native() {
            return Self::of_wire(algorithm, &envelope.to_wire());
        }
        Self::of_written(algorithm, TYPICAL_BYTES, |out| write_unsigned(envelope, out).map(drop))
    }

    /// `write` writes the envelope in its canonical form.
    fn of_written(
        algorithm: Algorithm,
        room: usize,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), NotCanonical>,
    ) -> Result<Self, NotCanonical> {
        let mut bytes = Vec::with_capacity(FRAME_ROOM + room);
        put_framed(&mut bytes, &before_canonical(algorithm));
        put_written(&mut bytes, write)?;
        Ok(Self(bytes))
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

/// What stands before the canonical form in what is signed.
pub(super) fn before_canonical(algorithm: Algorithm) -> [&'static [u8]; 2] {
    [ENVELOPE_LABEL.as_bytes(), algorithm.wire_name().as_bytes()]
}

/// Writes the canonical form of an envelope without its signature. Whether it is read as what the
/// envelope says is given.
pub(super) fn write_unsigned(envelope: &Envelope, out: &mut Vec<u8>) -> Result<bool, NotCanonical> {
    write_own(out, |out| envelope.write_unsigned(out), SIGNATURE_KEY, || envelope.to_value())
}

/// The parts one after the other, each behind its length in eight bytes, big end first.
pub(super) fn framed(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    put_framed(&mut bytes, parts);
    bytes
}

/// The same behind what is there already.
pub(super) fn put_framed(bytes: &mut Vec<u8>, parts: &[&[u8]]) {
    each_framed(parts, |piece| bytes.extend_from_slice(piece));
}

/// One more part, which `write` writes.
pub(super) fn put_written<E>(
    bytes: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let length_at = bytes.len();
    bytes.extend_from_slice(&[0; 8]);
    let start = bytes.len();
    write(bytes)?;
    let length = (bytes.len() - start) as u64;
    bytes[length_at..start].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Gives the pieces of what is signed, for who need not have them together.
pub(super) fn each_framed(parts: &[&[u8]], mut take: impl FnMut(&[u8])) {
    for part in parts {
        take(&(part.len() as u64).to_be_bytes());
        take(part);
    }
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The one key of an envelope that its signature cannot cover.
pub(super) const SIGNATURE_KEY: &str = "signature";

/// Before an envelope's canonical form: three lengths, a label and the name of an algorithm.
const FRAME_ROOM: usize = 3 * 8 + ENVELOPE_LABEL.len() + 32;

/// What a signature takes in a text, and more.
const SIGNATURE_ROOM: usize = 256;

const ENVELOPE_LABEL: &str = "sabir-ldp-v1/envelope";

#[cfg(test)]
mod tests {
    use super::*;

    /// LD-S3
    #[test]
    fn parts_cannot_run_into_each_other() {
        assert_eq!(framed(&[b"ab", b""]), *b"\0\0\0\0\0\0\0\x02ab\0\0\0\0\0\0\0\0");
        assert_ne!(framed(&[b"ab", b"c"]), framed(&[b"a", b"bc"]));
        let mut bytes = framed(&[b"a"]);
        let written = put_written(&mut bytes, |out| {
            out.extend_from_slice(b"bc");
            Ok::<(), ()>(())
        });
        assert_eq!((written, bytes), (Ok(()), framed(&[b"a", b"bc"])));
    }
}
