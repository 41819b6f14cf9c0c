//! Whether a part of a source can be taken out of it: not from the middle of a word, and not over the
//! end of a block as if nothing ended there. Numbers, and what denies it, are looked at elsewhere.

use super::sentence::gap;
use super::source::SourceText;
use super::tokens::{Kind, Token, is_single};
use super::{Reason, denial, quantity};

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
    if quantity::is_cut(source, from, to) {
        return Some(Reason::CutsNumber);
    }
    denial::is_changed(source, from, to).then_some(Reason::CutsNegation)
}

/// Whether two neighbours are parts of one word, like `non-profit`.
fn is_one_word(source: &SourceText, a: &Token, b: &Token) -> bool {
    let between = gap(source, a, b);
    let is_sign = a.kind == Kind::Sign || b.kind == Kind::Sign;
    let is_glue = |c: char| matches!(c, '-' | '‐' | '‑' | '\'' | '’' | '\u{AD}' | '_');
    match between {
        "" => !is_sign && !is_single(a) && !is_single(b),
        _ => between.chars().all(is_glue),
    }
}
