//! Trees and Markdown: the folder of pairs, single shapes, and the laws of the round trip.

use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;
use sabir_document::{Block, Cites, Document, Inline, ListItem, MAX_DEPTH};
use sabir_testkit::cases;

use crate::generate::{MOST_CITES, document, nearly_markdown};

/// What stands in `NAME.md` is the tree of `NAME.out`, which prints as the Markdown at its end. LC-D1.
#[test]
fn markdown_has_this_tree_and_prints_like_that() {
    for case in cases(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/markdown")) {
        let document = Document::from_cited_markdown(&case.text, Cites::Upto(3));
        let tree = serde_json::to_string_pretty(&document.to_json()).unwrap();
        let printed = document.to_markdown();
        assert_eq!(
            Document::from_cited_markdown(&printed, Cites::Upto(3)),
            document,
            "{}",
            case.name
        );
        expect_file![case.out_path()].assert_eq(&format!("{tree}\n----\n{printed}"));
    }
}

fn paragraph(text: &str) -> Document {
    Document { children: vec![Block::Paragraph { children: vec![Inline::text(text)] }] }
}

fn check_text(text: &str, expected: Expect) {
    let markdown = paragraph(text).to_markdown();
    expected.assert_eq(markdown.trim_end_matches('\n'));
    assert_eq!(Document::from_markdown(&markdown), paragraph(text), "{markdown}");
}

