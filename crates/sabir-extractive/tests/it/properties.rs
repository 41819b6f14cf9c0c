//! What holds for every text: quotes are the source's own words, answers repeat, nothing panics.

use proptest::prelude::*;
use sabir_document::{Block, PlainText};
use sabir_extractive::{Artifact, Draft, Source, Style};
use serde_json::json;

/// Markdown of the kinds that pages have, and of those that they should not have.
fn markdown() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "ferry",
        "The",
        "tower",
        "is",
        "a",
        "tall",
        "1921",
        "3.5",
        "12 %",
        "in",
        "May 3, 2020",
        "Dr.",
        "price:",
        "Price: 12 EUR",
        "U.S.",
        "what?",
        "it",
        "東京は",
        "首都です。",
        "é",
        "[link](http://a.example)",
        "**bold**",
        "`code`",
        "\u{1}",
        "&amp;",
        "<b>",
        "\\*",
        "…",
        "\"",
        "(",
        ")",
        "“",
        "”",
        "#",
        "|",
        "-",
        "!",
        "unclear",
        "\u{202e}",
        "\u{a0}",
        "٣",
        "x@y.example",
        ".",
        "..",
        "\t",
    ]);
    let line = prop::collection::vec(words, 0..14).prop_map(|words| words.join(" "));
    let start = prop::sample::select(vec![
        "",
        "",
        "",
        "# ",
        "## ",
        "- ",
        "1. ",
        "> ",
        "  - ",
        "```\n",
        "| a | b |\n|---|---|\n| ",
        "    ",
        "---\n",
        "\n",
    ]);
    prop::collection::vec((start, line), 0..24).prop_map(|lines| {
        lines.into_iter().map(|(start, line)| format!("{start}{line}\n")).collect()
    })
}

fn sources() -> impl Strategy<Value = Vec<Source>> {
    let source =
        (markdown(), any::<bool>(), "[a-z ]{0,12}").prop_map(|(markdown, partial, title)| Source {
            doc_id: "doc".to_owned(),
            title,
            markdown,
            partial,
            ..Source::default()
        });
    prop::collection::vec(source, 0..5)
}

fn drafts(sources: &[Source], question: &str) -> Vec<Draft> {
    let schema = json!({
        "type": "object",
        "properties": {
            "price": { "type": "number" },
            "title": { "type": "string" },
            "tower": { "type": "string", "format": "date" },
            "rows": {
                "type": "array",
                "items": { "type": "object", "properties": { "a": { "type": "string" } } },
            },
        },
    });
    let mut drafts = vec![
        sabir_extractive::answer(sources, question, &[]),
        sabir_extractive::answer(sources, "and it?", &[question]),
        sabir_extractive::summarize(sources, Style::Concise),
        sabir_extractive::summarize(sources, Style::Detailed),
        sabir_extractive::extract(sources, &schema),
    ];
    for artifact in Artifact::ALL {
        drafts.push(sabir_extractive::transform(sources, artifact, None));
        drafts.push(sabir_extractive::transform(sources, artifact, Some(2)));
    }
    drafts
}

/// How deep the document goes, and whether it says anything.
fn blocks(draft: &Draft) -> usize {
    draft.document.children.iter().filter(|block| !matches!(block, Block::ThematicBreak)).count()
}

proptest! {
    /// LC-X3, LC-X4, LC-X5: quotes are verbatim, the same input gives the same output, and every text has an answer.
    #[test]
    fn quotes_are_the_words_of_the_source(sources in sources(), question in markdown()) {
        let all = drafts(&sources, &question);
        for draft in &all {
            for quote in &draft.quotes {
                let plain = PlainText::of_markdown(&sources[quote.source].markdown);
                prop_assert!(plain.text().contains(&quote.text), "{:?} not in {:?}", quote.text, plain.text());
                prop_assert!(!quote.text.trim().is_empty());
            }
            prop_assert!(blocks(draft) > 0);
            prop_assert!(!draft.title.is_empty());
        }
        prop_assert_eq!(all, drafts(&sources, &question));
    }

    /// LC-X5: any text at all.
    #[test]
    fn any_text_is_answered(markdown in ".{0,400}", question in ".{0,80}") {
        drafts(&[Source { markdown, ..Source::default() }], &question);
    }

    /// LC-X6: the order of the sources decides only between equals, so that the answer to a question
    /// with one passage is the same in any order.
    #[test]
    fn a_needle_is_found_anywhere(at in 0..5_usize, hay in prop::collection::vec("([a-f]{3,7} ){4,9}\\.", 5)) {
        let mut sources: Vec<Source> =
            hay.into_iter().map(|markdown| Source { markdown, ..Source::default() }).collect();
        sources[at].markdown.push_str("\n\nThe zeppelin Quill landed at Zomba with nine mules.");
        let draft = sabir_extractive::answer(&sources, "Where did the zeppelin land?", &[]);
        prop_assert_eq!(draft.quotes.len(), 1);
        prop_assert_eq!(draft.quotes[0].source, at);
    }
}
