//! Where sentences end. It knows abbreviations, initials, ordinals, numbers and quotation marks in a
//! few languages, and nothing of what the sentences say.

use std::ops::Range;

use crate::date;

/// The sentences of one paragraph, in order, without the white space around them.
pub(crate) fn split(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = text.len() - text.trim_start().len();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !is_terminator(c) {
            continue;
        }
        let mut last = c;
        let mut end = at + c.len_utf8();
        let mut run = 1;
        while let Some(&(next, d)) = chars.peek() {
            if is_terminator(d) {
                run += 1;
                last = d;
            } else if !is_closer(d) {
                break;
            }
            end = next + d.len_utf8();
            chars.next();
        }
        let after = &text[end..];
        let ends = if is_wide(last) {
            true
        } else if !after.starts_with(char::is_whitespace) && !after.is_empty() {
            false
        } else if c == '.' && run == 1 {
            full_stop_ends(&text[start..at], after.trim_start())
        } else {
            !after.trim_start().starts_with(char::is_lowercase)
        };
        if ends {
            push(text, start..end, &mut sentences);
            // Without the white space, so that looking back at the sentence never reads it again.
            start = end + after.len() - after.trim_start().len();
        }
    }
    push(text, start..text.len(), &mut sentences);
    sentences
}

/// Whether a full stop after `before` ends the sentence that `after` would follow.
fn full_stop_ends(before: &str, after: &str) -> bool {
    let Some(next) = after.chars().next() else { return true };
    if next.is_lowercase() {
        return false;
    }
    let word_start = before
        .char_indices()
        .rev()
        .take(ABBREVIATION_CHARS)
        .find(|&(_, c)| c.is_whitespace() || is_opener(c))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let word = &before[word_start..];
    let next_word = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if word.chars().all(|c| c.is_ascii_digit()) && !word.is_empty() {
        // `3. Mai`, and the number of a list item that lost its list.
        let ordinal = word.len() <= 2 && date::is_month(next_word);
        return !ordinal && word_start > 0;
    }
    let lower = word.to_lowercase();
    if NEVER_LAST.contains(&lower.as_str()) {
        return false;
    }
    if BEFORE_NUMBER.contains(&lower.as_str()) && next.is_numeric() {
        return false;
    }
    let mut letters = word.chars();
    let initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    if initial || word.contains('.') || OFTEN_LAST.contains(&lower.as_str()) {
        // `J. S. Bach`, `the U.S. Army`, but `in the U.S. The law`.
        return STARTERS.contains(&next_word);
    }
    true
}

fn push(text: &str, range: Range<usize>, sentences: &mut Vec<Range<usize>>) {
    let mut rest = range;
    loop {
        let piece = &text[rest.clone()];
        rest.start += piece.len() - piece.trim_start().len();
        let piece = text[rest.clone()].trim_end();
        rest.end = rest.start + piece.len();
        if piece.len() <= SENTENCE_BYTES {
            break;
        }
        let head = &piece[..piece.floor_char_boundary(SENTENCE_BYTES)];
        let cut = head.rfind(char::is_whitespace).filter(|&cut| cut > 0).unwrap_or(head.len());
        sentences.push(rest.start..rest.start + head[..cut].trim_end().len());
        rest.start += cut;
    }
    if text[rest.clone()].chars().any(char::is_alphanumeric) {
        sentences.push(rest);
    }
}

fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '॥' | '።') || is_wide(c)
}

/// Marks that end a sentence without a space behind them.
fn is_wide(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．')
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '’' | '»' | '«' | '“' | ')' | ']' | '}' | '」' | '』' | '）')
}

fn is_opener(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '‘' | '„' | '«' | '»' | '(' | '[' | '{' | '「' | '『' | '（')
}

/// Longer than any sentence that anybody wants to read. Text without full stops is cut here.
const SENTENCE_BYTES: usize = 2_000;

/// Longer than any abbreviation.
const ABBREVIATION_CHARS: usize = 16;

