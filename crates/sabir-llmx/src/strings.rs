//! Words and string literals: what may stand bare, escapes in, escapes out.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether `text` may stand without quotes: a letter or `_`, then letters, digits, `_` and `-`.
/// `true`, `false` and `null` mean something else without quotes.
pub fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !matches!(text, "true" | "false" | "null")
}

/// Whether `text` is a key in the strict form: a lower-case letter, then lower-case letters, digits
/// and `_`.
pub fn is_key(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// The characters between the quotes; a missing closing quote is forgiven.
#[inline]
pub(crate) fn unquote(quoted: &str) -> &str {
    match quoted.strip_prefix('"') {
        Some(inner) => inner.strip_suffix('"').unwrap_or(inner),
        None => quoted,
    }
}

/// Replaces escapes by what they stand for. An escape that stands for nothing is kept as written:
/// the parser has reported it, and dropping characters would lose what somebody wrote.
pub(crate) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match read_escape(rest) {
            Escape::Char(c, length) => {
                out.push(c);
                length
            }
            Escape::Unknown | Escape::NoCharacter => {
                out.push('\\');
                1
            }
        };
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What stands at a backslash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// The character, and how many bytes its escape takes.
    Char(char, usize),
    /// A backslash before something that it does not escape.
    Unknown,
    /// `\uXXXX` that is half of a character, or four digits that are none.
    NoCharacter,
}

/// Reads the escape at the front of `text`, which starts with a backslash: those of JSON.
pub(crate) fn read_escape(text: &str) -> Escape {
    let simple = match text.as_bytes().get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return read_unicode_escape(text),
        _ => return Escape::Unknown,
    };
    Escape::Char(simple, 2)
}

fn read_unicode_escape(text: &str) -> Escape {
    let unit = |from: usize| {
        let digits = text.get(from + 2..from + 6).filter(|_| text[from..].starts_with("\\u"))?;
        let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        all_hex.then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let Some(first) = unit(0) else { return Escape::NoCharacter };
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Escape::Char(c, 6);
    }
    let second = if text.is_char_boundary(6) && text.len() > 6 { unit(6) } else { None };
    let Some(second) = second else { return Escape::NoCharacter };
    match char::decode_utf16([first, second]).next() {
        Some(Ok(c)) => Escape::Char(c, 12),
        _ => Escape::NoCharacter,
    }
}

/// Writes `value` as a string literal with the fewest escapes.
pub fn quote_into(out: &mut String, value: &str) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in value.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f | 0x7f => "",
            _ => continue,
        };
        out.push_str(&value[plain..at]);
        plain = at + 1;
        if escape.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(&value[plain..]);
    out.push('"');
}

/// `value` as a string literal.
pub fn quote(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    quote_into(&mut out, value);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_round_trip() {
        let value = "a\"b\\c\nd\te\r\0\u{7f}\u{8}\u{c}é\u{1f600}/";
        assert_eq!(unescape(unquote(&quote(value))), value);
    }

    #[test]
    fn unicode_escapes_are_those_of_json() {
        assert_eq!(unescape(r"\u0041\ud83d\ude00"), "A\u{1f600}");
        for half in [r"\ud83d", r"\ud83dx", r"\ud83d\n", r"\ude00", r"\u12", r"\u12é4", r"\ud83dé"]
        {
            assert_eq!(read_escape(half), Escape::NoCharacter, "{half}");
            assert_eq!(unescape(half).chars().next(), Some('\\'), "{half}");
        }
        assert_eq!(unescape(r"a\qb"), r"a\qb");
    }

    #[test]
    fn words_and_keys() {
        for word in ["a", "_", "A-1", "x_y", "Claude"] {
            assert!(is_word(word), "{word}");
        }
        for other in ["", "-a", "1a", "a b", "a.b", "true", "null", "é"] {
            assert!(!is_word(other), "{other}");
        }
        assert!(is_key("a_1") && !is_key("A") && !is_key("_a") && !is_key("1") && !is_key(""));
    }
}
