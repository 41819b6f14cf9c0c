//! Quotes that stand in the source word by word, in surroundings that change what they say and in
//! others that do not. Each line of `tests/data/quotes` is a verdict, a tab, and a source with the
//! quote in braces; `\n` is the end of a line.

#![expect(clippy::unwrap_used, reason = "a table that cannot be read fails the test")]

use std::fmt::Write;

use proptest::prelude::*;
use sabir_llmcp::{CitationStatus, SourceText, verify_quote};
use sabir_testkit::cases;

/// A line of a table.
struct Line {
    status: String,
    source: String,
    quotes: Vec<String>,
}

fn lines() -> Vec<Line> {
    let cases = cases(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/quotes"));
    let lines = cases.iter().flat_map(|case| case.text.lines());
    lines.filter(|line| !line.starts_with('#')).map(read).collect()
}

fn read(line: &str) -> Line {
    let (status, marked) = line.split_once('\t').unwrap();
    let marked = marked.replace("\\n", "\n");
    let quotes = marked.split('{').skip(1).map(|it| it.split_once('}').unwrap().0.to_owned());
    Line {
        status: status.to_owned(),
        source: marked.replace(['{', '}'], ""),
        quotes: quotes.collect(),
    }
}

/// LC-V10, LC-V16, LC-V17.
#[test]
fn a_quote_is_judged_with_what_surrounds_it() {
    let lines = lines();
    let mut wrong = String::new();
    for line in &lines {
        let source = SourceText::new(&line.source);
        for quote in &line.quotes {
            let verdict = verify_quote(quote, &source);
            if verdict.status.word() != line.status {
                let reason = verdict.reason.map_or("-", |reason| reason.code());
                let status = verdict.status.word();
                writeln!(wrong, "{status} ({reason}): {quote:?} of {:?}", line.source).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    let count = |status: &str| lines.iter().filter(|line| line.status == status).count();
    assert!(count("unverified") >= 150 && count("verified") >= 100, "the tables shrank");
}

const CLAUSES: &[&str] = &[
    "the bridge is safe",
    "coffee causes cancer",
    "the firm paid dividends in May",
    "Marta opened a shop in Leiden",
    "pigs fly over the wall at night",
    "he sold 12 boats in 2019",
];

/// Before a clause: each denies it or makes it a condition.
const BEFORE: &[&str] = &[
    "It is not true that",
    "Nobody claims that",
    "No study found that",
    "There is little evidence that",
    "The minister rejected the claim that",
    "He falsely claimed that",
    "Contrary to reports that",
    "It is a myth that",
    "They asked whether",
    "Suppose that",
    "If",
    "Unless",
    "We never said",
    "Few people think",
    "Niemand glaubt, dass",
    "Es ist keineswegs so, dass",
    "Personne ne croit que",
    "Nadie cree que",
    "Nessuno crede che",
    "Ninguém acredita que",
];

/// Behind a clause.
const BEHIND: &[&str] = &[
    ", which is not true",
    " is false",
    " is a myth",
    "\" is nonsense",
    " only in winter",
    " if it is cooled",
    " unless it rains",
    ", except in May",
    ", provided that it is dry",
    " until it rains",
    ", but not in winter",
    ", he wrongly said",
    ". This is not true",
    ", wenn es regnet",
    ", sauf en hiver",
];

/// Between what changes a clause and the clause: it changes nothing.
const FILLERS: &[&str] =
    &["", " in the old town", ", as some say,", " (said Marta)", " with all the people of Leiden"];

/// What stands around the whole sentence.
const OTHERS: &[&str] =
    &["", "It did not rain. ", "The moon rose! ", "Nobody came.\n\n", "# Myths\n\n"];

/// LC-V16, for every pair.
#[test]
fn no_clause_is_taken_out_of_what_denies_it() {
    for clause in CLAUSES {
        for other in OTHERS {
            for before in BEFORE {
                let source = SourceText::new(&format!("{other}{before} {clause}. The end."));
                let status = verify_quote(clause, &source).status;
                assert_ne!(status, CitationStatus::Verified, "{}", source.markdown());
            }
            let first = format!("{}{}", clause[..1].to_uppercase(), &clause[1..]);
            for behind in BEHIND {
                let source = SourceText::new(&format!("{other}{first}{behind}. The end."));
                let status = verify_quote(clause, &source).status;
                assert_ne!(status, CitationStatus::Verified, "{}", source.markdown());
            }
            let source = SourceText::new(&format!("{other}{first}. The end."));
            let status = verify_quote(clause, &source).status;
            assert_eq!(status, CitationStatus::Verified, "{}", source.markdown());
        }
    }
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// LC-V16: whatever stands between.
    #[test]
    fn a_denial_reaches_over_what_is_put_between(
        denial in one_of(&["Nobody", "No doctor", "Neither man", "Few doctors", "Hardly anybody", "Niemand", "Nadie"]),
        fillers in prop::collection::vec(one_of(FILLERS), 0..3),
        says in one_of(&["claims that", "believes", "ever said that", "has shown that", "would say"]),
        clause in one_of(CLAUSES),
        end in one_of(&[".", " in May.", ", and the sun shone.", "!"]),
    ) {
        let source = SourceText::new(&format!("{denial}{} {says} {clause}{end}", fillers.concat()));
        let verdict = verify_quote(clause, &source);
        prop_assert_ne!(verdict.status, CitationStatus::Verified, "{}", source.markdown());
    }

    /// LC-V17: a number is not taken out of its quantity, and the whole quantity is.
    #[test]
    fn a_number_keeps_what_belongs_to_it(
        number in 2..999_u32,
        before in one_of(&["", "EUR ", "nearly ", "about ", "up to ", "at least ", "as many as ", "1 in ", "half of ", "3 to ", "±", "$", "no more than ", "circa "]),
        behind in one_of(&["", " mg/kg", " km/h", " percentage points", "% a month", " pm", " BC", " people a day", " or more", " (±2)", "^6", " million", "-3", " in 100 people"]),
        end in one_of(&[".", ", and more came.", "; it rained."]),
    ) {
        let quantity = format!("{before}{number}{behind}");
        let source = SourceText::new(&format!("The report has {quantity}{end}"));
        let part = verify_quote(&number.to_string(), &source).status;
        let is_whole = before.is_empty() && behind.is_empty();
        prop_assert_eq!(part == CitationStatus::Verified, is_whole, "{}", source.markdown());
        let left = verify_quote(&format!("The report has {before}{number}"), &source).status;
        prop_assert_eq!(left == CitationStatus::Verified, behind.is_empty(), "{}", source.markdown());
        let right = verify_quote(&format!("{number}{behind}"), &source).status;
        prop_assert_eq!(right == CitationStatus::Verified, before.is_empty(), "{}", source.markdown());
        let whole = verify_quote(&format!("The report has {quantity}"), &source).status;
        prop_assert_eq!(whole, CitationStatus::Verified, "{}", source.markdown());
    }

    /// Whole sentences are verified, whatever the sentences around them say.
    #[test]
    fn a_whole_sentence_is_verified(
        before in one_of(OTHERS),
        denial in one_of(BEFORE),
        filler in one_of(FILLERS),
        clause in one_of(CLAUSES),
        behind in one_of(&[" Nobody came.", " If it rains, we stay.", " We never met.", "\n\nIt is dry."]),
    ) {
        let sentence = format!("{denial}{filler} {clause}.");
        let source = SourceText::new(&format!("{before}{sentence}{behind}"));
        let verdict = verify_quote(&sentence, &source);
        prop_assert_eq!(verdict.status, CitationStatus::Verified, "{}", source.markdown());
    }
}