/// Abbreviations that something always follows.
const NEVER_LAST: &[&str] = &[
    "approx", "bzw", "ca", "capt", "cf", "col", "d.h", "dr", "e.g", "fr", "gen", "gov", "hon",
    "hr", "i.e", "lt", "m", "mlle", "mme", "mr", "mrs", "ms", "mt", "p.ex", "prof", "rev", "sen",
    "sgt", "sog", "sra", "srta", "st", "usw", "v", "vgl", "viz", "vs", "z.b", "zzgl", "inkl",
    "evtl", "ggf", "u.a", "p. ej", "ej", "esp", "incl", "est",
];

/// Abbreviations that a number follows.
const BEFORE_NUMBER: &[&str] = &[
    "abs", "apr", "art", "aug", "bd", "ch", "dec", "eq", "feb", "fig", "jan", "jul", "jun", "kap",
    "mar", "n", "no", "nos", "nov", "nr", "núm", "oct", "p", "pp", "s", "sec", "sect", "sep",
    "sept", "tel", "vol", "ver", "version", "§",
];

/// Abbreviations that may end a sentence.
const OFTEN_LAST: &[&str] =
    &["bros", "co", "corp", "dept", "etc", "inc", "jr", "ltd", "llc", "plc", "sr", "univ"];

/// Words that begin a sentence rather than continue a name.
const STARTERS: &[&str] = &[
    "A", "After", "Also", "An", "And", "As", "At", "Before", "Both", "But", "By", "Das", "Der",
    "Die", "During", "Each", "Ein", "Eine", "El", "Elle", "Er", "Es", "For", "From", "He", "Her",
    "His", "How", "However", "I", "If", "Il", "Ils", "In", "It", "Its", "La", "Las", "Le", "Les",
    "Los", "Many", "Most", "No", "Not", "Of", "On", "One", "Only", "Or", "Our", "She", "Sie",
    "Since", "So", "Some", "That", "The", "Their", "Then", "There", "These", "They", "This",
    "Those", "To", "Today", "Two", "Un", "Une", "Until", "We", "What", "When", "Where", "Which",
    "While", "Who", "Why", "Wir", "With", "You",
];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::split;

    fn check(text: &str, expect: Expect) {
        let sentences: Vec<&str> = split(text).into_iter().map(|range| &text[range]).collect();
        expect.assert_eq(&sentences.join("\n"));
    }

    #[test]
    fn a_full_stop_is_not_always_the_end() {
        check(
            "Dr. A. Weber paid 3.14 EUR, i.e. little. See No. 5 and Fig. 2. He lives in the U.S. The \
             U.S. Army does too. Version 2.4.1 came out... and stayed. Really?! Yes.",
            expect![[r#"
                Dr. A. Weber paid 3.14 EUR, i.e. little.
                See No. 5 and Fig. 2.
                He lives in the U.S.
                The U.S. Army does too.
                Version 2.4.1 came out... and stayed.
                Really?!
                Yes."#]],
        );
    }

    #[test]
    fn quotation_marks_stay_with_their_sentence() {
        check(
            "“It rains.” She left. He asked “why?” and went. (A note.) Then nothing",
            expect![[r#"
                “It rains.”
                She left.
                He asked “why?” and went.
                (A note.)
                Then nothing"#]],
        );
    }

    #[test]
    fn other_languages_end_sentences_too() {
        check(
            "Am 3. Mai kam er, d.h. spät. Es war z.B. kalt. Gut!",
            expect![[r#"
            Am 3. Mai kam er, d.h. spät.
            Es war z.B. kalt.
            Gut!"#]],
        );
        check(
            "東京は首都です。人口は多い！本当？はい",
            expect![[r#"
            東京は首都です。
            人口は多い！
            本当？
            はい"#]],
        );
    }

    #[test]
    fn text_without_an_end_is_cut_between_words() {
        let text = "word ".repeat(1_000);
        let sentences = split(&text);
        assert!(sentences.len() > 1);
        assert!(sentences.iter().all(|range| text[range.clone()].ends_with("word")));
    }
}
