//! The tables of an artifact as CSV that a spreadsheet takes for data, and never for a formula.

use std::collections::{BTreeMap, BTreeSet};

use csv::{QuoteStyle, Terminator, WriterBuilder};
use sabir_document::{Block, Inline, ListItem};

use crate::clean::{is_invisible, one_line, without_controls};
use crate::flat::flatten;
use crate::{Artifact, ExportError, Reference};

type Row = Vec<String>;

pub(crate) fn write(artifact: &Artifact) -> Result<Vec<u8>, ExportError> {
    let document = artifact.document.normalised();
    let evidence = Evidence::of(&artifact.references);
    let mut sections = Vec::new();
    collect_tables(&document.children, &evidence, &mut sections);
    if sections.is_empty() {
        let mut outline = Outline { section: String::new(), rows: Vec::new(), evidence: &evidence };
        outline.blocks(&document.children, None);
        let header = ["section", "kind", "text"].map(str::to_owned).to_vec();
        sections.push(with_evidence(header, outline.rows));
    }
    let width = common_width(&sections);
    let mut builder = WriterBuilder::new();
    // A program that separates cells by something else than commas still sees where one ends.
    let builder = builder.terminator(Terminator::CRLF).quote_style(QuoteStyle::Always);
    let mut writer = builder.flexible(true).from_writer(Vec::new());
    let wrong = |error: csv::Error| ExportError::Layout { reason: error.to_string() };
    for (index, section) in sections.into_iter().enumerate() {
        if index > 0 {
            writer.write_record(vec![""; width]).map_err(wrong)?;
        }
        // A row of nothing would look like the end of the section.
        for mut row in section.into_iter().filter(|row| row.iter().any(|cell| !cell.is_empty())) {
            row.resize(width.max(row.len()), String::new());
            writer.write_record(row).map_err(wrong)?;
        }
    }
    writer.into_inner().map_err(|error| ExportError::Layout { reason: error.to_string() })
}

/// How many cells every row is filled up to. Many short rows beside one wide table would fill the
/// memory; then each table keeps its own width.
fn common_width(sections: &[Vec<Row>]) -> usize {
    let rows = || sections.iter().flatten().map(Vec::len);
    let width = rows().max().unwrap_or(1);
    let added: usize = rows().map(|cells| width - cells).sum();
    if added + width * sections.len() > MOST_ADDED_CELLS { 1 } else { width }
}

/// What each reference says, on one line.
struct Evidence(BTreeMap<u32, String>);

impl Evidence {
    fn of(references: &[Reference]) -> Self {
        let line = |reference: &Reference| {
            let quote = one_line(&reference.quote);
            let url = reference.shown_url().filter(|url| url.len() <= LONGEST_URL);
            let parts = [
                format!("[{}] {}:", reference.number, cut(&one_line(&reference.status))),
                if quote.is_empty() { quote } else { format!("“{}”", cut(&quote)) },
                cut(&one_line(&reference.title)),
                one_line(url.unwrap_or_default()),
            ];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            (reference.number, parts.join(" "))
        };
        Self(references.iter().map(line).collect())
    }

    /// What these inlines stand on, each reference once.
    fn behind<'i>(&self, texts: impl IntoIterator<Item = &'i [Inline]>) -> String {
        let mut numbers = BTreeSet::new();
        texts.into_iter().for_each(|text| collect_cites(text, &mut numbers));
        let lines: Vec<&str> =
            numbers.iter().filter_map(|number| Some(self.0.get(number)?.as_str())).collect();
        defuse(lines.join("\n"))
    }
}

fn collect_cites(inlines: &[Inline], numbers: &mut BTreeSet<u32>) {
    for inline in inlines {
        match inline {
            Inline::Cite { reference } => {
                numbers.insert(*reference);
            }
            Inline::Strong { children }
            | Inline::Em { children }
            | Inline::Link { children, .. } => {
                collect_cites(children, numbers);
            }
            Inline::Text { .. } | Inline::Code { .. } => {}
        }
    }
}

