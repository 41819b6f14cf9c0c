//! The tables of an artifact as CSV that a spreadsheet takes for data, and never for a formula.

use csv::{Terminator, WriterBuilder};
use sabir_document::{Block, Inline, ListItem, Table};

use crate::clean::{is_invisible, one_line, without_controls};
use crate::flat::flatten;
use crate::{Artifact, ExportError, Reference};

type Row = Vec<String>;

pub(crate) fn write(artifact: &Artifact) -> Result<Vec<u8>, ExportError> {
    let document = artifact.document.normalised();
    let mut sections = Vec::new();
    collect_tables(&document.children, &mut sections);
    if sections.is_empty() {
        let mut outline = Outline::default();
        outline.blocks(&document.children, None);
        sections.push(outline.rows);
    }
    if !artifact.references.is_empty() {
        sections.push(references(&artifact.references));
    }
    let width = sections.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    let wrong = |error: csv::Error| ExportError::Layout { reason: error.to_string() };
    for (index, section) in sections.into_iter().enumerate() {
        if index > 0 {
            writer.write_record(vec![""; width]).map_err(wrong)?;
        }
        // A row of nothing would look like the end of the section.
        for mut row in section.into_iter().filter(|row| row.iter().any(|cell| !cell.is_empty())) {
            row.resize(width, String::new());
            writer.write_record(row).map_err(wrong)?;
        }
    }
    writer.into_inner().map_err(|error| ExportError::Layout { reason: error.to_string() })
}

/// One list of rows for each table, wherever it stands.
fn collect_tables(blocks: &[Block], sections: &mut Vec<Vec<Row>>) {
    for block in blocks {
        match block {
            Block::Table(table) => sections.push(rows(table)),
            Block::Quote { children } => collect_tables(children, sections),
            Block::List { items, .. } => {
                items.iter().for_each(|item| collect_tables(&item.children, sections));
            }
            Block::Heading { .. }
            | Block::Paragraph { .. }
            | Block::CodeBlock { .. }
            | Block::ThematicBreak => {}
        }
    }
}

fn rows(table: &Table) -> Vec<Row> {
    let row = |cells: &Vec<Vec<Inline>>| cells.iter().map(|cell| cell_of(cell)).collect();
    std::iter::once(&table.header).chain(&table.rows).map(row).collect()
}

/// A document without a table: a row for each of its blocks.
struct Outline {
    rows: Vec<Row>,
    section: String,
}

impl Default for Outline {
    fn default() -> Self {
        let header = ["section", "kind", "text"].map(str::to_owned);
        Self { rows: vec![header.to_vec()], section: String::new() }
    }
}

impl Outline {
    /// `holder` is what the innermost list or quote makes of a paragraph.
    fn blocks(&mut self, blocks: &[Block], holder: Option<&'static str>) {
        for block in blocks {
            match block {
                Block::Heading { children, .. } => {
                    self.section = cell_of(children);
                    self.push("heading", self.section.clone());
                }
                Block::Paragraph { children } => {
                    self.push(holder.unwrap_or("paragraph"), cell_of(children));
                }
                Block::CodeBlock { text, .. } => self.push("code", defuse(text.clone())),
                Block::Quote { children } => self.blocks(children, Some("quote")),
                Block::List { items, .. } => {
                    for ListItem { children } in items {
                        self.blocks(children, Some("item"));
                    }
                }
                // Where there is a table, nobody asks for this.
                Block::Table(_) | Block::ThematicBreak => {}
            }
        }
    }

    fn push(&mut self, kind: &str, text: String) {
        self.rows.push(vec![self.section.clone(), kind.to_owned(), text]);
    }
}

fn references(references: &[Reference]) -> Vec<Row> {
    let header = ["number", "status", "quote", "title", "url"].map(str::to_owned).to_vec();
    let row = |reference: &Reference| {
        let cell = |text: &str| defuse(one_line(text));
        vec![
            reference.number.to_string(),
            cell(&reference.status),
            cell(&reference.quote),
            cell(&reference.title),
            cell(reference.url.as_deref().unwrap_or_default()),
        ]
    };
    std::iter::once(header).chain(references.iter().map(row)).collect()
}

fn cell_of(inlines: &[Inline]) -> String {
    defuse(flatten(inlines, &mut |href| Some(format!("({href})"))))
}

/// A spreadsheet runs a cell that begins like a formula, and some look behind white space and quotes
/// first. An apostrophe makes it a text. Numbers stay numbers.
fn defuse(text: String) -> String {
    let text = without_controls(text);
    let start = text.trim_start_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»')
            || is_invisible(c)
            || matches!(c, '\u{200C}' | '\u{200D}')
    });
    let is_formula = start.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '−']);
    match text.starts_with(['\t', '\n']) || (is_formula && !is_number(&text)) {
        true => format!("'{text}"),
        false => text,
    }
}

/// A sign, digits with separators, perhaps an exponent or a percent sign.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = digits.strip_suffix('%').unwrap_or(digits);
    let (digits, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        && !exponent.is_empty()
        && exponent.chars().all(|c| c.is_ascii_digit())
}
