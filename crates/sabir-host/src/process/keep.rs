//! The head and the tail of a text of any length, in bounded memory.

/// Keeps at most so many bytes, the line about what is missing included.
#[derive(Debug)]
pub(super) struct Kept {
    half: usize,
    head: String,
    tail: String,
    omitted: u64,
}

impl Kept {
    pub(super) fn new(most: usize) -> Self {
        let half = most.saturating_sub(MARK) / 2;
        Self { half, head: String::new(), tail: String::new(), omitted: 0 }
    }

    pub(super) fn push(&mut self, text: &str) {
        let mut text = text;
        if self.tail.is_empty() && self.omitted == 0 {
            let fits = text.floor_char_boundary(self.half - self.head.len());
            self.head.push_str(&text[..fits]);
            text = &text[fits..];
        }
        self.tail.push_str(text);
        // Twice the room, so that the text is moved once per half and not once per piece.
        if self.tail.len() > 2 * self.half {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let excess = self.tail.len().saturating_sub(self.half);
        let cut = self.tail.ceil_char_boundary(excess);
        self.tail.drain(..cut);
        self.omitted += cut as u64;
    }

    pub(super) fn omitted(&self) -> u64 {
        let excess = self.tail.len().saturating_sub(self.half);
        self.omitted + self.tail.ceil_char_boundary(excess) as u64
    }

    pub(super) fn finish(mut self) -> String {
        self.trim();
        if self.omitted > 0 {
            self.head.push_str(&format!("\n[... {} bytes omitted ...]\n", self.omitted));
        }
        self.head.push_str(&self.tail);
        self.head
    }
}

/// Room for the line about what is missing.
const MARK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn head_and_tail_stay() {
        let mut kept = Kept::new(MARK + 8);
        for piece in ["ab", "cdef", "ghij", "klmn", "op"] {
            kept.push(piece);
        }
        assert_eq!(kept.omitted(), 8);
        assert_eq!(kept.finish(), "abcd\n[... 8 bytes omitted ...]\nmnop");
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut kept = Kept::new(MARK + 8);
        kept.push("abcdefgh");
        assert_eq!(kept.finish(), "abcdefgh");
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_counts(pieces in proptest::collection::vec("[a-ü🦀]{0,9}", 0..40)) {
            let mut kept = Kept::new(MARK + 20);
            for piece in &pieces {
                kept.push(piece);
                prop_assert!(kept.head.len() + kept.tail.len() <= 60);
            }
            let whole: usize = pieces.iter().map(String::len).sum();
            let omitted = kept.omitted() as usize;
            let text = kept.finish();
            prop_assert!(text.len() <= MARK + 20);
            let mark = format!("\n[... {omitted} bytes omitted ...]\n");
            let without = text.len() - if omitted > 0 { mark.len() } else { 0 };
            prop_assert_eq!(without + omitted, whole);
        }
    }
}
