//! What can be said of a JSON text before anything is made of it: where a string ends, and how deep its
//! values nest. What is no JSON gives anything, and is refused by whoever reads it.

use memchr::memchr2;

/// The index after the quote that ends the string whose first quote stands at `start`; the end of the
/// text, if no quote does.
pub fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = text.get(at..).and_then(quote_or_backslash) {
        at += found;
        match text[at] {
            b'"' => return at + 1,
            // Whatever a backslash stands before ends nothing.
            _ => at += 2,
        }
    }
    text.len()
}

/// Most strings are names and words, for which looking is quicker than what is made for long ones.
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    let near = &text[..text.len().min(SHORT)];
    let found = near.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    found.or_else(|| memchr2(b'"', b'\\', &text[near.len()..]).map(|at| near.len() + at))
}

/// Bytes of a string that is short.
const SHORT: usize = 16;

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
