//! Bytes to text, piece by piece: a character that is split between two pieces stays whole.

/// Holds the beginning of a character until the rest comes.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// What is text for certain. Bytes that can never be become U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.pending.len());
        let mut done = 0;
        for chunk in self.pending.utf8_chunks() {
            text.push_str(chunk.valid());
            done += chunk.valid().len();
            let invalid = chunk.invalid();
            let is_last = done + invalid.len() == self.pending.len();
            if invalid.is_empty() || (is_last && is_beginning(invalid)) {
                continue;
            }
            text.push(char::REPLACEMENT_CHARACTER);
            done += invalid.len();
        }
        self.pending.drain(..done);
        text
    }

    /// There is no rest.
    pub(super) fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.pending);
        String::from_utf8_lossy(&rest).into_owned()
    }
}

/// Whether more bytes could make it a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut text: String = pieces.iter().map(|piece| decoder.push(piece)).collect();
        text.push_str(&decoder.finish());
        text
    }

    #[test]
    fn a_split_character_stays_whole() {
        assert_eq!(decode(&[b"a\xF0\x9F", b"\xA6", b"\x80b"]), "a🦀b");
        assert_eq!(decode(&[b"\xE2\x82"]), "\u{FFFD}");
        assert_eq!(decode(&[b"\xE2\x82", b"x\xFF"]), "\u{FFFD}x\u{FFFD}");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0xE2), Just(0x82)], 0..64),
            cut in 0usize..64,
        ) {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(decode(&[left, right]), String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn little_is_held_back(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut decoder = Decoder::default();
            decoder.push(&bytes);
            prop_assert!(decoder.pending.len() < 4);
        }
    }
}
