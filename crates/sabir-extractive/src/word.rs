//! Words as terms that can be compared: lower case, without accents, stemmed a little; numbers as
//! they are; pairs of neighbours where a script has no spaces. It knows no documents.

use std::collections::HashMap;
use std::ops::Range;

/// Calls `visit` with each term of `text` and where it stands. One buffer serves all of them, because
/// a collection has millions.
pub(crate) fn for_each_term(text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
    let mut buffer = String::new();
    for_each_word(text, |word, range, script| match script {
        Script::Spaced => {
            fold(word, &mut buffer);
            let length = stem_length(&buffer);
            buffer.truncate(length);
            respell(&mut buffer);
            visit(&buffer, range);
        }
        Script::Number => {
            buffer.clear();
            buffer.extend(word.chars().filter(|&c| c != ',' || !is_grouped(word)));
            visit(&buffer, range);
        }
        Script::Dense => {
            let mut chars = word.char_indices().peekable();
            let mut first = true;
            while let Some((at, c)) = chars.next() {
                let end = match chars.peek() {
                    Some(&(next, d)) => next + d.len_utf8(),
                    None if first => at + c.len_utf8(),
                    None => break,
                };
                first = false;
                visit(&word[at..end], range.start + at..range.start + end);
            }
        }
    });
}

/// The terms of `text`, each once, in the order of their first occurrence.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = HashMap::new();
    for_each_term(text, |term, _| {
        if seen.insert(term.to_owned(), ()).is_none() {
            found.push(term.to_owned());
        }
    });
    found
}

/// A word as [`for_each_term`] would give it, without stemming: what lists of words are written in.
pub(crate) fn folded(word: &str) -> String {
    let mut buffer = String::new();
    fold(word, &mut buffer);
    buffer
}

/// The folded words of `text` with single spaces between them.
pub(crate) fn folded_text(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for_each_word(text, |word, _, _| words.push(folded(word)));
    words.join(" ")
}

/// How many words `text` has. A letter of a script without spaces counts as half of one.
pub(crate) fn count(text: &str) -> usize {
    let mut words = 0;
    for_each_word(text, |word, _, script| {
        words += match script {
            Script::Spaced | Script::Number => 1,
            Script::Dense => word.chars().count().div_ceil(2),
        };
    });
    words
}

/// Calls `visit` with each word as it is written.
pub(crate) fn for_each_word(text: &str, mut visit: impl FnMut(&str, Range<usize>, Script)) {
    let mut start = 0;
    let mut script = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        let here = match (script, class(c)) {
            // `3.14`, `1,200`: a mark between two digits belongs to the number.
            (Some(Script::Number), None)
                if matches!(c, '.' | ',') && next.is_some_and(|next| next.is_ascii_digit()) =>
            {
                continue;
            }
            // `mp3`, `2nd`, `v2`: letters and digits that touch are one word.
            (Some(Script::Spaced), Some(Script::Number)) => Some(Script::Spaced),
            (Some(Script::Number), Some(Script::Spaced)) => {
                script = Some(Script::Spaced);
                Some(Script::Spaced)
            }
            (_, here) => here,
        };
        if here == script {
            continue;
        }
        if let Some(script) = script {
            visit(&text[start..at], start..at, script);
        }
        start = at;
        script = here;
    }
    if let Some(script) = script {
        visit(&text[start..], start..text.len(), script);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    Spaced,
    Number,
    /// Chinese, Japanese, Korean, Thai: words are not told apart by spaces alone.
    Dense,
}

/// Numbers for terms, so that sentences can be compared quickly.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    numbers: HashMap<String, u32>,
}

