//! Whether a part of a source can be taken out of it: not from the middle of a word or a number, and
//! not away from the negation that governs it.

use super::Reason;
use super::source::SourceText;
use super::tokens::{Kind, Token, is_single};
use super::words::{carries_negation, is_unit};

/// What is wrong with taking the tokens `from..to` out of the source, if something is.
pub(super) fn cut(source: &SourceText, from: usize, to: usize) -> Option<Reason> {
    let (first, last) = (source.tokens.get(from)?, source.tokens.get(to.checked_sub(1)?)?);
    let before = from.checked_sub(1).and_then(|at| source.tokens.get(at));
    let after = source.tokens.get(to);
    if before.is_some_and(|before| is_one_word(source, before, first))
        || after.is_some_and(|after| is_one_word(source, last, after))
    {
        return Some(Reason::CutsWord);
    }
    if before.is_some_and(|before| is_one_number(source, before, first))
        || after.is_some_and(|after| is_one_number(source, last, after))
    {
        return Some(Reason::CutsNumber);
    }
    if is_denied_before(source, from) || is_denied_after(source, to) {
        return Some(Reason::CutsNegation);
    }
    None
}

fn between<'a>(source: &'a SourceText, a: &Token, b: &Token) -> &'a str {
    source.plain.text().get(a.end..b.start).unwrap_or_default()
}

/// Whether nothing ends between two neighbours.
fn is_joined(source: &SourceText, a: &Token, b: &Token) -> bool {
    let between = between(source, a, b);
    !between.contains([
        '.', '!', '?', ';', ':', ',', '(', ')', '"', '“', '”', '„', '\t', '。', '，', '！', '？',
    ]) && between.matches('\n').count() < 2
}

/// Whether two neighbours are parts of one word, like `non-profit`.
fn is_one_word(source: &SourceText, a: &Token, b: &Token) -> bool {
    let between = between(source, a, b);
    let is_sign = a.kind == Kind::Sign || b.kind == Kind::Sign;
    let is_glue = |c: char| matches!(c, '-' | '‐' | '‑' | '\'' | '’' | '\u{AD}' | '_');
    match between {
        "" => !is_sign && !is_single(a) && !is_single(b),
        _ => between.chars().all(is_glue),
    }
}

/// Whether two neighbours are parts of one number with its unit, like `2 million` or `5 %`.
fn is_one_number(source: &SourceText, a: &Token, b: &Token) -> bool {
    let is_amount = |token: &Token| matches!(token.kind, Kind::Number | Kind::Sign);
    let counts = match (is_amount(a), is_amount(b)) {
        (true, true) => true,
        (true, false) => a.kind == Kind::Number && is_unit(&b.word),
        (false, _) => false,
    };
    counts && is_joined(source, a, b)
}

/// Whether a negation stands right before, or before small words that it reaches over.
fn is_denied_before(source: &SourceText, from: usize) -> bool {
    let mut at = from;
    for _ in 0..=MAX_CARRIED {
        let (Some(token), Some(before)) =
            (source.tokens.get(at), at.checked_sub(1).and_then(|at| source.tokens.get(at)))
        else {
            return false;
        };
        if !is_joined(source, before, token) {
            return false;
        }
        if before.kind == Kind::Negation {
            return true;
        }
        if !carries_negation(&before.word) {
            return false;
        }
        at -= 1;
    }
    false
}

/// German denies behind the verb, and so does an English "not" behind the last quoted word. One small
/// word may stand between.
fn is_denied_after(source: &SourceText, to: usize) -> bool {
    let joined = |at: usize| {
        let pair = (at.checked_sub(1).and_then(|at| source.tokens.get(at)), source.tokens.get(at));
        match pair {
            (Some(last), Some(after)) if is_joined(source, last, after) => Some(after),
            _ => None,
        }
    };
    let Some(after) = joined(to) else { return false };
    after.kind == Kind::Negation
        || (carries_negation(&after.word)
            && joined(to + 1).is_some_and(|after| after.kind == Kind::Negation))
}

/// "no evidence for the ...": so many small words are looked over.
const MAX_CARRIED: usize = 4;