/// A reference is told in every row that cites it, so a long one would fill the memory.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_PART) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A header and rows, each with what it stands on; a column for that only if a row stands on anything.
fn with_evidence(mut header: Row, rows: Vec<(Row, String)>) -> Vec<Row> {
    if rows.iter().all(|(_, evidence)| evidence.is_empty()) {
        return std::iter::once(header).chain(rows.into_iter().map(|(row, _)| row)).collect();
    }
    header.push("references".to_owned());
    let rows = rows.into_iter().map(|(mut row, evidence)| {
        row.push(evidence);
        row
    });
    std::iter::once(header).chain(rows).collect()
}

/// One list of rows for each table, wherever it stands.
fn collect_tables(blocks: &[Block], evidence: &Evidence, sections: &mut Vec<Vec<Row>>) {
    for block in blocks {
        match block {
            Block::Table(table) => {
                let cells = |row: &Vec<Vec<Inline>>| row.iter().map(|cell| cell_of(cell)).collect();
                let rows = table.rows.iter();
                let rows =
                    rows.map(|row| (cells(row), evidence.behind(row.iter().map(Vec::as_slice))));
                sections.push(with_evidence(cells(&table.header), rows.collect()));
            }
            Block::Quote { children } => collect_tables(children, evidence, sections),
            Block::List { items, .. } => {
                items.iter().for_each(|item| collect_tables(&item.children, evidence, sections));
            }
            Block::Heading { .. }
            | Block::Paragraph { .. }
            | Block::CodeBlock { .. }
            | Block::ThematicBreak => {}
        }
    }
}

/// A document without a table: a row for each of its blocks.
struct Outline<'e> {
    section: String,
    rows: Vec<(Row, String)>,
    evidence: &'e Evidence,
}

impl Outline<'_> {
    /// `holder` is what the innermost list or quote makes of a paragraph.
    fn blocks(&mut self, blocks: &[Block], holder: Option<&'static str>) {
        for block in blocks {
            match block {
                Block::Heading { children, .. } => {
                    self.section = cell_of(children);
                    self.push("heading", self.section.clone(), children);
                }
                Block::Paragraph { children } => {
                    self.push(holder.unwrap_or("paragraph"), cell_of(children), children);
                }
                Block::CodeBlock { text, .. } => self.push("code", defuse(text.clone()), &[]),
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

    fn push(&mut self, kind: &str, text: String, inlines: &[Inline]) {
        let row = vec![cut(&self.section), kind.to_owned(), text];
        self.rows.push((row, self.evidence.behind([inlines])));
    }
}

fn cell_of(inlines: &[Inline]) -> String {
    defuse(flatten(inlines, &mut |href| Some(format!("({href})"))))
}

/// A spreadsheet runs a cell that begins like a formula, and some look behind white space and quotes
/// first. Where cells are separated by semicolons or tabs, or lines in a cell end it, one may begin in
/// the middle. An apostrophe makes it a text. Numbers stay numbers.
fn defuse(text: String) -> String {
    let text = without_controls(text);
    let mut out = String::with_capacity(text.len());
    if text.starts_with(['\t', '\n']) {
        out.push('\'');
    }
    for part in text.split_inclusive([';', '\t', '\n']) {
        if is_formula(part.trim_end_matches([';', '\t', '\n'])) {
            out.push('\'');
        }
        out.push_str(part);
    }
    out
}

fn is_formula(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»')
            || is_invisible(c)
            || matches!(c, '\u{200C}' | '\u{200D}')
    });
    start.starts_with(is_sign) && !is_number(text)
}

/// What a formula begins with, also wide or small.
fn is_sign(c: char) -> bool {
    matches!(c, '=' | '+' | '-' | '@' | '−')
        || matches!(c, '＝' | '＋' | '－' | '＠')
        || matches!(c, '\u{FE66}' | '\u{FE62}' | '\u{FE63}' | '\u{FE6B}')
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

const MOST_ADDED_CELLS: usize = 1 << 20;
const LONGEST_PART: usize = 200;
/// Spreadsheets link to no more.
const LONGEST_URL: usize = 2_000;
