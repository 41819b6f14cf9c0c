//! The sentence that a part of a source stands in: where it begins and ends, and where a clause may
//! end inside. It knows punctuation, and not what is said.

use std::ops::Range;

use super::source::SourceText;
use super::tokens::Token;
use super::words::{Group, groups};

/// What was cut off from the first and the last sentence of a part of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rest {
    /// The tokens before it, of its sentence.
    pub(super) before: Range<usize>,
    /// The tokens of the line that leads up to it with a colon.
    pub(super) lead: Range<usize>,
    /// The tokens behind it, of its sentence.
    pub(super) after: Range<usize>,
    /// The tokens of the sentence behind that one.
    pub(super) next: Range<usize>,
    /// Whether its sentence goes on and asks.
    pub(super) asks: bool,
}

/// What surrounds the tokens `from..to`, at most [`MAX_REST`] tokens each.
pub(super) fn rest(source: &SourceText, from: usize, to: usize) -> Rest {
    let start = sentence_start(source, from);
    let end = sentence_end(source, to);
    let next_end = match end < source.tokens.len() {
        true => sentence_end(source, end + 1),
        false => end,
    };
    // A heading or an item behind says nothing about what stands before it.
    let is_same_block = pair(source, end).is_some_and(|(a, b)| !gap(source, a, b).contains('\n'));
    let asks = end > to
        && pair(source, end).map_or_else(
            || source.tokens.last().is_some_and(|it| ends_asking(&source.plain.text()[it.end..])),
            |(a, b)| ends_asking(gap(source, a, b)),
        );
    Rest {
        before: start..from,
        lead: lead(source, start),
        after: to..end,
        next: if is_same_block { end..next_end } else { end..end },
        asks,
    }
}

/// The text between two neighbours.
pub(super) fn gap<'a>(source: &'a SourceText, a: &Token, b: &Token) -> &'a str {
    source.plain.text().get(a.end..b.start).unwrap_or_default()
}

/// Whether nothing ends between two neighbours.
pub(super) fn is_joined(source: &SourceText, a: &Token, b: &Token) -> bool {
    !gap(source, a, b).contains([
        '.', '!', '?', ';', ':', ',', '(', ')', '"', '“', '”', '„', '\t', '\n', '。', '，', '！',
        '？', '；', '：',
    ])
}

/// Whether a clause may end right before the token `at`.
pub(super) fn is_break(source: &SourceText, at: usize) -> bool {
    let Some((a, b)) = pair(source, at) else { return false };
    let gap = gap(source, a, b);
    let is_mark = |c: char| {
        matches!(
            c,
            ',' | ';'
                | ':'
                | '('
                | ')'
                | '['
                | ']'
                | '"'
                | '“'
                | '”'
                | '„'
                | '«'
                | '»'
                | '—'
                | '–'
                | '，'
                | '、'
                | '；'
                | '：'
                | '（'
                | '）'
                | '「'
                | '」'
                | '\t'
                | '\n'
        )
    };
    gap.contains(is_mark) || gap.contains(" - ")
}

/// The token at `at` with the one before it.
fn pair(source: &SourceText, at: usize) -> Option<(&Token, &Token)> {
    Some((source.tokens.get(at.checked_sub(1)?)?, source.tokens.get(at)?))
}

fn sentence_start(source: &SourceText, from: usize) -> usize {
    let least = from.saturating_sub(MAX_REST);
    (least + 1..=from).rev().find(|at| begins_sentence(source, *at)).unwrap_or(least)
}

fn sentence_end(source: &SourceText, to: usize) -> usize {
    let most = source.tokens.len().min(to.saturating_add(MAX_REST));
    (to..most).find(|at| begins_sentence(source, *at)).unwrap_or(most)
}

/// Whether a sentence, a cell or a block ends right before the token `at`. A full stop before a small
/// letter ends none, and neither does that of an abbreviation.
fn begins_sentence(source: &SourceText, at: usize) -> bool {
    let Some((a, b)) = pair(source, at) else { return true };
    let gap = gap(source, a, b);
    if gap.contains(['\n', '\t', ';', '；', '。', '！', '？']) {
        return true;
    }
    let is_small = source.plain.text()[b.start..].starts_with(char::is_lowercase);
    let is_short = a.word.chars().count() == 1 && a.word.chars().all(char::is_alphabetic);
    let is_abbreviation = is_short || groups(&a.word).has(Group::Abbreviation);
    let is_stop = gap.contains('…')
        || gap.contains("..")
        || (gap.contains('.') && !(is_abbreviation && gap.trim() == "."));
    (is_stop || gap.contains(['!', '?'])) && !is_small
}

/// The sentence with a colon at its end that leads up to the line which begins at `start`, perhaps
/// over the other items of a list.
fn lead(source: &SourceText, start: usize) -> Range<usize> {
    let mut at = start;
    for _ in 0..MAX_ITEMS {
        let Some((a, b)) = pair(source, at) else { break };
        let gap = gap(source, a, b);
        if !gap.contains('\n') {
            break;
        }
        if gap.trim_end().ends_with([':', '：']) {
            return sentence_start(source, at - 1)..at;
        }
        if gap.contains("\n\n") {
            break;
        }
        let least = at.saturating_sub(MAX_REST);
        let line = (least..at).rev().find(|it| *it == 0 || source.tokens[*it].begins_line);
        let Some(line) = line else { break };
        at = line;
    }
    start..start
}

fn ends_asking(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| !matches!(c, '.' | '!' | '?' | '？' | '\n'))
        .starts_with(['?', '？'])
}

/// A sentence with more tokens to one side is a list.
const MAX_REST: usize = 120;

/// Of a list, before the item that is quoted.
const MAX_ITEMS: usize = 24;
