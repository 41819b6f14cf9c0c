//! The keys of a session: agreed on in the handshake, one for each direction.
//!
//! Both sides send a fresh X25519 share inside messages that their identity keys sign. The keys hang
//! on the shares, on every byte of those two messages and on who the parties are, so two sides that
//! saw different handshakes have different keys. Where a share's secret comes from is not known here.

use std::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use super::bytes::{SigningBytes, each_framed, framed, sha256};
use super::key::WrongSignature;
use crate::hex;

/// The secret half of one side's share. It is wiped from memory when dropped.
#[derive(Clone)]
pub struct ShareSecret(StaticSecret);

/// The handshake that two parties have in common.
#[derive(Clone, Copy, Debug)]
pub struct Handshake<'a> {
    pub session_id: &'a str,
    pub initiator: &'a str,
    pub responder: &'a str,
    pub propose: &'a SigningBytes,
    pub accept: &'a SigningBytes,
}

/// One key for what the initiator sends and one for what the responder sends: a message reflected to
/// its sender fails.
#[derive(Clone)]
pub struct SessionKeys {
    pub initiator: SessionKey,
    pub responder: SessionKey,
}

/// The key that one side of a session signs with. It is wiped from memory when dropped.
#[derive(Clone)]
pub struct SessionKey(Zeroizing<[u8; 32]>);

/// Why no keys came out of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareError {
    /// Not 64 lower-case hexadecimal digits.
    NotHex,
    /// A share of small order: the secret would be the same whatever ours is.
    Weak,
}

impl ShareSecret {
    /// `secret` must be fresh for every session.
    pub fn from_bytes(secret: [u8; 32]) -> Self {
        Self(StaticSecret::from(secret))
    }

    /// The half that travels, in hexadecimal digits.
    pub fn share(&self) -> String {
        hex::encode(PublicKey::from(&self.0).as_bytes())
    }

    /// The keys of the session that `handshake` opened, from the other side's share.
    pub fn agree(
        &self,
        their_share: &str,
        handshake: Handshake<'_>,
    ) -> Result<SessionKeys, ShareError> {
        let theirs = hex::decode::<32>(their_share).ok_or(ShareError::NotHex)?;
        let shared = self.0.diffie_hellman(&PublicKey::from(theirs));
        if !shared.was_contributory() {
            return Err(ShareError::Weak);
        }
        let Handshake { session_id, initiator, responder, propose, accept } = handshake;
        let salt = sha256(&[propose.as_bytes(), accept.as_bytes()].concat());
        let info = framed(&[SESSION_LABEL, session_id, initiator, responder].map(str::as_bytes));
        let mut keys = Zeroizing::new([0; 64]);
        // HKDF refuses only more than 255 blocks, and this is two. If it did, there would be no keys.
        Hkdf::<Sha256>::new(Some(&salt), shared.as_bytes())
            .expand(&info, &mut *keys)
            .map_err(|_| ShareError::Weak)?;
        let (initiator, responder) = keys.split_at(32);
        Ok(SessionKeys {
            initiator: SessionKey::of(initiator),
            responder: SessionKey::of(responder),
        })
    }
}

impl SessionKeys {
    /// Both keys in hexadecimal digits, for a store that keeps secrets.
    pub fn reveal(&self) -> Zeroizing<String> {
        let both = Zeroizing::new([*self.initiator.0, *self.responder.0].concat());
        Zeroizing::new(hex::encode(&both))
    }

    /// What [`reveal`](Self::reveal) gave.
    pub fn restore(text: &str) -> Option<Self> {
        let both = Zeroizing::new(hex::decode::<64>(text)?);
        let (initiator, responder) = both.split_at(32);
        Some(Self { initiator: SessionKey::of(initiator), responder: SessionKey::of(responder) })
    }
}

impl SessionKey {
    fn of(bytes: &[u8]) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        key.copy_from_slice(bytes);
        Self(key)
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> String {
        hmac_sign(&*self.0, bytes)
    }

    /// Signs parts, each behind its length, which are not put together for it.
    pub(super) fn sign_framed(&self, parts: &[&[u8]]) -> String {
        let mut hmac = begin_hmac(&*self.0);
        each_framed(parts, |piece| hmac.update(piece));
        hex::encode(&hmac.finalize().into_bytes())
    }

    pub(super) fn verify(&self, bytes: &[u8], signature: &str) -> Result<(), WrongSignature> {
        hmac_verify(&*self.0, bytes, signature)
    }
}

