//! Any quote is judged against any source. What is verified stands in the source, word for word, at
//! the place that is given.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_document::PlainText;
use sabir_llmcp::{CitationStatus, SourceText, Verdict, verify_quote};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

fuzz_target!(|input: (u16, u16, u8, &str)| {
    let (from, length, change, text) = input;
    let start = text.floor_char_boundary(usize::from(from).min(text.len()));
    let end = text.floor_char_boundary((start + usize::from(length)).min(text.len()));
    let (head, cut) = (&text[..start], &text[start..end]);
    let middle = cut.floor_char_boundary(cut.len() / 2);
    // Nearly all that is invented stands in no source, so that most quotes are taken from one.
    let (source, quote) = match change % 8 {
        0 => (head, text[start..].to_owned()),
        1 => (text, cut.to_uppercase()),
        2 => (text, cut.replace(' ', "\n")),
        3 => (text, format!("{}{}", &cut[..middle], skip_one(&cut[middle..]))),
        4 => (text, format!("{} … {}", head, cut)),
        5 => (text, format!("“{cut}”")),
        6 => (text, PlainText::of_markdown(cut).text().to_owned()),
        _ => (text, cut.to_owned()),
    };
    let read = SourceText::new(source);
    check(&verify_quote(&quote, &read), &quote, &read);
});

fn check(verdict: &Verdict, quote: &str, source: &SourceText) {
    let Verdict { status, start, end, .. } = *verdict;
    assert!(source.markdown().get(start..end).is_some(), "{start}..{end} is no place");
    match status {
        CitationStatus::Unverified => assert_eq!((start, end), (0, 0)),
        CitationStatus::UnknownSource => panic!("the source was given"),
        CitationStatus::Repaired | CitationStatus::Ambiguous => stands_there(verdict, source),
        CitationStatus::Verified => {
            stands_there(verdict, source);
            let stripped = PlainText::of_markdown(quote);
            let shown = letters(&verdict.quote);
            assert!(
                letters(quote) == shown || letters(stripped.text()) == shown,
                "{quote:?} is verified as {:?}",
                verdict.quote
            );
        }
    }
}

/// The words that are shown are the source's own, at the place that is given.
fn stands_there(verdict: &Verdict, source: &SourceText) {
    let (plain, shown) = (source.plain(), verdict.quote.as_str());
    assert!(!letters(shown).is_empty() || shown.contains(|c: char| !c.is_whitespace()));
    let place = verdict.start..verdict.end;
    let mut at = 0;
    while let Some(next) = plain.text()[at..].find(shown) {
        let found = at + next;
        if plain.source_range(found..found + shown.len()) == place {
            return;
        }
        at = plain.text().ceil_char_boundary(found + 1);
    }
    panic!("{shown:?} does not stand at {place:?} of {:?}", source.markdown());
}

fn skip_one(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

/// Letters and digits alone, whatever their case and their marks.
fn letters(text: &str) -> String {
    let folded = text.nfkd().flat_map(char::to_lowercase).nfkd();
    let letters = folded.filter(|c| c.is_alphanumeric() && !is_combining_mark(*c));
    letters.collect::<String>().replace('ß', "ss").replace('ς', "σ")
}
