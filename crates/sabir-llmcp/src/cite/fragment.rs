//! Links to a passage: text fragments (`#:~:text=`), built from the source's own words. Browsers look
//! for whole words within one block, so that a passage over several blocks is given by its ends.

use std::ops::Range;

use url::Url;

use super::source::SourceText;

/// The directive that finds the passage `range` of the plain text: `:~:text=…`.
pub(super) fn directive(source: &SourceText, range: Range<usize>) -> Option<String> {
    let text = source.plain.text();
    let passage = text.get(range.clone())?;
    let is_whole = passage.chars().count() <= MAX_EXACT && !passage.contains(['\n', '\t']);
    let (start, end) = match is_whole {
        true => (one_line(passage), None),
        false => {
            let (first, last) = (passage.lines().next()?, passage.lines().next_back()?);
            (words(first, CONTEXT_WORDS, Side::First), Some(words(last, CONTEXT_WORDS, Side::Last)))
        }
    };
    if start.is_empty() || end.as_ref().is_some_and(String::is_empty) {
        return None;
    }
    let is_plain = passage.chars().count() >= MIN_EXACT && text.matches(passage).nth(1).is_none();
    let (prefix, suffix) = match is_plain {
        true => (String::new(), String::new()),
        false => context(text, range),
    };
    let mut directive = String::from(":~:text=");
    if !prefix.is_empty() {
        directive += &format!("{}-,", encode(&prefix));
    }
    directive += &encode(&start);
    if let Some(end) = end {
        directive += &format!(",{}", encode(&end));
    }
    if !suffix.is_empty() {
        directive += &format!(",-{}", encode(&suffix));
    }
    Some(directive)
}

/// The address of a passage, for sources that have one of the web.
pub(super) fn link(url: &str, directive: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let hash = if url.fragment().is_some() { "" } else { "#" };
    Some(format!("{url}{hash}{directive}"))
}

/// A few words before and after, of the same block.
fn context(text: &str, range: Range<usize>) -> (String, String) {
    let before = text[..range.start].rsplit(['\n', '\t']).next().unwrap_or_default();
    let after = text[range.end..].split(['\n', '\t']).next().unwrap_or_default();
    (words(before, CONTEXT_WORDS, Side::Last), words(after, CONTEXT_WORDS, Side::First))
}

enum Side {
    First,
    Last,
}

fn words(text: &str, count: usize, side: Side) -> String {
    let words: Vec<&str> = match side {
        Side::First => text.split_whitespace().take(count).collect(),
        Side::Last => {
            let mut words: Vec<&str> = text.split_whitespace().rev().take(count).collect();
            words.reverse();
            words
        }
    };
    words.join(" ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Dashes, commas and ampersands separate the parts of a directive, so nothing but letters, digits and
/// a few signs stays as it is.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'.'
            | b'_'
            | b'~'
            | b'!'
            | b'*'
            | b'\''
            | b'('
            | b')' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// What browsers that make such links take whole, in characters.
const MAX_EXACT: usize = 300;

/// Shorter passages are given with their context.
const MIN_EXACT: usize = 20;

const CONTEXT_WORDS: usize = 5;
