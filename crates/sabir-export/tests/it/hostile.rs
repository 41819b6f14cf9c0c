//! Documents that mean harm: they cost time and memory in proportion to their size.

#![expect(clippy::unwrap_used, reason = "a test without its file fails")]

use sabir_document::{Block, Document, Inline, ListItem, Table};
use sabir_export::{Artifact, Format, export, export_pdf};

use crate::generate::{FORMATS, artifact};

fn exported(document: Document) -> Vec<Vec<u8>> {
    let artifact = Artifact { document, ..artifact("Hostile", "") };
    FORMATS.iter().map(|format| export(&artifact, *format).unwrap()).collect()
}

fn paragraph(text: impl Into<String>) -> Block {
    Block::Paragraph { children: vec![Inline::text(text)] }
}

/// LC-O4.
#[test]
fn deep_documents_are_flattened() {
    let mut quote = paragraph("deep words");
    let mut list = paragraph("deep words");
    let mut strong = Inline::text("deep words");
    for _ in 0..500 {
        quote = Block::Quote { children: vec![quote] };
        list = Block::List { ordered: true, items: vec![ListItem { children: vec![list] }] };
        strong = Inline::Strong { children: vec![strong] };
    }
    let strong = Block::Paragraph { children: vec![strong] };
    for block in [quote, list, strong] {
        let files = exported(Document { children: vec![block] });
        let text = String::from_utf8(files[1].clone()).unwrap();
        assert!(text.contains("deep words"), "{text}");
    }
}

/// LC-O4.
#[test]
fn long_words_and_runs_of_anything_are_laid_out() {
    for piece in [
        "x",
        "-",
        "/a",
        "\u{301}",
        "\u{200b}",
        "\u{200b}ש",
        "ש",
        "ש a ",
        "日",
        "😀",
        "👩\u{200d}",
        "\u{a0}",
        "\u{ad}",
        "\u{202e}",
        "ffi",
        "क्",
        "ب",
        "\u{e0041}",
        "=",
        "🇩",
    ] {
        let text = piece.repeat(30_000 / piece.len());
        let code = Block::CodeBlock { language: None, text: text.clone() };
        let files = exported(Document { children: vec![paragraph(text), code] });
        for (file, format) in files.iter().zip(FORMATS) {
            assert!(file.len() < 2_000_000, "{piece:?} as {format:?}: {}", file.len());
        }
    }
}

/// LC-O4, LC-O14.
#[test]
fn tables_of_any_shape_are_laid_out() {
    let cell = |text: &str| vec![Inline::text(text)];
    let table = |columns: usize, rows: usize, text: &str| {
        let row = vec![cell(text); columns];
        Document {
            children: vec![Block::Table(Table {
                header: row.clone(),
                rows: vec![row; rows],
                align: vec![],
            })],
        }
    };
    let long = "many words ".repeat(3_000);
    for document in [
        table(1, 0, ""),
        table(1, 3, &long),
        table(3, 2, &long),
        table(13, 2, &"w".repeat(3_000)),
        table(2_000, 3, "x"),
        table(2, 3_000, "x"),
    ] {
        exported(document);
    }
}

/// LC-O4: what is drawn or written again and again is small.
#[test]
fn nothing_multiplies() {
    let marks = format!("a{}", "\u{301}".repeat(20_000));
    let rows = "| x |\n".repeat(2_000);
    let header = format!("| {marks} |\n|---|\n{rows}");
    let link = format!("[{}](https://a.b/{})", "a\\\n".repeat(5_000), "x".repeat(4_000));
    let wide = format!("{}\n{}\n\n", "|a".repeat(5_000), "|-".repeat(5_000));
    let tables = wide + &"|a|\n|-|\n|b|\n\n".repeat(2_000);
    for (name, title, markdown) in [
        ("header", "T", &header),
        ("title", marks.as_str(), &"words\n\n".repeat(3_000)),
        ("link", "T", &link),
        ("tables", "T", &tables),
    ] {
        let mut artifact = artifact(title, markdown);
        artifact.references.clear();
        for format in FORMATS {
            let file = export(&artifact, format).unwrap();
            assert!(file.len() < 3_000_000, "{name} as {format:?}: {}", file.len());
        }
    }
}

/// LC-O4.
#[test]
fn an_empty_document_is_a_file_in_every_form() {
    let empty = Artifact {
        id: String::new(),
        title: String::new(),
        document: Document::default(),
        references: vec![],
        made_at: String::new(),
    };
    for format in FORMATS {
        assert!(!export(&empty, format).unwrap().is_empty(), "{format:?}");
    }
}

/// LC-O15.
#[test]
fn what_is_no_font_is_passed_over() {
    let artifact = artifact("Fonts", "日本");
    let plain = export(&artifact, Format::Pdf).unwrap();
    let broken = [vec![], b"no font".to_vec(), b"\0\x01\0\0\0\xff".to_vec(), vec![0; 4096]];
    assert!(export_pdf(&artifact, &broken).unwrap() == plain);
}
