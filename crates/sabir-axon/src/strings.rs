//! String literals: escapes in, escapes out.

use std::borrow::Cow;

/// The characters between the quotes; a missing closing quote is forgiven.
pub(crate) fn unquote(quoted: &str) -> &str {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    inner.strip_suffix('"').unwrap_or(inner)
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
        match read_escape(rest) {
            Escape::Char(c, length) => {
                out.push(c);
                rest = &rest[length..];
            }
            Escape::Unknown(length) | Escape::NoCharacter(length) => {
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What stands at a backslash, and how many bytes it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    Char(char, usize),
    /// A backslash before something that it does not escape. The length covers the backslash only.
    Unknown(usize),
    /// `\u{...}` of the right shape that names no character.
    NoCharacter(usize),
}

/// Reads the escape at the front of `text`, which starts with a backslash.
pub(crate) fn read_escape(text: &str) -> Escape {
    let simple = match text.as_bytes().get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'u') => return read_unicode_escape(text),
        _ => return Escape::Unknown(1),
    };
    Escape::Char(simple, 2)
}

fn read_unicode_escape(text: &str) -> Escape {
    let Some(inner) = text.strip_prefix("\\u{") else { return Escape::Unknown(1) };
    let digits = inner.bytes().take(7).take_while(u8::is_ascii_hexdigit).count();
    if !(1..=6).contains(&digits) || inner.as_bytes().get(digits) != Some(&b'}') {
        return Escape::Unknown(1);
    }
    let length = "\\u{}".len() + digits;
    let value = u32::from_str_radix(&inner[..digits], 16).ok().and_then(char::from_u32);
    value.map_or(Escape::NoCharacter(length), |c| Escape::Char(c, length))
}

/// Writes `value` as a string literal with the fewest escapes.
pub fn quote_into(out: &mut String, value: &str) {
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
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
        let value = "a\"b\\c\nd\te\r\0é\u{1f600}";
        assert_eq!(unescape(unquote(&quote(value))), value);
    }

    #[test]
    fn unicode_escapes() {
        assert_eq!(unescape(r"\u{41}\u{1F600}"), "A\u{1f600}");
        assert_eq!(read_escape(r"\u{d800}"), Escape::NoCharacter(8));
        assert_eq!(read_escape(r"\u{1234567}"), Escape::Unknown(1));
        assert_eq!(read_escape(r"\u{}"), Escape::Unknown(1));
        assert_eq!(read_escape(r"\u41"), Escape::Unknown(1));
        assert_eq!(unescape(r"a\qb"), r"a\qb");
    }
}
