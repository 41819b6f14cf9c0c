//! The head and the tail of a text of any length, in bounded memory.

/// Keeps at most so many bytes of JSON, the line about what is missing included: some characters
/// are six times as long there.
#[derive(Debug)]
pub(super) struct Kept {
    half: usize,
    head: String,
    head_cost: usize,
    tail: String,
    tail_cost: usize,
    omitted: u64,
}

impl Kept {
    pub(super) fn new(most: usize) -> Self {
        let half = most.saturating_sub(MARK) / 2;
        let (head, tail) = (String::new(), String::new());
        Self { half, head, head_cost: 0, tail, tail_cost: 0, omitted: 0 }
    }

    pub(super) fn push(&mut self, text: &str) {
        let mut text = text;
        if self.tail.is_empty() && self.omitted == 0 {
            let fits = longest_start(text, self.half - self.head_cost);
            self.head.push_str(&text[..fits]);
            self.head_cost += cost(&text[..fits]);
            text = &text[fits..];
        }
        self.tail.push_str(text);
        self.tail_cost += cost(text);
        // Twice the room, so that the text is moved once per half and not once per piece.
        if self.tail_cost > 2 * self.half {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let cut = self.excess();
        self.tail_cost -= cost(&self.tail[..cut]);
        self.tail.drain(..cut);
        self.omitted += cut as u64;
    }

    /// How many bytes of the tail have no room.
    fn excess(&self) -> usize {
        let mut excess = self.tail_cost.saturating_sub(self.half);
        let over = self.tail.bytes().take_while(|byte| {
            let is_over = excess > 0;
            excess = excess.saturating_sub(cost_of(*byte));
            is_over
        });
        self.tail.ceil_char_boundary(over.count())
    }

    pub(super) fn omitted(&self) -> u64 {
        self.omitted + self.excess() as u64
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

/// How long a text is in JSON.
fn cost(text: &str) -> usize {
    text.bytes().map(cost_of).sum()
}

fn cost_of(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// How many bytes at the start of a text have room.
fn longest_start(text: &str, mut room: usize) -> usize {
    let fits = text.bytes().take_while(|byte| match room.checked_sub(cost_of(*byte)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    });
    text.floor_char_boundary(fits.count())
}

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
        fn its_length_is_that_of_json(
            pieces in proptest::collection::vec("[\\x00-\\x7f€]{0,9}", 0..40),
        ) {
            let mut kept = Kept::new(MARK + 40);
            for piece in &pieces {
                kept.push(piece);
                prop_assert_eq!(kept.tail_cost, cost(&kept.tail));
                prop_assert!(kept.tail_cost <= 40 + 9 * 6);
            }
            let whole: String = pieces.concat();
            prop_assert_eq!(serde_json::to_string(&whole).unwrap().len(), cost(&whole) + 2);
            let omitted = kept.omitted() as usize;
            let text = kept.finish();
            prop_assert!(serde_json::to_string(&text).unwrap().len() <= MARK + 40 + 2);
            if omitted == 0 {
                prop_assert_eq!(text, whole);
            }
        }

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
