//! What can be said of a JSON text before anything is made of it: where a string ends, and how deep its
//! values nest. What is no JSON gives anything, and is refused by whoever reads it.

use memchr::memchr2;

/// The index after the quote that ends the string whose first quote stands at `start`; the end of the
/// text, if no quote does.
pub fn string_end(text: &[u8], start: usize) -> usize {
    plain_string(text, start).0
}

/// The same, and whether the string stands there as it is meant, without a backslash.
pub(super) fn plain_string(text: &[u8], start: usize) -> (usize, bool) {
    let (mut at, mut is_plain) = (start + 1, true);
    while let Some(found) = text.get(at..).and_then(quote_or_backslash) {
        at += found;
        match text[at] {
            b'"' => return (at + 1, is_plain),
            // Whatever a backslash stands before ends nothing.
            _ => (at, is_plain) = (at + 2, false),
        }
    }
    (text.len(), is_plain)
}

/// Most strings are names and words, for which looking at eight bytes together is quicker than what is
/// made for long ones.
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The lowest bit that is set belongs to the first such byte, if there is one.
    let marked = |word: u64, byte: u8| {
        let others = word ^ (ONES * u64::from(byte));
        others.wrapping_sub(ONES) & !others & HIGH
    };
    let (words, rest) = text[..text.len().min(SHORT)].as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = marked(word, b'"') | marked(word, b'\\');
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    if text.len() < SHORT {
        let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
        return found.map(|at| words.len() * 8 + at);
    }
    memchr2(b'"', b'\\', &text[SHORT..]).map(|at| SHORT + at)
}

/// Bytes of a string that is short.
const SHORT: usize = 40;

/// How many objects and lists are open at once, at most.
pub fn depth(text: &str) -> usize {
    let text = text.as_bytes();
    let (mut at, mut open, mut deepest) = (0, 0_usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        at = if *byte == b'"' { string_end(text, at) } else { at + 1 };
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        for (text, end) in [
            (r#""",1"#, 2),
            (r#""a\"b",1"#, 6),
            (r#""\\",1"#, 4),
            (r#""\é",1"#, 5),
            // Nothing ends these.
            (r#"""#, 1),
            (r#""a\"#, 3),
            (r#""a\""#, 4),
        ] {
            assert_eq!(string_end(text.as_bytes(), 0), end, "{text}");
        }
        assert_eq!(string_end(br#"["a"]"#, 1), 4);
        assert_eq!(string_end(b"", 7), 0);
    }

    /// Whatever stands around it, and on whichever side of a border it is.
    #[test]
    fn a_quote_and_a_backslash_are_found_at_every_place() {
        let near = [b' ', b'!', b'#', b'[', b']', 0x5d, 0x7f, 0xa2, 0xdc, 0xff, 0];
        for length in 0..100 {
            for around in near {
                let mut text = vec![b'"'];
                text.resize(length + 1, around);
                assert_eq!(plain_string(&text, 0), (length + 1, true));
                text.push(b'"');
                // Neither what comes after it is looked at, nor how much of that there is.
                for _ in 0..20 {
                    assert_eq!(plain_string(&text, 0), (length + 2, true), "{text:?}");
                    text.push(around);
                }
                text.insert(length + 1, b'\\');
                text.push(b'"');
                assert_eq!(plain_string(&text, 0), (text.len(), false), "{text:?}");
            }
        }
    }

    #[test]
    fn brackets_in_strings_are_not_counted() {
        for (text, deepest) in [
            ("", 0),
            ("1", 0),
            ("[]", 1),
            (r#"[{"a":[]},[[]]]"#, 3),
            (r#"{"[[[":"\"[[["}"#, 1),
            ("]]][[", 2),
            (r#"["[["#, 1),
        ] {
            assert_eq!(depth(text), deepest, "{text}");
        }
    }
}
