//! Markdown and JSON that mean harm: they cost time and memory in proportion to their size.

use sabir_base::json::Json;
use sabir_document::{Cites, Document, MAX_JSON_DEPTH, PlainText};

const SIZE: usize = 1 << 20;
const SMALL: usize = SIZE / 16;

const DEFINED: &str = "[a]: https://b.c\n\n[a] ";

/// Each piece fills a megabyte on its own.
const PIECES: &[&str] = &[
    "[",
    "]",
    "![",
    "](",
    "[a](",
    "[a]",
    "[a][",
    "[1]",
    "*",
    "**",
    "*a ",
    "a* ",
    "_",
    "_a ",
    "*a_ ",
    "~",
    "~~",
    "`",
    "` ",
    "`a``",
    "<",
    "<a ",
    "<!--",
    "<?",
    "<![CDATA[",
    "&",
    "&#",
    "\\",
    ">",
    "> ",
    "> > \n",
    "- ",
    "-\n",
    "- a\n",
    "+ ",
    "1. ",
    "* - ",
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "#",
    "# ",
    "=",
    "-",
    "a\n-",
    "|",
    "| ",
    "|-",
    "a|b\n-|-\n",
    "|a\n|-\n|\n",
    "```\n",
    "~~~\n",
    "    a\n",
    "[a]: b\n",
    "[a]: <",
    "\"",
    "(",
    ")",
    "$",
    "{",
    "\0",
    "é",
    "\u{301}",
    "😀",
    "**a *b ",
    "a**b",
    "[*",
    "*[",
    "[`",
    "![[]()",
    "x\n",
    "<b>\n",
    "<div>\n\n",
];

/// LC-D2.
#[test]
fn a_megabyte_of_anything_is_read() {
    for piece in PIECES {
        let heads = [("", SIZE), ("a|b\n-|-\n", SMALL), ("> - > - ", SMALL), (DEFINED, SMALL)];
        for (head, size) in heads {
            let markdown = format!("{head}{}", piece.repeat(size / piece.len()));
            let document = Document::from_cited_markdown(&markdown, Cites::Upto(9));
            let printed = document.to_markdown();
            assert!(printed.len() <= 20 * SIZE, "{piece:?} behind {head:?}: {}", printed.len());
            assert!(document.plain_text().len() <= 2 * SIZE, "{piece:?} behind {head:?}");
            let plain = PlainText::of_markdown(&markdown);
            assert!(plain.text().len() <= 4 * SIZE, "{piece:?} behind {head:?}");
        }
    }
}

/// Lines that go deeper one by one.
#[test]
fn stairs_are_read() {
    for mark in ["> ", "- ", "1. ", "* > "] {
        let lines: Vec<String> = (0..700).map(|depth| mark.repeat(depth) + "a").collect();
        let document = Document::from_markdown(&lines.join("\n"));
        assert!(document.to_markdown().len() < SIZE * 4, "{mark:?}");
        let lines: Vec<String> = (0..1_000).map(|depth| "  ".repeat(depth) + mark + "a").collect();
        Document::from_markdown(&lines.join("\n"));
    }
}

/// LC-D2.
#[test]
fn deep_json_is_refused() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        let text = format!(
            r#"{{"type":"doc","children":[{}{inner}{}]}}"#,
            open.repeat(depth),
            close.repeat(depth)
        );
        let json = Json::read(&text, 1 << 20).unwrap();
        let mut problems = Vec::new();
        let document = Document::read(json.top(), &mut problems);
        assert_eq!(document.is_some(), problems.is_empty());
        if document.is_some() {
            assert!(Json::read(&text, MAX_JSON_DEPTH).is_ok(), "{open}");
        }
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    let quote = r#"{"type":"blockquote","children":["#;
    let list = r#"{"type":"list","ordered":true,"items":[{"type":"list_item","children":["#;
    let strong = r#"{"type":"strong","children":["#;
    let paragraph = r#"{"type":"paragraph","children":[]}"#;
    for (open, close) in [(quote, "]}"), (list, "]}]}")] {
        assert!(nested(open, paragraph, close, 64).is_empty());
        for depth in [65, 20_000] {
            assert_eq!(
                nested(open, paragraph, close, depth),
                ["a block stands in at most 64 lists and quotes"]
            );
        }
    }
    let open =
        |depth: usize| format!(r#"{{"type":"paragraph","children":[{}"#, strong.repeat(depth));
    assert!(nested(&open(64), "", &("]}".repeat(64) + "]}"), 1).is_empty());
    assert_eq!(
        nested(&open(20_000), "", &("]}".repeat(20_000) + "]}"), 1),
        ["a text stands in at most 64 marks"]
    );
}

#[test]
fn a_hundred_problems_are_listed_and_the_rest_is_counted() {
    let text = format!(r#"{{"type":"doc","children":[{}]}}"#, vec!["1"; 5_000].join(","));
    let json = Json::read(&text, 16).unwrap();
    let mut problems = Vec::new();
    assert_eq!(Document::read(json.top(), &mut problems), None);
    assert_eq!(problems.len(), 101);
    assert_eq!(problems[100].message, "and 4900 more problems");
}
