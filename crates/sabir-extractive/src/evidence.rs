//! Whether a sentence holds the kind of thing that a question asks for. It does not know whether it is
//! the right one.

use crate::question::Kind;
use crate::{date, number, word};

/// More than 1 when the sentence has what the question wants, less when it lacks it.
pub(crate) fn fit(kind: Kind, sentence: &str, is_term: impl Fn(&str) -> bool) -> f64 {
    let has = match kind {
        Kind::Who => has_name(sentence, &is_term),
        Kind::When => !date::find(sentence).is_empty() || has_year(sentence),
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

fn has_year(sentence: &str) -> bool {
    number::find(sentence)
        .iter()
        .any(|number| number.digits.len() == 4 && (1500.0..2100.0).contains(&number.value()))
}

/// A capitalised word inside of the sentence that the question did not say itself.
fn has_name(sentence: &str, is_term: impl Fn(&str) -> bool) -> bool {
    let mut first = true;
    let mut found = false;
    let mut run = 0;
    word::for_each_word(sentence, |word, _, _| {
        let capital = word.starts_with(char::is_uppercase);
        let is_new = !is_term(&stem(word));
        run = if capital && is_new { run + 1 } else { 0 };
        // One capital at the beginning is every sentence; two in a row are a name.
        found |= capital && is_new && !first || run >= 2;
        first = false;
    });
    found
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
