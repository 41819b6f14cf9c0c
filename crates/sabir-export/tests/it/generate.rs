//! Artifacts to test with: one that says what it needs to, and any.

use proptest::prelude::*;
use sabir_document::{Align, Block, Cites, Document, Inline, ListItem, Table};
use sabir_export::{Artifact, Format, Reference};

pub(crate) const FORMATS: [Format; 5] =
    [Format::Markdown, Format::Text, Format::Json, Format::Csv, Format::Pdf];

/// An artifact of this Markdown, with three references.
pub(crate) fn artifact(title: &str, markdown: &str) -> Artifact {
    let reference = |number, status: &str, quote: &str, title: &str, url: Option<&str>| Reference {
        number,
        quote: quote.to_owned(),
        status: status.to_owned(),
        title: title.to_owned(),
        url: url.map(str::to_owned),
    };
    Artifact {
        id: "art_1".to_owned(),
        title: title.to_owned(),
        document: Document::from_cited_markdown(markdown, Cites::Upto(3)),
        references: vec![
            reference(
                1,
                "verified",
                "The harbour was opened in 1881.",
                "Port of Trieste",
                Some("https://example.org/t#:~:text=The%20harbour"),
            ),
            reference(2, "repaired", "62 million\ntonnes", "Report", Some("https://example.com/r")),
            reference(3, "unknown_source", "", "", Some("javascript:alert(1)")),
        ],
        made_at: "2026-11-16 09:30 UTC".to_owned(),
    }
}

/// Texts of what forms could stumble over.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "word",
        " ",
        " ",
        "  ",
        "\n",
        "\t",
        "\r",
        "\0",
        "\u{1b}[31m",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{ad}",
        "\u{200b}",
        "\u{200d}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "\u{301}",
        "é",
        "ß",
        "Ωμ",
        "Жи",
        "שלום",
        "مرحبا",
        "日本",
        "。",
        "😀",
        "👩‍👩‍👧",
        "🇩🇪",
        "ไทย",
        "हिन्दी",
        "\u{e0041}",
        "\u{fffd}",
        "\u{10ffff}",
        "=",
        "=1+1",
        "+",
        "-",
        "-5",
        "@",
        "'",
        "\"",
        "“",
        ",",
        ";",
        "|",
        "\\",
        "`",
        "#",
        "*",
        "_",
        "[1]",
        "(",
        ")",
        "<",
        ">",
        "&",
        "/",
        "—",
        "-a-",
        "https://a.b/c?d&e",
        "ffi",
        "fl",
        "…",
        "12",
        "1,000.5",
        "%",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn inline() -> impl Strategy<Value = Inline> {
    let leaf = prop_oneof![
        5 => text().prop_map(Inline::text),
        1 => text().prop_map(|text| Inline::Code { text }),
        1 => (0..6_u32).prop_map(|reference| Inline::Cite { reference }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let children = prop::collection::vec(inner, 0..3);
        prop_oneof![
            children.clone().prop_map(|children| Inline::Strong { children }),
            children.clone().prop_map(|children| Inline::Em { children }),
            (text(), children).prop_map(|(path, children)| Inline::Link {
                href: format!("https://example.org/{path}"),
                children,
            }),
        ]
    })
}

fn inlines() -> impl Strategy<Value = Vec<Inline>> {
    prop::collection::vec(inline(), 0..4)
}

pub(crate) fn table() -> impl Strategy<Value = Table> {
    let align = prop::sample::select(vec![Align::None, Align::Left, Align::Center, Align::Right]);
    (1..16_usize).prop_flat_map(move |width| {
        let cells = || prop::collection::vec(inlines(), width);
        let align = prop::collection::vec(align.clone(), width);
        (cells(), prop::collection::vec(cells(), 0..4), align)
            .prop_map(|(header, rows, align)| Table { header, rows, align })
    })
}

fn block() -> impl Strategy<Value = Block> {
    let leaf = prop_oneof![
        4 => inlines().prop_map(|children| Block::Paragraph { children }),
        1 => (0..9_u8, inlines()).prop_map(|(level, children)| Block::Heading { level, children }),
        1 => text().prop_map(|text| Block::CodeBlock { language: None, text }),
        1 => table().prop_map(Block::Table),
        1 => Just(Block::ThematicBreak),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let blocks = prop::collection::vec(inner, 0..3);
        let item = blocks.clone().prop_map(|children| ListItem { children });
        prop_oneof![
            blocks.prop_map(|children| Block::Quote { children }),
            (any::<bool>(), prop::collection::vec(item, 0..4))
                .prop_map(|(ordered, items)| Block::List { ordered, items }),
        ]
    })
}

pub(crate) fn document() -> impl Strategy<Value = Document> {
    prop::collection::vec(block(), 0..5).prop_map(|children| Document { children })
}

/// Any artifact.
pub(crate) fn any_artifact() -> impl Strategy<Value = Artifact> {
    let reference = (any::<u32>(), text(), text(), text(), prop::option::of(text())).prop_map(
        |(number, quote, status, title, url)| Reference {
            number: number % 6,
            quote,
            status,
            title,
            url,
        },
    );
    (text(), document(), prop::collection::vec(reference, 0..4), text(), text()).prop_map(
        |(title, document, references, id, made_at)| Artifact {
            id,
            title,
            document,
            references,
            made_at,
        },
    )
}
