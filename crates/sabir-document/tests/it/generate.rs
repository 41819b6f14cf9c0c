//! Trees and Markdown that mean harm, for the laws that hold for all of them.

use proptest::prelude::*;
use sabir_document::{Align, Block, Document, Inline, ListItem, Table};

/// The highest number of a citation in generated trees.
pub(crate) const MOST_CITES: u32 = 12;

/// Texts made of what Markdown could take for something else.
pub(crate) fn nasty_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "word",
        "Zoë",
        "1",
        "12",
        "9999999999",
        ".",
        ")",
        "1.",
        "2)",
        " ",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\u{a0}",
        "\u{3000}",
        "\u{2028}",
        "\0",
        "\u{7f}",
        "#",
        "# ",
        "##",
        "-",
        "- ",
        "---",
        "+",
        "+ ",
        "*",
        "**",
        "***",
        "_",
        "__",
        "_a_",
        "*a*",
        "**a**",
        "~",
        "~~",
        "~~a~~",
        "`",
        "``",
        "```",
        "```x",
        "~~~",
        "=",
        "===",
        ">",
        "> ",
        "<",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "<https://a.b>",
        "https://a.b",
        "www.a.b",
        "a@b.c",
        "<a@b.c>",
        "&",
        "&amp;",
        "&#65;",
        "&#x41;",
        "&copy",
        ";",
        "[",
        "]",
        "(",
        ")",
        "[a]",
        "[1]",
        "[2]",
        "[01]",
        "[99]",
        "[a](javascript:x)",
        "[a](https://b.c)",
        "![a](b)",
        "!",
        "[a]: https://b.c",
        "[1]: https://b.c",
        ":",
        ":-",
        "|",
        "|-|",
        "| a |",
        "\\",
        "\\\\",
        "\\*",
        "\\[1\\]",
        "\\|",
        "$",
        "$$x$$",
        "^",
        "{",
        "}",
        "\"",
        "'",
        "é",
        "“",
        "”",
        "—",
        "…",
        "€",
        "日本",
        "😀",
        "\u{200b}",
        "\u{feff}",
        "\u{301}",
        "<script>",
        "<?x?>",
        "<![CDATA[x]]>",
        "[^1]",
        "- [ ] x",
        "%",
        "@",
        "/",
    ]);
    prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat())
}

fn href() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "https://a.b",
            "http://a.b/c_(d)",
            "https://a/?x=1&amp;y=2&copy=3",
            "https://a/`*_~",
            "https://a/|b|",
            "HTTPS://A",
            "https://a/\\(b",
            "https://a/<b>",
            "https://a/[b](c)",
            "https://a/\"x\"",
            "mailto:a@b.c",
            "https://ü/ß#f",
            "javascript:alert(1)",
            "#a",
            "/a",
            "a b",
            "",
            "data:,x",
            "https://a/b c",
            "https://a/((((",
            "https://a/))",
        ])
        .prop_map(str::to_owned),
        nasty_text().prop_map(|text| format!("https://a/{text}")),
    ]
}

fn inline() -> impl Strategy<Value = Inline> {
    let leaf = prop_oneof![
        6 => nasty_text().prop_map(Inline::text),
        2 => nasty_text().prop_map(|text| Inline::Code { text }),
        1 => (0..=MOST_CITES).prop_map(|reference| Inline::Cite { reference }),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let children = prop::collection::vec(inner, 0..4);
        prop_oneof![
            children.clone().prop_map(|children| Inline::Strong { children }),
            children.clone().prop_map(|children| Inline::Em { children }),
            (href(), children).prop_map(|(href, children)| Inline::Link { href, children }),
        ]
    })
}

fn inlines() -> impl Strategy<Value = Vec<Inline>> {
    prop::collection::vec(inline(), 0..5)
}

fn table() -> impl Strategy<Value = Block> {
    let align = prop::sample::select(vec![Align::None, Align::Left, Align::Center, Align::Right]);
    (1..4_usize).prop_flat_map(move |width| {
        let cells = || prop::collection::vec(inlines(), width);
        let align = prop::option::of(prop::collection::vec(align.clone(), width));
        (cells(), prop::collection::vec(cells(), 0..3), align).prop_map(|(header, rows, align)| {
            Block::Table(Table { header, rows, align: align.unwrap_or_default() })
        })
    })
}

fn block() -> impl Strategy<Value = Block> {
    let language =
        prop::sample::select(vec!["rust", "c++", "x y", "`", "a&amp;b", "", "f#", "~~~"]);
    let leaf = prop_oneof![
        5 => inlines().prop_map(|children| Block::Paragraph { children }),
        1 => (1..=6_u8, inlines()).prop_map(|(level, children)| Block::Heading { level, children }),
        1 => (prop::option::of(language), nasty_text()).prop_map(|(language, text)| Block::CodeBlock {
            language: language.map(str::to_owned),
            text,
        }),
        1 => table(),
        1 => Just(Block::ThematicBreak),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let blocks = prop::collection::vec(inner, 0..4);
        let items =
            prop::collection::vec(blocks.clone().prop_map(|children| ListItem { children }), 0..4);
        prop_oneof![
            blocks.prop_map(|children| Block::Quote { children }),
            (any::<bool>(), items).prop_map(|(ordered, items)| Block::List { ordered, items }),
        ]
    })
}

pub(crate) fn document() -> impl Strategy<Value = Document> {
    prop::collection::vec(block(), 0..5).prop_map(|children| Document { children })
}

/// Text that is nearly Markdown: its own pieces on any lines.
pub(crate) fn nearly_markdown() -> impl Strategy<Value = String> {
    let indent = prop::sample::select(vec![
        "", "", "", "> ", ">", "- ", "+ ", "* ", "1. ", "2) ", "  ", "    ", "\t", "# ", "###### ",
        "- > ", "> - ", "   ",
    ]);
    let line = (prop::collection::vec(indent, 0..3), nasty_text())
        .prop_map(|(indents, text)| indents.concat() + &text);
    prop::collection::vec(line, 0..10).prop_map(|lines| lines.join("\n"))
}
