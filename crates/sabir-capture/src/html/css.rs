//! The words of CSS: comments, strings, escapes, functions. It knows no property and no selector.

use std::borrow::Cow;

/// A text of CSS without comments, with escapes read. What stands in strings, in addresses or behind
/// a backslash cannot be taken for a mark any more: such characters are moved to a place where no
/// mark is; [`real`] brings them back.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '"', '\'', '(', '*', '\0']) && !text.contains("--") {
        return Cow::Borrowed(text);
    }
    let mut reader = Plain { out: String::with_capacity(text.len()), rest: text };
    while let Some(c) = reader.next() {
        match c {
            '"' | '\'' => reader.string(c),
            '\\' => reader.escape(),
            '/' if reader.rest.starts_with('*') => {
                let end = reader.rest[1..].find("*/").map_or(reader.rest.len(), |at| at + 3);
                reader.rest = &reader.rest[end..];
                reader.out.push(' ');
            }
            '<' if reader.rest.starts_with("!--") => reader.rest = &reader.rest[3..],
            '-' if reader.rest.starts_with("->") && !reader.is_in_name() => {
                reader.rest = &reader.rest[2..];
            }
            '(' if reader.follows_url() => {
                reader.out.push('(');
                reader.address();
            }
            c => reader.out.push(c),
        }
    }
    Cow::Owned(reader.out)
}

struct Plain<'a> {
    out: String,
    rest: &'a str,
}

impl Plain<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn is_in_name(&self) -> bool {
        self.out.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'))
    }

    fn follows_url(&self) -> bool {
        let start = self.out.len().saturating_sub(3);
        let is_url = self.out.get(start..).is_some_and(|end| end.eq_ignore_ascii_case("url"));
        is_url && !self.rest.trim_start().starts_with(['"', '\''])
    }

    fn string(&mut self, quote: char) {
        self.out.push('"');
        while let Some(c) = self.next() {
            match c {
                c if c == quote => break,
                '\n' => break,
                '\\' if self.rest.starts_with('\n') => self.rest = &self.rest[1..],
                '\\' => {
                    let escaped = self.escaped();
                    self.out.extend(escaped.map(moved));
                }
                c => self.out.push(moved(c)),
            }
        }
        self.out.push('"');
    }

    /// An address without quotes, up to its parenthesis.
    fn address(&mut self) {
        while let Some(c) = self.next() {
            match c {
                ')' => {
                    self.out.push(')');
                    return;
                }
                '\\' => {
                    let escaped = self.escaped();
                    self.out.extend(escaped.map(moved));
                }
                c => self.out.push(moved(c)),
            }
        }
    }

    /// A letter behind a backslash is one of a name; everything else is no mark and no number.
    fn escape(&mut self) {
        let in_name = self.out.ends_with(|c: char| c.is_alphabetic() || matches!(c, '-' | '_'));
        let after_digit = self.out.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let Some(c) = self.escaped() else { return };
        let is_plain = (c.is_alphabetic() && !after_digit) || (in_name && matches!(c, '-' | '_'));
        self.out.push(if is_plain { c } else { moved(c) });
    }

    fn escaped(&mut self) -> Option<char> {
        let digits = self.rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            return self.next().filter(|c| *c != '\n');
        }
        let code = u32::from_str_radix(&self.rest[..digits], 16).unwrap_or_default();
        self.rest = &self.rest[digits..];
        if self.rest.starts_with([' ', '\t', '\n', '\r', '\x0c']) {
            self.rest = &self.rest[1..];
        }
        Some(char::from_u32(code).filter(|c| *c != '\0').unwrap_or('\u{FFFD}'))
    }
}

/// Marks, digits and white space go to a place of their own.
fn moved(c: char) -> char {
    match c {
        c if c.is_ascii() && !c.is_ascii_alphabetic() => {
            char::from_u32(PLACE + u32::from(c)).unwrap_or(c)
        }
        c => c,
    }
}

/// The text as it was meant, for comparing it with what the page has.
pub(crate) fn real(text: &str) -> String {
    let back = |c: char| match u32::from(c) {
        code @ PLACE..=PLACE_END => char::from_u32(code - PLACE).unwrap_or(c),
        _ => c,
    };
    text.chars().map(back).collect()
}

const PLACE: u32 = 0xF_0000;
const PLACE_END: u32 = PLACE + 127;

/// A value in lower case, but for what stands in strings.
pub(crate) fn lowered(value: &str) -> String {
    let mut in_string = false;
    let lower = |c: char| {
        in_string ^= c == '"';
        if in_string { c } else { c.to_ascii_lowercase() }
    };
    value.chars().map(lower).collect()
}

/// The parts between marks that stand in no parentheses and no brackets.
pub(crate) fn split_outside(
    text: &str,
    is_mark: impl Fn(char) -> bool,
) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0_u32;
        for (at, c) in text.char_indices() {
            match c {
                c if depth == 0 && is_mark(c) => {
                    rest = Some(&text[at + c.len_utf8()..]);
                    return Some(&text[..at]);
                }
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        rest = None;
        Some(text)
    })
}

/// The words of a value; a function with what is in its parentheses is one word.
pub(crate) fn words(value: &str) -> impl Iterator<Item = &str> {
    split_outside(value, |c| c.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// The functions of a value: their names, and what is in their parentheses. Nothing if there is
/// anything else.
pub(crate) fn functions(value: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut depth = 0_u32;
    for (at, c) in value.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => {
                found.push(function(value[from..=at].trim())?);
                from = at + 1;
                depth = 0;
            }
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    // Whoever forgets the last parenthesis is forgiven.
    match value[from..].trim() {
        "" => {}
        rest => found.push(function(rest)?),
    }
    Some(found)
}

/// The name of a function, and what is in its parentheses.
pub(crate) fn function(word: &str) -> Option<(&str, &str)> {
    let (name, rest) = word.split_once('(')?;
    let inner = rest.strip_suffix(')').unwrap_or(rest);
    (!name.is_empty()).then_some((name.trim(), inner.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_strings_and_behind_backslashes_are_none() {
        for (text, plain_text) in [
            ("d\\69splay:none", "display:none"),
            ("d\\000069 splay:none", "display:none"),
            ("a/* } */b", "a b"),
            ("<!-- a{} -->", " a{} "),
            ("--a:1", "--a:1"),
        ] {
            assert_eq!(plain(text), plain_text, "{text}");
        }
        for text in ["content:\"}\"", "content:'/*'", "url(a}b/*)", "content:\"\\\"}\"", "\\}"] {
            let read = plain(text);
            assert!(!read.contains('}') && !read.contains("/*"), "{text}: {read}");
        }
        assert_eq!(real(&plain("md\\:hidden")), "md:hidden");
    }
}
