//! The plain text of Markdown, and where it came from.

#![expect(clippy::unwrap_used, reason = "a word that is not in the text fails the test")]

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_document::PlainText;

use crate::generate::nearly_markdown;

fn check(markdown: &str, expected: Expect) {
    expected.assert_eq(PlainText::of_markdown(markdown).text());
}

/// LC-D11.
#[test]
fn marks_are_stripped() {
    check(
        "# A *title*\n\nSome **strong** [link](https://a.b) and `code`.\nNext line  \nhard break",
        expect![[r#"
            A title

            Some strong link and code. Next line hard break"#]],
    );
    check(
        "- one\n- two\n  - three\n\n1. four\n\n   five",
        expect![[r#"
        one
        two

        three

        four

        five"#]],
    );
    check(
        "| a | b |\n|---|---|\n| **1** | 2 |\n| 3 |\n\nafter",
        expect![[r#"
        a	b
        1	2
        3

        after"#]],
    );
    check(
        "> quote\n\n```rust\nfn x() {}\n\ny\n```\n\n***\n\n![alt](x) &amp; \\* <b>",
        expect![[r#"
            quote

            fn x() {}

            y

            alt & * <b>"#]],
    );
}

/// What a place maps to stands between bars.
fn mapped(markdown: &str, part: &str) -> String {
    let plain = PlainText::of_markdown(markdown);
    let start = plain.text().find(part).unwrap();
    let range = plain.source_range(start..start + part.len());
    format!("{}|{}|{}", &markdown[..range.start], &markdown[range.clone()], &markdown[range.end..])
}

/// LC-D11.
#[test]
fn places_lead_back_to_the_source() {
    let markdown = "# T\n\nA **strong** [li\\*nk](https://a.b) &amp; `` c`d `` end.\n\n- x\n- y";
    for (part, expected) in [
        ("T", "# |T|\n\nA **strong** [li\\*nk](https://a.b) &amp; `` c`d `` end.\n\n- x\n- y"),
        (
            "strong li*",
            "# T\n\nA **|strong** [li\\*|nk](https://a.b) &amp; `` c`d `` end.\n\n- x\n- y",
        ),
        (
            "& c`d e",
            "# T\n\nA **strong** [li\\*nk](https://a.b) |&amp; `` c`d `` e|nd.\n\n- x\n- y",
        ),
        ("`d", "# T\n\nA **strong** [li\\*nk](https://a.b) &amp; `` c|`d| `` end.\n\n- x\n- y"),
        ("x\ny", "# T\n\nA **strong** [li\\*nk](https://a.b) &amp; `` c`d `` end.\n\n- |x\n- y|"),
    ] {
        assert_eq!(mapped(markdown, part), expected);
    }
    // A mark of the quote is left out of the code, which is as long as the padding of another would be.
    assert_eq!(mapped("> `°C\n> °F`", "C"), "> `|°C\n> °F|`");
    let plain = PlainText::of_markdown("a\n\nb");
    assert!(plain.source_range(1..3).is_empty());
    assert!(PlainText::of_markdown("").source_range(0..0).is_empty());
}

/// LC-D12.
#[test]
fn sections_end_at_the_next_heading_of_their_level() {
    let plain =
        PlainText::of_markdown("intro\n\n# A\n\na\n\n## B\n\nb\n\n### C\n\n## D\n\nd\n\n# E");
    let sections: Vec<String> = plain
        .sections()
        .iter()
        .map(|it| {
            format!(
                "{} {} {:?}",
                it.level,
                &plain.text()[it.heading.clone()],
                &plain.text()[it.range.clone()]
            )
        })
        .collect();
    expect![[r#"
        1 A "A\n\na\n\nB\n\nb\n\nC\n\nD\n\nd\n\n"
        2 B "B\n\nb\n\nC\n\n"
        3 C "C\n\n"
        2 D "D\n\nd\n\n"
        1 E "E""#]]
    .assert_eq(&sections.join("\n"));
    let at = plain.text().find("d").unwrap();
    assert_eq!(plain.section_at(at).map(|it| &plain.text()[it.heading.clone()]), Some("D"));
    assert_eq!(plain.section_at(0), None);
}

proptest! {
    /// LC-D11.
    #[test]
    fn every_range_maps_into_the_source(markdown in nearly_markdown(), from in 0..200_usize, length in 0..50_usize) {
        let plain = PlainText::of_markdown(&markdown);
        let text = plain.text();
        let start = text.floor_char_boundary(from.min(text.len()));
        let end = text.floor_char_boundary((start + length).min(text.len()));
        let range = plain.source_range(start..end);
        prop_assert!(markdown.get(range.clone()).is_some(), "{:?} of {:?}", range, markdown);
        let whole = plain.source_range(0..text.len());
        prop_assert!(range.is_empty() || (whole.start <= range.start && range.end <= whole.end));
        for section in plain.sections() {
            prop_assert!(text.get(section.heading.clone()).is_some());
            prop_assert!(text.get(section.range.clone()).is_some());
        }
    }

    /// Words without marks map to themselves.
    #[test]
    fn a_word_maps_to_itself(words in prop::collection::vec("[a-zé]{1,8}", 1..20), at in 0..20_usize) {
        let markdown = words.iter().enumerate().map(|(index, word)| match index % 5 {
            0 => format!("\n\n# {word}\n\n"),
            1 => format!("**{word}** "),
            2 => format!("[{word}](https://a.b) "),
            3 => format!("`{word}` "),
            _ => format!("{word}\n"),
        }).collect::<String>();
        let plain = PlainText::of_markdown(&markdown);
        let word = &words[at % words.len()];
        let start = plain.text().find(word.as_str()).unwrap();
        prop_assert_eq!(&markdown[plain.source_range(start..start + word.len())], word.as_str());
    }
}
