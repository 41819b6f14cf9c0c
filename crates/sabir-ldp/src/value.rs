//! Values that are checked when they are made: scores, and bytes written in hex. It knows no message.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hex;

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Score(f64);

impl Score {
    /// None if the number is outside of 0 to 1.
    pub fn new(number: f64) -> Option<Self> {
        // Adding zero turns -0 into 0, so that equal scores are written alike.
        (0.0..=1.0).contains(&number).then_some(Self(number + 0.0))
    }

    pub fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        Self::new(number).ok_or("expected a number from 0 to 1")
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> Self {
        score.0
    }
}

/// Bytes that anybody may see, written as lower-case hex. Secrets have types of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HexBytes<const N: usize>(pub [u8; N]);

/// A public key, or the public half of a key agreement.
pub type KeyBytes = HexBytes<32>;

impl<const N: usize> HexBytes<N> {
    /// None if the text is not two lower-case digits for each byte.
    pub fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).map(Self)
    }

    pub fn to_hex(&self) -> String {
        hex::encode(&self.0)
    }
}

impl<const N: usize> fmt::Debug for HexBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl<const N: usize> fmt::Display for HexBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl<const N: usize> TryFrom<String> for HexBytes<N> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::from_hex(&text).ok_or_else(|| format!("expected {} hex digits", 2 * N))
    }
}

impl<const N: usize> From<HexBytes<N>> for String {
    fn from(bytes: HexBytes<N>) -> Self {
        bytes.to_hex()
    }
}
