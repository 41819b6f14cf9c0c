//! Which texts the parser reads as a number, as text without quotes, or as a key.

/// Whether `text` is a number as LLMX and JSON write it.
pub(super) fn is_number(text: &str) -> bool {
    let (length, fits) = number(text.as_bytes());
    fits && length == text.len()
}

/// Whether `text` is a key in any case: letters, digits and `_`.
pub(super) fn is_any_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What text without quotes stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Object,
    Tuple,
    Array,
}

/// Whether `text` is read back as text without quotes, and without an error, where it stands.
pub(super) fn is_run(text: &str, within: Within) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let ends = match within {
        Within::Object => false,
        Within::Tuple => text.contains(')'),
        Within::Array => first == ')',
    };
    let is_other = match first {
        '\'' | '“' | '”' | '‘' | '’' | '«' | '„' | '(' => true,
        'A'..='Z' | 'a'..='z' | '_' => {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        }
        '0'..='9' | '-' => number(text.as_bytes()).0 == text.len(),
        _ => false,
    };
    let stops = [' ', '\t', '\r', '\n', ',', ']', '}', '|', '?', '"', '{', '['];
    !(ends || is_other || text.contains(stops))
}

/// How much of `text` looks like a number, and whether that much is one.
fn number(text: &[u8]) -> (usize, bool) {
    let mut at = 0;
    let digits = |at: &mut usize| {
        let start = *at;
        while text.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
        *at - start
    };
    at += usize::from(text.first() == Some(&b'-'));
    let whole = at;
    let length = digits(&mut at);
    let mut fits = length == 1 || length > 1 && text[whole] != b'0';
    if text.get(at) == Some(&b'.') {
        at += 1;
        fits &= digits(&mut at) > 0;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        fits &= digits(&mut at) > 0;
    }
    (at, fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::tree::Kind;

    #[test]
    fn the_parser_agrees() {
        let texts = [
            "a", "a.b", "src/a.ts", "-", "-a", "1", "01", "1.", "1.5", "1e", "1e5", "1e5x", "-0",
            "0.50", "'a", "a'", "“a", "(", "(a", "a(", "a)", ")a", ")", "é", "^/x", ":", ":a",
            "true", "true.", "null", "a-b", "_", "a|b", "a?", "a{", "a[", "a\"", "\"", "", "\0",
            "\0a", "a\u{7f}", "a b", "a,b", "a]", "a}", "a\nb", "\u{a0}", "$x", "#1", "\\", "1-2",
            "--1",
        ];
        for text in texts {
            for (within, before, after) in [
                (Within::Object, "HEADER:{x_a:", "}\n"),
                (Within::Tuple, "HEADER:{x_a:(a:", ")}\n"),
                (Within::Array, "HEADER:{x_a:[", "]}\n"),
            ] {
                let document = format!("{before}{text}{after}");
                let parsed = parse(&document);
                let leaf = parsed.tree.node_at(before.len() as u32);
                let whole = leaf.text() == text && !parsed.has_errors();
                let read = |kind: Kind| whole && leaf.kind() == kind;
                assert_eq!(is_run(text, within), read(Kind::Run), "{document:?}");
                assert_eq!(is_number(text), read(Kind::Number), "{document:?}");
            }
        }
    }
}
