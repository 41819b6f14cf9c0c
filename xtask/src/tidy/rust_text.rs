//! Just enough of Rust's surface to tell code from comments, strings and tests.
//!
//! Blanked bytes become spaces, so that offsets and line numbers stay what they were.

use std::ops::Range;

/// Code with comments and the contents of string and character literals blanked.
pub(super) fn code(text: &str) -> String {
    blank(text, Literals::Blank)
}

/// The same, without what is compiled for tests only.
pub(super) fn shipped_code(text: &str) -> String {
    let code = code(text);
    without(&code, &test_ranges(&code))
}

/// What ships, with its literals; comments and tests are blanked.
pub(super) fn shipped_code_and_literals(text: &str) -> String {
    // The ranges come from the code alone: a brace in a string closes nothing.
    without(&blank(text, Literals::Keep), &test_ranges(&code(text)))
}

/// Whether the file is compiled for tests only, judging by where it stands.
pub(super) fn is_test_file(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.contains("/tests/")
}

/// The offsets at which `needle` stands as a whole: not in the middle of a longer name.
pub(super) fn whole_words(code: &str, needle: &str) -> Vec<usize> {
    let bytes = code.as_bytes();
    code.match_indices(needle)
        .map(|(start, _)| start)
        .filter(|&start| {
            let before = start.checked_sub(1).map(|at| bytes[at]);
            let after = bytes.get(start + needle.len()).copied();
            !before.is_some_and(is_name_byte) && !after.is_some_and(is_name_byte)
        })
        .collect()
}

/// The line, from one, that holds the byte at `offset`.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count() + 1
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Literals {
    Keep,
    Blank,
}

fn blank(text: &str, literals: Literals) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (len, drop) = if rest.starts_with(b"//") {
            (find(rest, b"\n").unwrap_or(rest.len()), true)
        } else if rest.starts_with(b"/*") {
            (block_comment_len(rest), true)
        } else if let Some(len) = literal_len(bytes, at) {
            (len, literals == Literals::Blank)
        } else {
            (1, false)
        };
        if drop {
            out[at..at + len].iter_mut().for_each(|byte| *byte = blanked(*byte));
        }
        at += len;
    }
    // Comments and literals begin and end on character boundaries, and spaces are characters.
    String::from_utf8_lossy(&out).into_owned()
}

fn blanked(byte: u8) -> u8 {
    if byte == b'\n' { b'\n' } else { b' ' }
}

/// The items under `#[cfg(test)]` and `#[test]`, or everything under `#![cfg(test)]`.
fn test_ranges(code: &str) -> Vec<Range<usize>> {
    if code.contains("#![cfg(test)]") {
        let everything = 0..code.len();
        return vec![everything];
    }
    ["#[cfg(test)]", "#[test]"]
        .iter()
        .flat_map(|attribute| code.match_indices(attribute))
        .map(|(start, attribute)| start..item_end(code.as_bytes(), start + attribute.len()))
        .collect()
}

fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        bytes[range.clone()].iter_mut().for_each(|byte| *byte = blanked(*byte));
    }
    // Whole items were blanked, and items begin and end on character boundaries.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn block_comment_len(bytes: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The length of the string or character literal that starts at `at`, if one does.
fn literal_len(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    match rest[0] {
        b'"' => Some(quoted_len(rest, b'"')),
        b'\'' => is_character(rest).then(|| quoted_len(rest, b'\'')),
        b'r' | b'b' | b'c' if at == 0 || !is_name_byte(bytes[at - 1]) => raw_string_len(rest),
        _ => None,
    }
}

/// A quote starts a lifetime, unless an escape or a closing quote follows.
fn is_character(bytes: &[u8]) -> bool {
    let Some(&next) = bytes.get(1) else { return false };
    let width = match next {
        b'\\' => return true,
        0x00..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    bytes.get(1 + width) == Some(&b'\'')
}

fn quoted_len(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_string_len(bytes: &[u8]) -> Option<usize> {
    let prefix = bytes.iter().take_while(|byte| matches!(byte, b'b' | b'c' | b'r')).count();
    // `r#name` is a raw name, and `b"…"` without an `r` is found at its quote.
    if !matches!(&bytes[..prefix], b"r" | b"br" | b"cr") {
        return None;
    }
    let hashes = bytes[prefix..].iter().take_while(|&&byte| byte == b'#').count();
    let open = prefix + hashes + 1;
    if bytes.get(open - 1) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let end = find(&bytes[open..], &close).map_or(bytes.len(), |found| open + found + close.len());
    Some(end)
}

/// Where the item ends whose attributes continue at `from`: after its block or its semicolon.
fn item_end(code: &[u8], from: usize) -> usize {
    let mut depth = 0usize;
    for (at, &byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_in_place() {
        let text = "a // x\nb /* y /* z */ */ c \"s\\\"t\" d r#\"u\"v\"# e 'w' f '\\'' g &'h i";
        let blanked = code(text);
        assert_eq!(blanked.len(), text.len());
        let words: Vec<_> = blanked.split_whitespace().collect();
        assert_eq!(words, ["a", "b", "c", "d", "e", "f", "g", "&'h", "i"]);
        assert_eq!(line_of(&blanked, blanked.find('b').unwrap()), 2);
    }

    #[test]
    fn literals_can_be_kept() {
        let kept = shipped_code_and_literals(
            "f(\"// no comment\"); // a comment\n/* an é */ '}'\n#[test]\nfn a() { \"}\" }\ng()",
        );
        let lines: Vec<_> = kept.lines().map(str::trim).collect();
        assert_eq!(lines, ["f(\"// no comment\");", "'}'", "", "", "g()"]);
    }

    #[test]
    fn raw_names_byte_strings_and_long_characters() {
        assert_eq!(code("r#type b\"x\" br\"\\\" '→' 'a").trim_end(), "r#type b                'a");
        assert_eq!(code("for r\"unfinished").trim_end(), "for");
    }

    #[test]
    fn tests_are_blanked_and_what_follows_is_not() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { c(); }\n}\nfn d() {}\n\
                    #[test]\nfn e(x: [u8; 2]) { f() }\n#[cfg(test)]\nuse g::{h, i};\nfn j() {}";
        let left = shipped_code(text);
        assert_eq!(left.lines().count(), text.lines().count());
        for gone in ["b()", "c()", "e(", "f()", "h"] {
            assert!(!left.contains(gone), "{gone} is left in {left}");
        }
        for kept in ["fn a()", "fn d()", "fn j()"] {
            assert!(left.contains(kept), "{kept} is missing in {left}");
        }
        assert_eq!(shipped_code("#![cfg(test)]\nfn a() {}").trim(), "");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(whole_words("a::b xa::b a::bc (a::b)", "a::b"), [0, 18]);
    }
}
