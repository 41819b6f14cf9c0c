//! The place of a source that a quote with slips in it was taken from: one run of words, nearly the
//! same. What is found is bounded in cost, so that a quote costs little against a large source.

use std::collections::BTreeMap;

use super::near::{Spelling, is_slip};
use super::source::SourceText;
use super::tokens::{Kind, Token};
use super::words::is_article;

/// A run of tokens and how much it differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) cost: u32,
}

/// The runs that differ least from the quote, in the order of the source. Several are equally good.
pub(super) fn nearest(source: &SourceText, quote: &[Token]) -> Vec<Run> {
    if !(MIN_WORDS..=MAX_WORDS).contains(&quote.len()) {
        return Vec::new();
    }
    let most = u32::try_from(1 + quote.len() / WORDS_PER_SLIP).unwrap_or(u32::MAX);
    let mut runs: Vec<Run> = starts(source, quote)
        .into_iter()
        .filter_map(|start| align(source, quote, start, most))
        .collect();
    let best = runs.iter().map(|run| run.cost).min();
    runs.retain(|run| Some(run.cost) == best);
    runs.sort_by_key(|run| (run.from, run.to));
    runs.dedup_by(|b, a| b.from < a.to);
    runs
}

/// Where the quote could begin: the words of it that are rarest in the source say so.
fn starts(source: &SourceText, quote: &[Token]) -> Vec<isize> {
    let mut anchors: Vec<(usize, usize)> = quote
        .iter()
        .enumerate()
        .map(|(at, token)| (source.places_of(&token.word).len(), at))
        .filter(|(count, _)| (1..=MAX_ANCHOR_PLACES).contains(count))
        .collect();
    anchors.sort_unstable();
    let mut votes: BTreeMap<isize, u32> = BTreeMap::new();
    for (_, at) in anchors.into_iter().take(MAX_ANCHORS) {
        for place in source.places_of(&quote[at].word) {
            let start = *place as isize - at as isize;
            // Slips shift what follows, so that near starts are one.
            *votes.entry(start.div_euclid(BAND)).or_default() += 1;
        }
    }
    let mut starts: Vec<(u32, isize)> =
        votes.into_iter().map(|(start, votes)| (votes, start * BAND)).collect();
    starts.sort_by_key(|(votes, start)| (std::cmp::Reverse(*votes), *start));
    starts.into_iter().take(MAX_STARTS).map(|(_, start)| start).collect()
}

/// The cheapest run that begins within a band around `start`.
fn align(source: &SourceText, quote: &[Token], start: isize, most: u32) -> Option<Run> {
    // Column `k` of row `i` is the source's token `start - BAND + i + k`: cost and begin of the run of
    // the first `i` words of the quote that ends before it.
    let width = (3 * BAND + 1) as usize;
    let token = |i: usize, k: usize| -> Option<usize> {
        let at = start - BAND + i as isize + k as isize;
        usize::try_from(at).ok().filter(|at| *at <= source.tokens.len())
    };
    let mut row: Vec<Option<(u32, usize)>> =
        (0..width).map(|k| token(0, k).map(|at| (0, at))).collect();
    for (i, theirs) in quote.iter().enumerate() {
        let mut next: Vec<Option<(u32, usize)>> = vec![None; width];
        for k in 0..width {
            let mut best: Option<(u32, usize)> = None;
            let mut offer = |from: Option<(u32, usize)>, cost: u32| {
                if let Some((before, begin)) = from
                    && before + cost <= most
                    && best.is_none_or(|(best, _)| before + cost < best)
                {
                    best = Some((before + cost, begin));
                }
            };
            // The word before column `k` of the next row stands at column `k` of this one.
            if let Some(ours) = token(i, k).and_then(|at| source.tokens.get(at)) {
                let at = token(i, k).unwrap_or_default();
                if ours.word == theirs.word {
                    offer(row[k], 0);
                } else if is_slip(theirs, ours, name_or_word(source, theirs, at)) {
                    offer(row[k], 1);
                }
            }
            // An article too many in the quote.
            if is_article(&theirs.word) {
                offer(row.get(k + 1).copied().flatten(), 1);
            }
            // An article of the source that the quote leaves out.
            if k > 0
                && let Some(skipped) = token(i, k).and_then(|at| source.tokens.get(at))
                && is_article(&skipped.word)
            {
                offer(next[k - 1], 1);
            }
            next[k] = best;
        }
        row = next;
    }
    let ends = row.iter().enumerate().filter_map(|(k, cell)| {
        let (cost, from) = (*cell)?;
        Some(Run { from, to: token(quote.len(), k)?, cost })
    });
    ends.filter(|run| run.from < run.to).min_by_key(|run| (run.cost, run.from, run.to))
}

/// What the source's word at `at` is, for a quote that has `theirs` there. A word that the source has
/// elsewhere is no slip of this one.
fn name_or_word(source: &SourceText, theirs: &Token, at: usize) -> Spelling {
    let is_fixed = is_name(source, at) || !source.places_of(&theirs.word).is_empty();
    if is_fixed { Spelling::Fixed } else { Spelling::Free }
}

/// Whether the token is a name, as far as capital letters say: it has one, and no sentence begins with
/// it.
fn is_name(source: &SourceText, at: usize) -> bool {
    let Some(token) = source.tokens.get(at).filter(|token| token.is_capital) else { return false };
    let Some(before) = at.checked_sub(1).and_then(|at| source.tokens.get(at)) else { return false };
    let between = source.plain.text().get(before.end..token.start).unwrap_or_default();
    let is_title = before.is_capital && before.word.chars().count() <= 3 && between == ". ";
    let begins_sentence =
        between.contains(['.', '!', '?', ':', '\n', '"', '“', '„', '«', '\t']) && !is_title;
    before.kind == Kind::Sign || !begins_sentence
}

/// With fewer words there is nothing to hold on to.
const MIN_WORDS: usize = 5;

/// Longer quotes are exact or none.
const MAX_WORDS: usize = 400;

/// One slip, and one more for every so many words.
const WORDS_PER_SLIP: usize = 10;

/// How far slips may shift what follows.
const BAND: isize = 4;

const MAX_ANCHORS: usize = 8;

/// More frequent words say nothing about the place.
const MAX_ANCHOR_PLACES: usize = 200;

const MAX_STARTS: usize = 16;
