//! Whether something outside of a part of a source denies it: a negation that reaches over small
//! words, a verb that denies what follows, a condition. It knows words, and no grammar.

use super::edges::{between, is_joined};
use super::source::SourceText;
use super::tokens::{Kind, Token};
use super::words::{
    carries_negation, conditions, denies, denies_behind, denies_nouns, is_copula, links_clause,
};

/// Whether a negation stands right before, or before words that it reaches over: small ones, adverbs,
/// and one noun where it is said of that ("no company paid").
pub(super) fn is_denied_before(source: &SourceText, from: usize) -> bool {
    let mut at = from;
    let mut nouns = 0;
    for _ in 0..=MAX_CARRIED {
        let Some(before) = reached(source, at) else { return false };
        let word = before.word.as_str();
        at -= 1;
        match () {
            () if before.kind == Kind::Negation => return nouns == 0 || denies_nouns(word),
            () if nouns == 0 && conditions(word) => return true,
            () if nouns == 0 && denies(word) && is_linked(source, at) => {
                // "did not fail to", "no doubt that".
                return !is_negated(source, at);
            }
            () if carries_negation(word) || is_copula(word) => {}
            () if nouns == 0 => nouns = 1,
            () => return false,
        }
    }
    false
}

/// Whether what follows the token is what it denies.
fn is_linked(source: &SourceText, at: usize) -> bool {
    source.tokens.get(at + 1).is_some_and(|next| links_clause(&next.word))
}

fn is_negated(source: &SourceText, at: usize) -> bool {
    let Some(before) = reached(source, at) else { return false };
    before.kind == Kind::Negation
        || (carries_negation(&before.word)
            && reached(source, at - 1).is_some_and(|it| it.kind == Kind::Negation))
}

/// The token before `at`, if nothing ends between the two. German puts a comma before "dass".
fn reached(source: &SourceText, at: usize) -> Option<&Token> {
    let (token, before) = (source.tokens.get(at)?, source.tokens.get(at.checked_sub(1)?)?);
    let is_clause = links_clause(&token.word) && between(source, before, token).trim() == ",";
    (is_clause || is_joined(source, before, token)).then_some(before)
}

/// German denies behind the verb, and so does an English "not" behind the last quoted word; a small
/// word or two may stand between. "Is false" and "unless" take back what was said.
pub(super) fn is_denied_after(source: &SourceText, to: usize) -> bool {
    let joined = |at: usize| {
        let pair = (at.checked_sub(1).and_then(|at| source.tokens.get(at)), source.tokens.get(at));
        match pair {
            (Some(last), Some(after)) if is_joined(source, last, after) => Some(after),
            _ => None,
        }
    };
    let carried = (to..to + MAX_CARRIED_BACK)
        .take_while(|at| joined(*at).is_some_and(|it| carries_negation(&it.word)))
        .count();
    if joined(to).is_some_and(|it| denies_behind(&it.word))
        || joined(to + carried).is_some_and(|it| it.kind == Kind::Negation)
    {
        return true;
    }
    let mut at = to;
    while at < to + MAX_COPULA && joined(at).is_some_and(|it| is_copula(&it.word)) {
        at += 1;
    }
    at > to && joined(at).is_some_and(|it| denies(&it.word) && !is_linked(source, at))
}

/// "no evidence for the ...": so many words are looked over.
const MAX_CARRIED: usize = 5;

/// "leider gar nicht".
const MAX_CARRIED_BACK: usize = 2;

/// "has been a".
const MAX_COPULA: usize = 3;
