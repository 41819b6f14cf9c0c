//! Whether a sentence holds the kind of thing that a question asks for. It does not know whether it is
//! the right one.

use crate::question::Kind;
use crate::word::{self, Script};
use crate::{date, number};

/// More than 1 when the sentence has what the question wants, less when it lacks it.
pub(crate) fn fit(kind: Kind, sentence: &str, is_term: impl Fn(&str) -> bool) -> f64 {
    let has = match kind {
        Kind::Who => {
            return match name_length(sentence, &is_term) {
                0 => 0.75,
                1 => 1.1,
                _ => 1.5,
            };
        }
        Kind::When => has_date(sentence),
        Kind::Where => has_place(sentence),
        Kind::Amount => has_amount(sentence),
        Kind::Definition => return if defines(sentence, is_term) { 1.5 } else { 1.0 },
        Kind::Overview | Kind::Other => return 1.0,
    };
    if has { 1.35 } else { 0.75 }
}

/// A number that is not just a year or part of a date.
fn has_amount(sentence: &str) -> bool {
    let dates = date::find(sentence);
    number::find(sentence).iter().any(|number| {
        number.kind != number::Kind::Plain
            || !dates.iter().any(|date| date.range.contains(&number.range.start))
    }) || word::folded_text(sentence).split(' ').any(|word| NUMBER_WORDS.contains(&word))
}

/// A date, a year, or a month without a year.
fn has_date(sentence: &str) -> bool {
    let mut has_month = false;
    word::for_each_word(sentence, |word, _, _| has_month |= date::is_month(word) && word != "may");
    has_month || has_year(sentence) || !date::find(sentence).is_empty()
}

fn has_year(sentence: &str) -> bool {
    number::find(sentence)
        .iter()
        .any(|number| number.digits.len() == 4 && (1500.0..2100.0).contains(&number.value()))
}

/// How many words the longest name has that the question did not say itself: capitalised words in a
/// row. One capital at the beginning is every sentence, so that it does not count alone.
fn name_length(sentence: &str, is_term: impl Fn(&str) -> bool) -> usize {
    let mut longest = 0;
    let mut run = 0;
    let mut begins = true;
    word::for_each_word(sentence, |word, _, script| {
        let is_name = script == Script::Spaced && word.starts_with(char::is_uppercase);
        run = if is_name && !is_term(&stem(word)) { run + 1 } else { 0 };
        if !begins || run > 1 {
            longest = longest.max(run);
        }
        begins = false;
    });
    longest
}

fn has_place(sentence: &str) -> bool {
    let mut before_is_preposition = false;
    let mut found = false;
    word::for_each_word(sentence, |word, _, _| {
        found |= before_is_preposition && word.starts_with(char::is_uppercase);
        let folded = word::folded(word);
        before_is_preposition = PLACES.contains(&&*folded)
            || before_is_preposition && matches!(&*folded, "the" | "der" | "dem" | "la" | "le");
    });
    found
}

/// `X is a …` near the beginning.
fn defines(sentence: &str, is_term: impl Fn(&str) -> bool) -> bool {
    let mut at = 0;
    let mut term_at = None;
    let mut found = false;
    word::for_each_word(sentence, |word, _, _| {
        if at < 6 && term_at.is_none() && is_term(&stem(word)) {
            term_at = Some(at);
        }
        if let Some(term) = term_at
            && at <= term + 6
            && COPULAS.contains(&&*word::folded(word))
        {
            found = true;
        }
        at += 1;
    });
    found
}

fn stem(word: &str) -> String {
    let mut stem = String::new();
    word::for_each_term(word, |term, _| {
        stem.clear();
        stem.push_str(term);
    });
    stem
}

const NUMBER_WORDS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "dozen", "hundred", "thousand", "million", "billion", "half", "twice", "zwei", "drei", "vier",
    "funf", "sechs", "sieben", "acht", "neun", "zehn", "deux", "trois", "quatre", "cinq", "dos",
    "tres", "cuatro", "cinco",
];

const PLACES: &[&str] = &[
    "in", "at", "near", "from", "on", "to", "between", "along", "across", "bei", "aus", "nach",
    "an", "auf", "a", "dans", "en", "pres", "de", "outside", "around", "through", "off",
];

const COPULAS: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "means",
    "refers",
    "describes",
    "ist",
    "sind",
    "war",
    "bezeichnet",
    "est",
    "sont",
    "etait",
    "es",
    "son",
    "era",
    "called",
    "denotes",
];
