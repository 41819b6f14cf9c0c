//! Addresses, as they would be fetched. It decides which spellings are the same address; whether a
//! host may be reached at all is the business of whoever fetches.

use std::ops::Range;

use sabir_base::text::is_hidden;
use url::Url;

/// An http or https address in its one spelling: host in lower case and ASCII, without the dot at its
/// end, default port left out. The path, the query and the fragment stay as they are: a browser
/// gives all three to the page, so each can carry something away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    whole: String,
    host: String,
    origin: String,
}

impl Address {
    /// Reads an address; `None` if it is none, or hides what it is.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES || text.contains(is_misleading) {
            return None;
        }
        let scheme = scheme_length(text)?;
        let authority = text[scheme..].split(['/', '?', '#']).next()?;
        // What stands before an `@` looks like a host and is none.
        if authority.contains('@') {
            return None;
        }
        let mut url = Url::parse(text).ok()?;
        if let Some(host) = url.host_str()?.strip_suffix('.').map(str::to_owned) {
            url.set_host(Some(&host)).ok()?;
        }
        let host = url.host_str().filter(|host| !host.is_empty() && !host.ends_with('.'))?;
        Some(Self {
            host: host.to_owned(),
            origin: url.origin().ascii_serialization(),
            whole: url.into(),
        })
    }

    /// The whole address.
    pub fn as_str(&self) -> &str {
        &self.whole
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Without its fragment, which is never more than the address itself.
    pub(crate) fn without_fragment(&self) -> &str {
        self.whole.split('#').next().unwrap_or(&self.whole)
    }
}

/// The addresses that a text names with their scheme, each as far as it goes, so that an address
/// inside of another is not one of them.
pub(crate) fn addresses_in(text: &str) -> impl Iterator<Item = Address> {
    spans_in(text).flat_map(|span| readings(&text[span])).take(MAX_FOUND)
}

/// The addresses that a person who typed this means: those with a scheme, and names of hosts.
pub(crate) fn addresses_typed(text: &str) -> impl Iterator<Item = Address> {
    let bare = text.split(is_boundary).filter(|word| scheme_start(word, 0).is_none());
    let bare = bare.flat_map(|word| {
        let word = word.trim_start_matches(is_opening);
        let both = ["https://", "http://"].map(|scheme| format!("{scheme}{word}"));
        let is_host = looks_like_host(word);
        both.into_iter().filter(move |_| is_host).flat_map(|whole| readings(&whole))
    });
    addresses_in(text).chain(bare.take(MAX_FOUND))
}

/// An address as it stands, and without the punctuation of the sentence around it.
fn readings(span: &str) -> Vec<Address> {
    let trimmed = without_sentence_end(span);
    let whole = (trimmed.len() < span.len()).then_some(span);
    [Some(trimmed), whole].into_iter().flatten().filter_map(Address::parse).collect()
}

fn spans_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = scheme_start(text, from)?;
        let rest = &text[start..];
        let end = start + rest.find(is_boundary).unwrap_or(rest.len());
        from = end;
        Some(start..end)
    })
}

/// Where `http://` or `https://` stands next, in any case.
fn scheme_start(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.match_indices("://").find_map(|(at, _)| {
        let before = &rest[..at];
        let length = ["https", "http"].into_iter().find_map(|scheme| {
            let tail = before.len().checked_sub(scheme.len()).and_then(|it| before.get(it..))?;
            tail.eq_ignore_ascii_case(scheme).then_some(scheme.len())
        })?;
        Some(from + at - length)
    })
}

fn scheme_length(text: &str) -> Option<usize> {
    let (scheme, _) = text.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_web.then_some(scheme.len() + "://".len())
}

/// `docs.rs`, `www.example.com:8080/a?b`; not `e.g.`, `3.14` or `me@example.com`.
fn looks_like_host(word: &str) -> bool {
    let host = word.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host = without_sentence_end(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    !word.contains('@')
        && host.len() <= 253
        && host.contains('.')
        && host.split('.').all(|label| !label.is_empty())
        && last.chars().count() >= 2
        && last.chars().all(char::is_alphabetic)
}

fn without_sentence_end(text: &str) -> &str {
    let mut text = text;
    let mut open: isize = text.chars().map(depth).sum();
    while let Some(last) = text.chars().next_back() {
        let is_end = match last {
            ')' | ']' | '}' => open < 0,
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '|' | '…' | '。' | '、' => {
                true
            }
            _ => false,
        };
        if !is_end {
            break;
        }
        open -= depth(last);
        text = &text[..text.len() - last.len_utf8()];
    }
    text
}

fn depth(c: char) -> isize {
    match c {
        '(' | '[' | '{' => 1,
        ')' | ']' | '}' => -1,
        _ => 0,
    }
}

fn is_opening(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '*' | '_' | '\'' | '|')
}

/// Where an address in a text ends at the latest.
fn is_boundary(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '`' | '“' | '”' | '„' | '«' | '»')
}

/// Browsers drop these, or read them as something else than what is seen.
fn is_misleading(c: char) -> bool {
    is_hidden(c)
        || c.is_whitespace()
        || matches!(c, '\\' | '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}')
}

/// No address that anybody means is longer.
const MAX_BYTES: usize = 8 * 1024;

/// Of one text. Those behind it count as not found, which is the safe side.
const MAX_FOUND: usize = 10_000;
