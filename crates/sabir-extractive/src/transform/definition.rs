//! Sentences that say what something is: `X is a …`, `X: …` in a list. It does not judge whether they
//! are right.

use std::collections::BTreeSet;

use crate::draft::Passage;
use crate::select::{self, sentences};
use crate::source::Page;
use crate::text::Kind;
use crate::word;

#[derive(Debug)]
pub(super) struct Definition {
    pub(super) term: String,
    pub(super) passage: Passage,
}

/// At most `count` definitions of different terms, in the order of the sources.
pub(super) fn definitions(pages: &[Page<'_>], count: usize) -> Vec<Definition> {
    let mut found: Vec<Definition> = Vec::new();
    let mut seen = BTreeSet::new();
    for (passage, unit, sentence) in sentences(pages) {
        if found.len() >= count {
            break;
        }
        let is_item = unit.kind == Kind::Item && passage.range.start == unit.sentences[0].start;
        let term = defined(sentence).or_else(|| listed(sentence).filter(|_| is_item));
        if let Some(term) = term
            && seen.insert(word::terms(term).join(" "))
        {
            found.push(Definition { term: term.to_owned(), passage });
        }
    }
    found
}

/// The subject of `X is a …`.
fn defined(sentence: &str) -> Option<&str> {
    if select::leans_back(sentence) || !(6..=60).contains(&word::count(sentence)) {
        return None;
    }
    let mut words = 0;
    let mut verb = None;
    let mut is_definition = false;
    word::for_each_word(sentence, |word, range, _| {
        match verb {
            None if words <= SUBJECT_WORDS && COPULAS.contains(&word) => {
                verb = Some((range.start, words))
            }
            Some((_, at)) if words == at + 1 => is_definition = ARTICLES.contains(&word),
            None | Some(_) => {}
        }
        words += 1;
    });
    let (end, _) = verb.filter(|&(_, at)| at > 0 && is_definition)?;
    as_term(&sentence[..end])
}

/// The label of `X: what it is`.
fn listed(sentence: &str) -> Option<&str> {
    let (label, rest) = sentence.split_once(": ").or_else(|| sentence.split_once(" – "))?;
    (word::count(rest) >= 4).then(|| as_term(label)).flatten()
}

fn as_term(subject: &str) -> Option<&str> {
    let mut term = subject.trim();
    for article in [
        "The ", "A ", "An ", "Der ", "Die ", "Das ", "Ein ", "Eine ", "Le ", "La ", "El ", "Un ",
        "Une ",
    ] {
        term = term.strip_prefix(article).unwrap_or(term);
    }
    let words = word::count(term);
    let plain = !term.contains(['.', ';', '?', '!', '"', '(', ',']) && !STARTS.contains(&term);
    (plain && (1..=SUBJECT_WORDS).contains(&words) && term.len() <= TERM_BYTES).then_some(term)
}

const COPULAS: &[&str] =
    &["is", "are", "was", "were", "means", "ist", "sind", "war", "est", "sont", "es", "son"];

const ARTICLES: &[&str] = &[
    "a", "an", "the", "one", "any", "ein", "eine", "der", "die", "das", "un", "une", "le", "la",
    "les", "una", "el", "los", "las", "when", "what", "how",
];

/// Subjects that are no terms.
const STARTS: &[&str] = &[
    "There", "Here", "What", "Who", "One", "Another", "All", "Some", "Many", "Each", "Es", "Hier",
    "You", "We", "I",
];

const SUBJECT_WORDS: usize = 6;
const TERM_BYTES: usize = 60;
