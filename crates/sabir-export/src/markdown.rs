//! A sheet as Markdown that reads back as the same document.

use sabir_document::{Block, Document, Inline};

use crate::clean::without_controls;
use crate::sheet::Sheet;

pub(crate) fn write(sheet: &Sheet) -> String {
    let mut children = vec![heading(1, &sheet.title)];
    if !sheet.origin.is_empty() {
        children.push(paragraph(vec![emphasis(&sheet.origin)]));
    }
    children.extend(sheet.body.iter().cloned());
    if !sheet.references.is_empty() {
        children.push(heading(2, "References"));
    }
    for entry in &sheet.references {
        let mut line = vec![Inline::Cite { reference: entry.number }, Inline::text(" ")];
        line.extend(entry.line.iter().cloned());
        children.push(paragraph(line));
    }
    if !sheet.legend.is_empty() {
        children.push(paragraph(vec![emphasis(&sheet.legend.join(" "))]));
    }
    without_controls(Document { children }.to_markdown())
}

fn heading(level: u8, text: &str) -> Block {
    Block::Heading { level, children: vec![Inline::text(text)] }
}

fn paragraph(children: Vec<Inline>) -> Block {
    Block::Paragraph { children }
}

fn emphasis(text: &str) -> Inline {
    Inline::Em { children: vec![Inline::text(text)] }
}
