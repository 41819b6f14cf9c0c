//! Identity keys: Ed25519, strict. They sign the handshake and everything that outlives a session.
//!
//! Nothing here knows where a seed comes from or where a key is kept.

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::hex;

/// The secret half of a delegate's identity. It is wiped from memory when dropped.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

/// The public half, as cards and configuration carry it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(VerifyingKey);

/// Why a text is no public key that we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicKeyError {
    /// Not 64 lower-case hexadecimal digits.
    NotHex,
    /// No point of the curve, or one written in a second way.
    NotAPoint,
    /// Of small order: signatures by it could be made without a secret.
    Weak,
}

impl SigningKey {
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature of `bytes`, in hexadecimal digits.
    pub(super) fn sign(&self, bytes: &[u8]) -> String {
        hex::encode(&self.0.sign(bytes).to_bytes())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(..)")
    }
}

impl PublicKey {
    pub fn from_hex(text: &str) -> Result<Self, PublicKeyError> {
        Self::from_bytes(&hex::decode(text).ok_or(PublicKeyError::NotHex)?)
    }

    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, PublicKeyError> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| PublicKeyError::NotAPoint)?;
        if key.is_weak() {
            return Err(PublicKeyError::Weak);
        }
        if key.to_edwards().compress().to_bytes() != *bytes {
            return Err(PublicKeyError::NotAPoint);
        }
        Ok(Self(key))
    }

    pub fn to_hex(&self) -> String {
        hex::encode(self.0.as_bytes())
    }

    /// Whether `signature` (hexadecimal digits) is this key's for `bytes`. Strict: a signature has one
    /// form, and points of small order are refused.
    pub(super) fn verify(&self, bytes: &[u8], signature: &str) -> Result<(), WrongSignature> {
        let signature = hex::decode::<64>(signature).ok_or(WrongSignature::Malformed)?;
        self.0
            .verify_strict(bytes, &Signature::from_bytes(&signature))
            .map_err(|_| WrongSignature::Mismatch)
    }
}

/// What is wrong with the digits of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrongSignature {
    Malformed,
    Mismatch,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.to_hex())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).map_err(de::Error::custom)
    }
}

impl fmt::Display for PublicKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PublicKeyError::NotHex => "a public key is 64 lower-case hexadecimal digits",
            PublicKeyError::NotAPoint => "the public key is no point of the curve",
            PublicKeyError::Weak => "the public key is of small order",
        })
    }
}

impl std::error::Error for PublicKeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// LD-S6
    #[test]
    fn keys_that_anyone_could_sign_for_are_refused() {
        // The neutral element, a point of order two, one of order eight, and the first again with a
        // sign that it cannot have.
        for weak in [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "0100000000000000000000000000000000000000000000000000000000000080",
        ] {
            assert_eq!(PublicKey::from_hex(weak).unwrap_err(), PublicKeyError::Weak, "{weak}");
        }
        let no_point = "0200000000000000000000000000000000000000000000000000000000000000";
        assert_eq!(PublicKey::from_hex(no_point).unwrap_err(), PublicKeyError::NotAPoint);
        assert_eq!(PublicKey::from_hex("01").unwrap_err(), PublicKeyError::NotHex);
    }

    /// A coordinate is below the prime; the same one with the prime added is another text for the
    /// same key.
    #[test]
    fn a_key_has_one_text() {
        let mut refused = 0;
        // Coordinates 3 to 18 can be written a second time in 255 bits: ed + 3 and so on.
        for low in 0xf0..=0xff_u8 {
            let text = format!("{low:02x}{}7f", "ff".repeat(30));
            refused += usize::from(PublicKey::from_hex(&text).is_err());
        }
        assert_eq!(refused, 16);
    }

    #[test]
    fn secrets_are_not_shown() {
        let key = SigningKey::from_seed(&[7; 32]);
        assert_eq!(format!("{key:?}"), "SigningKey(..)");
    }

    /// The first vector of RFC 8032, section 7.1.
    #[test]
    fn the_vector_of_the_rfc() {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let key = SigningKey::from_seed(&hex::decode(seed).unwrap());
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        assert_eq!(key.public_key().to_hex(), public);
        let signature = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555\
                         fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";
        assert_eq!(key.sign(b""), signature);
        let public = PublicKey::from_hex(public).unwrap();
        assert_eq!(public.verify(b"", signature), Ok(()));
        assert_eq!(public.verify(b"x", signature), Err(WrongSignature::Mismatch));
        assert_eq!(public.verify(b"", &signature.to_uppercase()), Err(WrongSignature::Malformed));
    }
}