/// HMAC-SHA256 in hexadecimal digits.
pub(super) fn hmac_sign(key: &[u8], bytes: &[u8]) -> String {
    hex::encode(&hmac(key, bytes).finalize().into_bytes())
}

/// Compares in constant time.
pub(super) fn hmac_verify(key: &[u8], bytes: &[u8], signature: &str) -> Result<(), WrongSignature> {
    let signature = hex::decode::<32>(signature).ok_or(WrongSignature::Malformed)?;
    hmac(key, bytes).verify_slice(&signature).map_err(|_| WrongSignature::Mismatch)
}

fn hmac(key: &[u8], bytes: &[u8]) -> Hmac<Sha256> {
    let mut hmac = begin_hmac(key);
    hmac.update(bytes);
    hmac
}

fn begin_hmac(key: &[u8]) -> Hmac<Sha256> {
    // A key fills a block: a longer one is hashed, a shorter one ends in zeros (RFC 2104).
    let mut block = Zeroizing::new([0; 64]);
    if key.len() > block.len() {
        block[..32].copy_from_slice(&sha256(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    Hmac::<Sha256>::new((&*block).into())
}

impl fmt::Debug for ShareSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShareSecret(..)")
    }
}

impl fmt::Debug for SessionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKeys(..)")
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(..)")
    }
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ShareError::NotHex => "a key share is 64 lower-case hexadecimal digits",
            ShareError::Weak => "the key share is of small order",
        })
    }
}

impl std::error::Error for ShareError {}

const SESSION_LABEL: &str = "sabir-ldp-v1/session";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign::Algorithm;

    /// RFC 4231, cases 1, 2 and 6: a short key, a shorter one, and one longer than a block.
    #[test]
    fn hmac_is_that_of_the_rfc() {
        for (key, bytes, expected) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hmac_sign(key, bytes), expected);
            assert_eq!(hmac_verify(key, bytes, expected), Ok(()));
            assert_eq!(hmac_verify(key, b"", expected), Err(WrongSignature::Mismatch));
            assert_eq!(hmac_verify(key, bytes, &expected[2..]), Err(WrongSignature::Malformed));
        }
    }

    fn bytes(text: &str) -> SigningBytes {
        SigningBytes::of_value(Algorithm::Ed25519, &text.into()).unwrap()
    }

    fn keys(session_id: &str, initiator: &str, propose: &str, accept: &str) -> SessionKeys {
        let (propose, accept) = (bytes(propose), bytes(accept));
        let handshake =
            Handshake { session_id, initiator, responder: "r", propose: &propose, accept: &accept };
        let (ours, theirs) = (ShareSecret::from_bytes([1; 32]), ShareSecret::from_bytes([2; 32]));
        let keys = ours.agree(&theirs.share(), handshake).unwrap();
        let same = theirs.agree(&ours.share(), handshake).unwrap();
        assert_eq!(*keys.reveal(), *same.reveal());
        keys
    }

    /// LD-S8
    #[test]
    fn keys_hang_on_the_whole_handshake() {
        let usual = keys("s", "i", "propose", "accept");
        assert_ne!(*usual.initiator.0, *usual.responder.0);
        for other in [
            keys("t", "i", "propose", "accept"),
            keys("s", "j", "propose", "accept"),
            keys("s", "i", "changed", "accept"),
            keys("s", "i", "propose", "changed"),
        ] {
            assert_ne!(*usual.initiator.0, *other.initiator.0);
            assert_ne!(*usual.responder.0, *other.responder.0);
        }
        let restored = SessionKeys::restore(&usual.reveal()).unwrap();
        assert_eq!(*restored.initiator.0, *usual.initiator.0);
        assert_eq!(*restored.responder.0, *usual.responder.0);
        assert!(SessionKeys::restore("00").is_none());
        assert_eq!(format!("{usual:?} {:?}", usual.initiator), "SessionKeys(..) SessionKey(..)");
    }

    /// LD-S8
    #[test]
    fn a_share_that_fixes_the_secret_is_refused() {
        let bytes = bytes("");
        let handshake = Handshake {
            session_id: "",
            initiator: "",
            responder: "",
            propose: &bytes,
            accept: &bytes,
        };
        let ours = ShareSecret::from_bytes([1; 32]);
        for weak in ["00".repeat(32), format!("01{}", "00".repeat(31))] {
            assert_eq!(ours.agree(&weak, handshake).unwrap_err(), ShareError::Weak);
        }
        assert_eq!(ours.agree("zz", handshake).unwrap_err(), ShareError::NotHex);
    }
}
