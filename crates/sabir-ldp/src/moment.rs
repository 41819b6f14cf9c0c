//! What a machine may know of the outside at one call: the time, and a seed for everything that must
//! not be guessed. It has no clock and no random source: who drives a machine draws the seed.

use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use crate::hex;
use crate::time::Timestamp;

/// One call's time, and what it may draw. A machine is deterministic in its state, its input and
/// this.
pub struct Moment {
    now: Timestamp,
    seed: [u8; 32],
    drawn: u64,
}

impl Moment {
    /// `seed` comes from the system's random source and is used for one moment only: a second use
    /// would give the same ids and the same secrets.
    pub fn new(now: Timestamp, seed: [u8; 32]) -> Self {
        Self { now, seed, drawn: 0 }
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// An id in the form of a random UUID.
    pub fn fresh_id(&mut self) -> String {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.draw(ID)[..16]);
        // Version 4, variant 1, as those who check ids expect them.
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut id = [b'-'; 36];
        for (from, to, at) in [(0, 4, 0), (4, 6, 9), (6, 8, 14), (8, 10, 19), (10, 16, 24)] {
            hex::write(&bytes[from..to], &mut id[at..at + 2 * (to - from)]);
        }
        // Digits and dashes are text.
        std::str::from_utf8(&id).unwrap_or_default().to_owned()
    }

    /// Sixteen bytes in lower-case hex, for an envelope's `nonce`.
    pub fn fresh_nonce(&mut self) -> String {
        hex::encode(&self.draw(NONCE)[..16])
    }

    /// The secret half of a key share.
    pub fn fresh_secret(&mut self) -> [u8; 32] {
        self.draw(SECRET)
    }

    /// A number below `bound`, for spreading retries. Zero when the bound is.
    pub fn fresh_below(&mut self, bound: u64) -> u64 {
        let bytes = self.draw(SPREAD);
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[..8]);
        u64::from_be_bytes(number).checked_rem(bound).unwrap_or(0)
    }

    /// The purpose is hashed too: a nonce, which everybody sees, says nothing about a secret drawn
    /// from the same seed.
    fn draw(&mut self, purpose: &[u8]) -> [u8; 32] {
        self.drawn += 1;
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(self.seed);
        hash.update(self.drawn.to_be_bytes());
        hash.update(purpose);
        hash.finalize().into()
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moment").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

const DOMAIN: &[u8] = b"sabir-ldp-v1/moment";
const ID: &[u8] = b"id";
const NONCE: &[u8] = b"nonce";
const SECRET: &[u8] = b"secret";
const SPREAD: &[u8] = b"spread";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_differs_and_repeats_with_the_seed() {
        let mut moment = Moment::new(Timestamp::from_millis(5), [7; 32]);
        let first = (moment.fresh_id(), moment.fresh_nonce(), moment.fresh_secret());
        let second = (moment.fresh_id(), moment.fresh_nonce(), moment.fresh_secret());
        assert_ne!(first.0, second.0);
        assert_ne!(first.1, second.1);
        assert_ne!(first.2, second.2);
        let mut again = Moment::new(Timestamp::from_millis(5), [7; 32]);
        assert_eq!((again.fresh_id(), again.fresh_nonce(), again.fresh_secret()), first);
    }

    #[test]
    fn an_id_has_the_form_of_a_random_uuid() {
        let id = Moment::new(Timestamp::from_millis(0), [1; 32]).fresh_id();
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'4');
        let dashes = id.match_indices('-').map(|(at, _)| at);
        assert_eq!(dashes.collect::<Vec<_>>(), [8, 13, 18, 23]);
        assert!(id.split('-').all(|part| part.bytes().all(|it| it.is_ascii_hexdigit())));
        assert!(b"89ab".contains(&id.as_bytes()[19]), "{id}");
    }

    #[test]
    fn a_moment_prints_no_seed() {
        let moment = Moment::new(Timestamp::from_millis(0), [0xab; 32]);
        assert!(!format!("{moment:?}").contains("171"));
    }
}