/// LC-D3.
#[test]
fn a_text_means_itself() {
    check_text("# x", expect![[r#"\# x"#]]);
    check_text("1. x", expect![[r#"1\. x"#]]);
    check_text("1.5 km", expect!["1.5 km"]);
    check_text("- x", expect![[r#"\- x"#]]);
    check_text("-5 °C", expect!["-5 °C"]);
    check_text("---", expect![[r#"\---"#]]);
    check_text("> x", expect![[r#"\> x"#]]);
    check_text("a > b", expect!["a > b"]);
    check_text("[a](javascript:x)", expect![[r#"\[a\](javascript:x)"#]]);
    check_text("![a](b)", expect![[r#"!\[a\](b)"#]]);
    check_text("Hello!", expect!["Hello!"]);
    check_text("<b>bold</b>", expect![[r#"\<b>bold\</b>"#]]);
    check_text("<https://a.b>", expect![[r#"\<https://a.b>"#]]);
    check_text("&amp; AT&T", expect![[r#"\&amp; AT&T"#]]);
    check_text("**a** snake_case _b_", expect![[r#"\*\*a\*\* snake_case \_b\_"#]]);
    check_text("`x` ~~y~~", expect![[r#"\`x\` \~\~y\~\~"#]]);
    check_text(
        "```\nx",
        expect![[r#"
        \`\`\`\
        x"#]],
    );
    check_text(
        "a\n===",
        expect![[r#"
        a\
        \==="#]],
    );
    check_text(
        "a\n---",
        expect![[r#"
        a\
        \---"#]],
    );
    check_text(
        "a|b\n-|-",
        expect![[r#"
        a|b\
        \-|-"#]],
    );
    check_text("[1] [x]: https://a.b", expect![[r#"\[1\] \[x\]: https://a.b"#]]);
    check_text("ends with \\", expect![[r#"ends with \\"#]]);
}

/// LC-D4.
#[test]
fn lines_and_white_space_have_one_form() {
    let check = |text: &str, expected: &str| {
        assert_eq!(paragraph(text).normalised(), paragraph(expected), "{text:?}");
    };
    check("  a \t b  ", "a b");
    check("a \n\n b", "a\nb");
    check("a\r\nb", "a\nb");
    check("a\0b", "a b");
    check("a\u{a0}b", "a\u{a0}b");
    assert_eq!(Document::from_markdown("a\nb  \nc\\\nd"), paragraph("a b\nc\nd"));
    assert_eq!(Document::from_markdown("a\n<br>\nb"), paragraph("a <br> b"));
}

/// LC-D5.
#[test]
fn what_the_tree_cannot_hold_becomes_text() {
    for (markdown, text) in [
        ("![a cat](https://a.b/cat.png)", "a cat"),
        ("~~old~~ new", "old new"),
        ("<b>x</b>", "<b>x</b>"),
        ("<div>\nx\n</div>", "<div> x </div>"),
        ("[a](javascript:alert(1))", "a"),
        ("[a](/relative) [b](#fragment) [c](<data:text/html,x>)", "a b c"),
        ("[^1]", "[^1]"),
        ("$x$", "$x$"),
    ] {
        assert_eq!(Document::from_markdown(markdown), paragraph(text), "{markdown}");
    }
}

/// LC-D6.
#[test]
fn marks_of_citations_are_read_where_they_are_asked_for() {
    let markdown =
        "A [1][2], B \\[1\\], C [3], `[1]`, [x [1]](https://a.b), D [01] [1](https://a.b).";
    let cited = Document::from_cited_markdown(markdown, Cites::Upto(2));
    let Block::Paragraph { children } = &cited.children[0] else { panic!("{cited:?}") };
    let cites: Vec<_> = children.iter().filter(|it| matches!(it, Inline::Cite { .. })).collect();
    assert_eq!(cites, [&Inline::Cite { reference: 1 }, &Inline::Cite { reference: 2 }]);
    assert_eq!(cited.plain_text(), "A , B [1], C [3], [1], x [1], D [01] 1.");
    let uncited = Document::from_markdown(markdown);
    assert!(!format!("{uncited:?}").contains("Cite"));
}

/// LC-D7.
#[test]
fn lists_that_follow_each_other_stay_apart() {
    let list = |ordered| Block::List {
        ordered,
        items: vec![ListItem { children: paragraph("a").children }; 2],
    };
    let children = vec![list(false), list(false), list(true), list(true), list(true)];
    let document = Document { children };
    let markdown = document.to_markdown();
    expect![[r#"
        - a
        - a

        + a
        + a

        1. a
        2. a

        1) a
        2) a

        1. a
        2. a
    "#]]
    .assert_eq(&markdown);
    assert_eq!(Document::from_markdown(&markdown), document);
}

/// LC-D2.
#[test]
fn what_is_too_deep_is_kept_without_its_containers() {
    let nested = |depth: usize| {
        let mut document = paragraph("deep");
        for level in 0..depth {
            let children = std::mem::take(&mut document.children);
            document.children.push(match level % 2 {
                0 => Block::Quote { children },
                _ => Block::List { ordered: false, items: vec![ListItem { children }] },
            });
        }
        document
    };
    let deepest = nested(MAX_DEPTH);
    assert_eq!(deepest.normalised(), deepest);
    assert_eq!(Document::from_markdown(&deepest.to_markdown()), deepest);
    let deeper = nested(MAX_DEPTH + 40).to_markdown();
    assert_eq!(Document::from_markdown(&deeper).plain_text(), "deep");
    let markdown = format!("{}deep", "> ".repeat(1_000));
    assert_eq!(Document::from_markdown(&markdown).plain_text(), "deep");
}

#[test]
fn an_excerpt_is_cut_between_words() {
    let document = Document::from_markdown("# One\n\ntwo *three*\n\n- four");
    assert_eq!(document.plain_text(), "One\n\ntwo three\n\nfour");
    for (most, expected) in [
        (100, "One two three four"),
        (18, "One two three four"),
        (17, "One two three…"),
        (14, "One two three…"),
        (13, "One two…"),
        (4, "One…"),
        (3, "On…"),
        (2, "O…"),
        (1, "…"),
        (0, ""),
    ] {
        assert_eq!(document.excerpt(most), expected, "{most}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// LC-D1.
    #[test]
    fn a_tree_survives_markdown(document in document()) {
        let markdown = document.to_markdown();
        let back = Document::from_cited_markdown(&markdown, Cites::Upto(MOST_CITES));
        prop_assert_eq!(&back, &document.normalised(), "{}", markdown);
        prop_assert_eq!(back.normalised(), back);
    }

    /// LC-D1.
    #[test]
    fn markdown_is_stable_after_one_round(markdown in nearly_markdown()) {
        let document = Document::from_cited_markdown(&markdown, Cites::Upto(2));
        let printed = document.to_markdown();
        let again = Document::from_cited_markdown(&printed, Cites::Upto(2));
        prop_assert_eq!(&again, &document, "{:?}\n{}", markdown, printed);
        prop_assert_eq!(again.to_markdown(), printed);
    }

    #[test]
    fn an_excerpt_has_room(document in document(), most in 0..60_usize) {
        prop_assert!(document.excerpt(most).chars().count() <= most);
    }
}
