//! Texts without the credentials that stand in them. Everything else stays as it is written, and
//! every character is looked at a bounded number of times.

use std::borrow::Cow;

use super::{REMOVED, shape, url, words};

/// The text with its private keys, tokens, cookies and passwords taken out.
pub fn redact_text(text: &str) -> Cow<'_, str> {
    let mut scanner = Scanner { text, at: 0, copied: 0, no_jwt_before: 0, out: String::new() };
    scanner.scan();
    if scanner.copied == 0 {
        return Cow::Borrowed(text);
    }
    scanner.out.push_str(&text[scanner.copied..]);
    Cow::Owned(scanner.out)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// What is before this has been copied or taken out.
    copied: usize,
    /// No signed token begins before this: `eyJ-eyJ-…` would be read again from every word.
    no_jwt_before: usize,
    out: String,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        while self.at < self.text.len() {
            let bytes = self.text.as_bytes();
            let before = self.at.checked_sub(1).map(|index| bytes[index]);
            let here = bytes[self.at];
            if before.is_some_and(is_word) || !(is_word(here) || here == b'-') {
                self.at += 1;
                continue;
            }
            let starts_name = before != Some(b'-');
            let taken = self.take_marked() || (starts_name && self.take_named());
            if !taken {
                let word = shape::run(&self.text[self.at..], is_word);
                self.at += word.max(1);
            }
        }
    }

    /// A credential that shows what it is.
    fn take_marked(&mut self) -> bool {
        let rest = &self.text[self.at..];
        if rest.starts_with(KEY_BEGIN) {
            return self.take_key_block();
        }
        if rest.starts_with(shape::JWT) && self.at < self.no_jwt_before {
            return false;
        }
        let Some(length) = shape::marked_credential(rest) else {
            if rest.starts_with(shape::JWT) {
                self.no_jwt_before = self.at + shape::run(rest, shape::is_base64url);
            }
            return false;
        };
        self.remove(self.at, self.at + length);
        true
    }

    /// An address, or a name and behind it what is secret.
    fn take_named(&mut self) -> bool {
        let rest = &self.text[self.at..];
        if rest.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"))
            || rest.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
        {
            return self.take_address();
        }
        let length = shape::run(rest, |byte| is_word(byte) || byte == b'-');
        let (name, behind) = rest.split_at(length);
        if let Some(behind) = behind.strip_prefix("://")
            && let Some(user) = user_of(behind)
        {
            let start = self.at + length + "://".len();
            self.remove(start, start + user);
            return true;
        }
        let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        let value = match () {
            () if length > MAX_NAME => None,
            () if is(&["bearer"]) => bearer_token(behind),
            () if is(&["authorization", "proxy-authorization"]) => {
                header_value(behind, is_authorization)
            }
            () if is(&["cookie", "set-cookie"]) => header_value(behind, is_cookie),
            // Nearly all words of a text are set to nothing, and end here.
            () if is_assigned(behind) && words::names_secret(name) => assigned_value(behind),
            () => None,
        };
        let Some(value) = value else { return false };
        let start = self.at + length;
        self.remove(start + value.start, start + value.end);
        true
    }

    fn take_address(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let ends = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | ')' | ']' | '}' | '|')
        };
        let length = rest.find(ends).unwrap_or(rest.len());
        match url::without_credentials(&rest[..length]) {
            Some(clean) => {
                self.replace(self.at, self.at + length, &clean);
            }
            None => self.at += length,
        }
        true
    }

    fn take_key_block(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let label = &rest[KEY_BEGIN.len()..rest.floor_char_boundary(KEY_LABEL_WINDOW)];
        let Some(end) = label.find(KEY_DASHES).filter(|end| label[..*end].contains("PRIVATE KEY"))
        else {
            return false;
        };
        let label_end = KEY_BEGIN.len() + end + KEY_DASHES.len();
        self.remove(self.at, self.at + key_block_length(rest, label_end));
        true
    }

    fn remove(&mut self, start: usize, end: usize) {
        self.replace(start, end, REMOVED);
    }

    fn replace(&mut self, start: usize, end: usize, by: &str) {
        self.out.push_str(&self.text[self.copied..start]);
        self.out.push_str(by);
        self.copied = end;
        self.at = end;
    }
}

/// A block up to its end or, if that is missing, as far as lines go that can only be a key.
fn key_block_length(block: &str, label_end: usize) -> usize {
    // In a JSON string the whole block is one line.
    let mut certain =
        label_end + shape::run(&block[label_end..], |byte| is_token(byte) || byte == b'\\');
    let mut end = 0;
    for (index, line) in block.split_inclusive('\n').enumerate() {
        let window = &line[..line.floor_char_boundary(KEY_LINE_WINDOW)];
        if let Some(at) = window.find(KEY_END) {
            let behind = at + KEY_END.len();
            let dashes = window[behind..].find(KEY_DASHES).map(|at| at + KEY_DASHES.len());
            return end + dashes.map_or(window.trim_end().len(), |length| behind + length);
        }
        if index > 0 && !may_be_key_line(line) {
            break;
        }
        end += line.len();
        if index > 0 && line.trim().len() >= 16 {
            certain = end - (line.len() - line.trim_end().len());
        }
    }
    certain
}