impl Vocabulary {
    /// The terms of `text` that carry meaning, as sorted numbers, each once.
    pub(crate) fn number(&mut self, text: &str, is_stop: impl Fn(&str) -> bool) -> Vec<u32> {
        let mut numbers = Vec::new();
        let mut buffer = String::new();
        for_each_term(text, |term, range| {
            fold(&text[range], &mut buffer);
            if is_stop(&buffer) {
                return;
            }
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            numbers.push(match self.numbers.get(term) {
                Some(&number) => number,
                None => {
                    self.numbers.insert(term.to_owned(), next);
                    next
                }
            });
        });
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

fn class(c: char) -> Option<Script> {
    match c {
        'a'..='z' | 'A'..='Z' => Some(Script::Spaced),
        '0'..='9' => Some(Script::Number),
        '\0'..='\x7f' => None,
        '\u{0e00}'..='\u{0e7f}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => c.is_alphanumeric().then_some(Script::Dense),
        _ => c.is_alphanumeric().then_some(Script::Spaced),
    }
}

fn is_grouped(number: &str) -> bool {
    let mut groups = number.split(',');
    let head = groups.next().unwrap_or_default();
    head.len() <= 3 && groups.all(|group| group.len() == 3 || group.contains('.'))
}

/// Lower case and without accents, into `buffer`. What is longer than any word is cut.
fn fold(word: &str, buffer: &mut String) {
    buffer.clear();
    for c in word.chars() {
        if buffer.len() >= WORD_BYTES {
            return;
        }
        match c {
            'a'..='z' | '0'..='9' => buffer.push(c),
            'A'..='Z' => buffer.push(c.to_ascii_lowercase()),
            _ => match unaccented(c) {
                Some(plain) => buffer.push_str(plain),
                None => buffer.extend(c.to_lowercase()),
            },
        }
    }
}

fn unaccented(c: char) -> Option<&'static str> {
    Some(match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'À' | 'Á' | 'Â' | 'Ã' | 'Ä' | 'Å' => "a",
        'è' | 'é' | 'ê' | 'ë' | 'È' | 'É' | 'Ê' | 'Ë' => "e",
        'ì' | 'í' | 'î' | 'ï' | 'Ì' | 'Í' | 'Î' | 'Ï' => "i",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'Ò' | 'Ó' | 'Ô' | 'Õ' | 'Ö' | 'Ø' => "o",
        'ù' | 'ú' | 'û' | 'ü' | 'Ù' | 'Ú' | 'Û' | 'Ü' => "u",
        'ç' | 'Ç' => "c",
        'ñ' | 'Ñ' => "n",
        'ß' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        _ => return None,
    })
}

/// How much of a folded word is left when its ending is taken off. Only endings of English are known
/// well; what they do to other languages they do to the question and to the source alike.
fn stem_length(word: &str) -> usize {
    let full = word.len();
    if full < 4 || !word.is_ascii() || word.bytes().any(|b| b.is_ascii_digit()) {
        return full;
    }
    let mut stem = word;
    for ending in ["ations", "ation", "ments", "ment", "ness", "ally", "ly"] {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.len() >= 4) {
            return without_final_e(rest).len();
        }
    }
    if let Some(rest) = stem.strip_suffix("ies").filter(|rest| rest.len() >= 2) {
        // `cities` keeps the `i` that `city` gets from `respell`.
        return rest.len() + 1;
    }
    if stem.ends_with("sses") || stem.ends_with("shes") || stem.ends_with("ches") {
        stem = &stem[..stem.len() - 2];
    } else if stem.ends_with('s') && !["ss", "us", "is"].iter().any(|end| stem.ends_with(end)) {
        stem = &stem[..stem.len() - 1];
    }
    for ending in ["ing", "ed"] {
        let rest = stem.strip_suffix(ending);
        if let Some(rest) = rest.filter(|rest| rest.len() >= 3 && has_vowel(rest)) {
            stem = undoubled(rest);
            break;
        }
    }
    without_final_e(stem).len()
}

/// `city` and `cities` meet at `citi`.
fn respell(stem: &mut String) {
    if stem.len() > 3 && stem.is_ascii() && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
}

fn without_final_e(word: &str) -> &str {
    word.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(word)
}

fn undoubled(word: &str) -> &str {
    let bytes = word.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z' | b'e' | b'o') => {
            &word[..word.len() - 1]
        }
        _ => word,
    }
}

fn has_vowel(word: &str) -> bool {
    word.bytes().any(|b| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y'))
}

/// Longer than any word; a page may hold a megabyte without a space.
const WORD_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::for_each_term;

    fn check(text: &str, expect: Expect) {
        let mut terms = Vec::new();
        for_each_term(text, |term, _| terms.push(term.to_owned()));
        expect.assert_eq(&terms.join(" "));
    }

    #[test]
    fn forms_of_a_word_meet() {
        check("city cities City's", expect!["citi citi citi s"]);
        check(
            "measure measures measured measuring measurement",
            expect!["measur measur measur measur measur"],
        );
        check("run runs running, plan planned planning", expect!["run run run plan plan plan"]);
        check(
            "install installed installation; pass passes passed",
            expect!["install install install pass pass pass"],
        );
        check(
            "bus buses, glass glasses, box boxes, species",
            expect!["bus bus glass glass box box speci"],
        );
    }

    #[test]
    fn numbers_stay_and_accents_go() {
        check(
            "1,200.50 and 3.14 but 1, 2, v2.0 mp3 Straße Ärger café",
            expect!["1200.50 and 3.14 but 1 2 v2 0 mp3 strass arger caf"],
        );
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        check("東京都は大 都", expect!["東京 京都 都は は大 都"]);
    }
}
