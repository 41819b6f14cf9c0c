//! Quotes and sources that mean harm: the verifier answers, points into the source, and shows words
//! that stand there.

use proptest::prelude::*;
use sabir_llmcp::{CitationStatus, Reason, SourceText, verify_quote};

const SIZE: usize = 1 << 20;

/// LC-V14.
#[test]
fn a_megabyte_of_anything_is_searched() {
    for piece in [
        "a ", "a", "not ", "1", "1 ", "1.", "… ", "... ", "a … ", "\u{301}", "日", "- ", "* ",
        "[a](b) ", "\n", "a\n\n", "% ", "a'", "a-",
    ] {
        let source = SourceText::new(&piece.repeat(SIZE / piece.len()));
        for quote in [
            piece.repeat(8),
            piece.repeat(16_000 / piece.len()),
            format!("{}b", piece.repeat(300)),
            "… a a … a a … a a".to_owned(),
        ] {
            let verdict = verify_quote(&quote, &source);
            assert!(source.markdown().get(verdict.start..verdict.end).is_some(), "{piece:?}");
        }
    }
}

/// LC-V14.
#[test]
fn a_long_quote_is_not_looked_for() {
    let text = "all work and no play ".repeat(2_000);
    let verdict = verify_quote(&text, &SourceText::new(&text));
    assert_eq!(verdict.status, CitationStatus::Unverified);
    assert_eq!(verdict.reason, Some(Reason::QuoteTooLong));
    assert!(verdict.quote.len() <= 16 * 1024);
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the",
        "cat",
        "sat",
        "cats",
        "not",
        "no",
        "n't",
        "don't",
        "5",
        "5%",
        "$5",
        "-5",
        "5,000",
        "10⁶",
        "½",
        "…",
        "...",
        "[...]",
        ".",
        ",",
        "?",
        "*",
        "**",
        "`",
        "|",
        "\n",
        "\n\n",
        "# ",
        "- ",
        "1. ",
        "[a](https://b.c)",
        "é",
        "e\u{301}",
        "ß",
        "ﬁ",
        "“",
        "’",
        "—",
        "non-profit",
        "million",
        "km",
        "日本",
        "不",
        "\u{200b}",
        "\u{ad}",
        "İ",
        "ǅ",
        "hypertension",
        "hypotension",
    ]);
    prop::collection::vec((word, prop::bool::weighted(0.8)), 0..30).prop_map(|words| {
        words
            .into_iter()
            .map(|(word, space)| format!("{word}{}", if space { " " } else { "" }))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// LC-V14.
    #[test]
    fn every_quote_gets_a_verdict(quote in words(), markdown in words()) {
        let source = SourceText::new(&markdown);
        let verdict = verify_quote(&quote, &source);
        prop_assert!(markdown.get(verdict.start..verdict.end).is_some());
        prop_assert_eq!(verdict.how.is_some(), verdict.status != CitationStatus::Unverified);
        if verdict.how.is_some() {
            prop_assert!(source.plain().text().contains(&verdict.quote), "{:?}", verdict);
        }
    }

    /// What was found once is found again by the words that are shown.
    #[test]
    fn shown_words_verify(quote in words(), before in words(), after in words()) {
        let source = SourceText::new(&format!("{before}{quote}{after}"));
        let verdict = verify_quote(&quote, &source);
        if verdict.status == CitationStatus::Verified || verdict.status == CitationStatus::Repaired {
            let again = verify_quote(&verdict.quote, &source);
            let is_found = matches!(again.status, CitationStatus::Verified | CitationStatus::Ambiguous);
            prop_assert!(is_found, "{:?} then {:?}", verdict, again);
        }
    }

    #[test]
    fn any_text_is_judged(quote in any::<String>(), markdown in any::<String>()) {
        let source = SourceText::new(&markdown);
        let verdict = verify_quote(&quote, &source);
        prop_assert!(markdown.get(verdict.start..verdict.end).is_some());
    }
}
