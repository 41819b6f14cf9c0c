//! Whether a part of a source can be taken out of it: not from the middle of a word or a number, and
//! not over the end of a block as if nothing ended there. What denies it is looked for elsewhere.

use super::Reason;
use super::denial::{is_denied_after, is_denied_before};
use super::source::SourceText;
use super::tokens::{Kind, Token, is_currency, is_single};
use super::words::{is_and, is_article, is_unit, joins_numbers, limits_number};

/// A place where the end of a block, an item or a row is lost in a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seam {
    Soft,
    /// At a number or a negation: what belongs to another sentence would be counted or denied.
    Hard,
}

/// The worst seam of a quote whose words stand in the source from `from` on.
pub(super) fn seam(source: &SourceText, from: usize, quote: &[Token]) -> Option<Seam> {
    let ours = source.tokens.get(from..)?;
    let pairs = ours.iter().zip(ours.iter().skip(1)).zip(quote.iter().skip(1));
    let lost = pairs.filter(|((_, next), theirs)| next.begins_line && !theirs.begins_line);
    lost.map(|((last, next), _)| match (last.kind, next.kind) {
        (Kind::Word, Kind::Word) => Seam::Soft,
        _ => Seam::Hard,
    })
    .max()
}

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
        || is_limited(source, from)
        || is_counted_on(source, from, to)
    {
        return Some(Reason::CutsNumber);
    }
    if is_denied_before(source, from) || is_denied_after(source, to) {
        return Some(Reason::CutsNegation);
    }
    None
}

pub(super) fn between<'a>(source: &'a SourceText, a: &Token, b: &Token) -> &'a str {
    source.plain.text().get(a.end..b.start).unwrap_or_default()
}

/// Whether nothing ends between two neighbours.
pub(super) fn is_joined(source: &SourceText, a: &Token, b: &Token) -> bool {
    let between = between(source, a, b);
    !between.contains([
        '.', '!', '?', ';', ':', ',', '(', ')', '"', '“', '”', '„', '\t', '\n', '。', '，', '！',
        '？',
    ])
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
    let counts = match (is_amount(a), is_amount(b)) {
        // A bracket is the sign of what follows.
        (true, true) => b.word != "(",
        (true, false) => {
            (a.kind == Kind::Number && is_unit(&b.word)) || (is_sign_of_unit(a) && touches(a, b))
        }
        (false, true) => is_sign_of_unit(b) && touches(a, b),
        (false, false) => false,
    };
    counts && is_joined(source, a, b)
}

fn is_amount(token: &Token) -> bool {
    matches!(token.kind, Kind::Number | Kind::Sign)
}

/// `US$`, `$CA`, `°C`, `C++`: signs that letters belong to.
fn is_sign_of_unit(token: &Token) -> bool {
    let is_part = |c: char| is_currency(c) || matches!(c, '°' | '+');
    token.kind == Kind::Sign && token.word.chars().all(is_part)
}

fn touches(a: &Token, b: &Token) -> bool {
    a.end == b.start
}

/// Whether the number at `from` is only a bound or a fraction of itself: `under 5`, `minus 5`, and
/// whatever is joined to it by a point or a dash that is no sign by itself.
fn is_limited(source: &SourceText, from: usize) -> bool {
    let Some(number) = source.tokens.get(from).filter(|it| is_amount(it)) else { return false };
    let mut before = source.plain.text()[..number.start].chars().rev();
    let is_glued = match before.next() {
        Some('.') => before.next() != Some('.'),
        Some('-' | '−') => true,
        _ => false,
    };
    let words: Vec<&str> = words_before(source, from, 2);
    is_glued || limits_number(&words)
}

/// The words right before `from` in the same clause, the nearest first.
fn words_before(source: &SourceText, from: usize, most: usize) -> Vec<&str> {
    let mut words = Vec::new();
    for at in (0..from).rev().take(most) {
        match (source.tokens.get(at), source.tokens.get(at + 1)) {
            (Some(a), Some(b)) if is_joined(source, a, b) => words.push(a.word.as_str()),
            _ => break,
        }
    }
    words
}

/// Whether an edge parts what is counted together: `3 to 5`, `two and a half`, `hundred and five`.
fn is_counted_on(source: &SourceText, from: usize, to: usize) -> bool {
    let joined = |at: usize| -> Option<&Token> {
        let (a, b) = (source.tokens.get(at)?, source.tokens.get(at + 1)?);
        is_joined(source, a, b).then_some(b)
    };
    // The token at `at` is a number, then comes a word that joins, then a number.
    let is_series = |at: usize| -> bool {
        let Some(a) = source.tokens.get(at).filter(|it| it.kind == Kind::Number) else {
            return false;
        };
        let Some(link) = joined(at).filter(|it| joins_numbers(&it.word)) else { return false };
        let mut b = joined(at + 1);
        if b.is_some_and(|it| is_article(&it.word)) {
            b = joined(at + 2);
        }
        let is_written = |it: &Token| !it.word.contains(char::is_numeric);
        // Two years with "and" between are two numbers.
        b.is_some_and(|b| {
            b.kind == Kind::Number && (!is_and(&link.word) || is_written(a) || is_written(b))
        })
    };
    let begins_inside = (2..=3).filter_map(|back| from.checked_sub(back)).any(|at| {
        is_series(at)
            && source.tokens.get(from).is_some_and(|it| it.kind == Kind::Number)
            && source
                .tokens
                .get(at + 2..from)
                .is_some_and(|it| it.iter().all(|it| is_article(&it.word)))
    });
    begins_inside || to.checked_sub(1).is_some_and(is_series)
}