type Range = std::ops::Range<usize>;

/// ` abc123…` behind the word `Bearer`.
fn bearer_token(behind: &str) -> Option<Range> {
    let token = behind.strip_prefix(' ')?;
    let length = shape::run(token, is_token);
    let fits = length >= 16 && token[..length].bytes().any(|byte| byte.is_ascii_digit());
    fits.then_some(1..1 + length)
}

/// The rest of a header's line, or of the quotes that it stands in, if it is what `is_meant`.
fn header_value(behind: &str, is_meant: fn(&str) -> bool) -> Option<Range> {
    let after_quote = behind.strip_prefix(['"', '\'']).unwrap_or(behind);
    let value =
        after_quote.trim_start_matches(' ').strip_prefix(':')?.trim_start_matches([' ', '"', '\'']);
    // Enough to judge by. A line of many headers would be read from each to its end otherwise.
    if !is_meant(&value[..value.floor_char_boundary(HEADER_WINDOW)]) {
        return None;
    }
    let start = behind.len() - value.len();
    let length = value.find(['\n', '\r', '"', '\'', '`']).unwrap_or(value.len());
    Some(start..start + length)
}

fn is_authorization(value: &str) -> bool {
    let mut parts = value.split_whitespace();
    let first = parts.next().unwrap_or("");
    let scheme = SCHEMES.iter().any(|scheme| first.eq_ignore_ascii_case(scheme));
    let credential =
        |word: &str| word.len() >= 6 && word.bytes().any(|b| b.is_ascii_digit() || b == b'=');
    match scheme {
        true => parts.next().is_some_and(|second| second.len() >= 6),
        false => credential(first),
    }
}

fn is_cookie(value: &str) -> bool {
    let first = value.split_whitespace().next().unwrap_or("");
    first.split_once('=').is_some_and(|(name, _)| !name.is_empty())
}

/// How long `name:password` is at the start of what stands behind a scheme, as in `postgres://`.
fn user_of(behind: &str) -> Option<usize> {
    let host = shape::run(behind, |byte| byte.is_ascii_graphic() && !b"/\"'`<>@".contains(&byte));
    let is_user = behind[host..].starts_with('@') && behind[..host].contains(':');
    (is_user && host <= MAX_USER).then_some(host)
}

/// Whether a name is set to something.
fn is_assigned(behind: &str) -> bool {
    behind_name(behind).starts_with(['=', ':'])
}

/// What comes after the quotation mark and the spaces that may end a name.
fn behind_name(behind: &str) -> &str {
    behind.strip_prefix(['"', '\'']).unwrap_or(behind).trim_start_matches(' ')
}

/// `=abc`, `: abc123`, `": "abc"`: what a name is set to.
fn assigned_value(behind: &str) -> Option<Range> {
    let after_space = behind_name(behind);
    let after_sign = after_space.strip_prefix(['=', ':'])?;
    let value = after_sign.trim_start_matches(' ');
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (value, length) = match quote {
        Some(quote) => {
            let inner = &value[1..];
            let window = &inner[..inner.floor_char_boundary(VALUE_WINDOW)];
            (inner, window.find(quote).or_else(|| window.find(ends_value)).unwrap_or(window.len()))
        }
        None => {
            let window = &value[..value.floor_char_boundary(VALUE_WINDOW)];
            (value, window.find(ends_value).unwrap_or(window.len()))
        }
    };
    let close = behind.len() - value.len() <= 2 && after_space.starts_with('=');
    let found = &value[..length];
    let is_secret = match quote.is_some() || close {
        true => !found.is_empty(),
        // `Password: required` is prose, and `token = next()` a line of code.
        false => {
            found.len() >= 6 && found.is_ascii() && !found.contains('(') && {
                found.bytes().any(|byte| !byte.is_ascii_alphabetic())
            }
        }
    };
    // Where a name is a scheme, two slashes stand before what was taken out.
    if value.trim_start_matches('/').starts_with(REMOVED) {
        return None;
    }
    let start = behind.len() - value.len();
    is_secret.then_some(start..start + length)
}

fn ends_value(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | ',' | ';' | '&' | '<' | '>' | ')' | ']' | '}')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_token(byte: u8) -> bool {
    shape::is_base64url(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=')
}

/// Base 64, the two headers that there are, and the empty line behind them.
fn may_be_key_line(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("Proc-Type:")
        || line.starts_with("DEK-Info:")
        || (line.bytes().all(is_token) && !line.starts_with(KEY_DASHES))
}

const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";
const KEY_DASHES: &str = "-----";

/// The longest label in use is half as long.
const KEY_LABEL_WINDOW: usize = 64;

/// The largest keys in use, on one line.
const KEY_LINE_WINDOW: usize = 16 * 1024;

const SCHEMES: &[&str] =
    &["apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "negotiate", "token"];

/// Names of headers and settings are shorter.
const MAX_NAME: usize = 64;

/// Longer is no name with a password.
const MAX_USER: usize = 512;

const HEADER_WINDOW: usize = 256;

/// No password is longer; a value that is cut here is so long that the rest tells nothing.
const VALUE_WINDOW: usize = 4096;
