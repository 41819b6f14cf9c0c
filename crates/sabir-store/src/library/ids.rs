//! Names of rows: a prefix that says what it is, and a random end. Where the randomness comes from is
//! not known here.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Random bytes for new ids. No two processes may draw the same ones.
pub trait Ids {
    /// Eighty bits: short enough for a model to repeat without error, long enough never to be drawn
    /// twice in one library.
    fn draw(&mut self) -> [u8; 10];
}

impl<F: FnMut() -> [u8; 10]> Ids for F {
    fn draw(&mut self) -> [u8; 10] {
        self()
    }
}

/// Sixteen digits and lower-case letters without i, l, o and u, which are misread.
pub(crate) fn suffix(ids: &mut dyn Ids) -> String {
    let (mut text, mut bits, mut held) = (String::with_capacity(16), 0_u32, 0_u32);
    for byte in ids.draw() {
        held = (held << 8 | u32::from(byte)) & 0xFFFF;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            let digit = (held >> bits) as usize & 31;
            text.push(char::from(DIGITS[digit]));
        }
    }
    text
}

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Longer than any that we make; what others hand in is bounded.
const MAX: usize = 64;

fn is_end(end: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !end.is_empty() && end.len() <= MAX && end.bytes().all(plain)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            pub(crate) fn draw(ids: &mut dyn Ids) -> Self {
                Self(format!("{}{}", Self::PREFIX, suffix(ids)))
            }

            /// `None` unless it has the prefix and an end of letters, digits, `-` and `_`.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                is_end(text.strip_prefix(Self::PREFIX)?).then(|| Self(text.to_owned()))
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0.as_str()))
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let expected = concat!("an id that starts with ", $prefix);
                Self::parse(&text).ok_or_else(|| serde::de::Error::custom(expected))
            }
        }
    )*};
}

ids! {
    CollectionId "col_"
    SourceId "src_"
    /// What a source said at one time.
    VersionId "ver_"
    JobId "job_"
    ChatId "chat_"
    ArtifactId "art_"
    RunId "run_"
    CitationId "cit_"
    ApprovalId "apr_"
    AuditId "aud_"
    /// Stands in the name of a lock file, and in the rows that the worker has at hand.
    WorkerId "wrk_"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        assert_eq!(suffix(&mut || [0; 10]), "0000000000000000");
        assert_eq!(suffix(&mut || [255; 10]), "zzzzzzzzzzzzzzzz");
        for bit in 0..80 {
            let mut bytes = [0; 10];
            bytes[bit / 8] = 0x80 >> (bit % 8);
            let text = suffix(&mut || bytes);
            assert_eq!(text.chars().position(|digit| digit != '0'), Some(bit / 5), "{text}");
        }
    }

    #[test]
    fn only_what_looks_like_one_is_an_id() {
        assert!(SourceId::parse("src_0a-B_").is_some());
        for wrong in ["src_", "src", "srcx0", "col_0", "src_a/../b", "src_ä", "SRC_a", "src_a b"] {
            assert_eq!(SourceId::parse(wrong), None, "{wrong}");
        }
        assert_eq!(SourceId::parse(&format!("src_{}", "a".repeat(65))), None);
    }
}
