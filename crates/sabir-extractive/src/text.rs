//! A page as units of text: headings, paragraphs, list items and rows of tables, each cut into
//! sentences. Code is left out. It ranks nothing.

use std::ops::Range;

use sabir_document::{Block, Document, Inline, Table};

use crate::{sentence, word};

#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) units: Vec<Unit>,
    pub(crate) tables: Vec<Grid>,
}

#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) kind: Kind,
    /// As it stands in the plain text of the page. The cells of a row are joined by [`CELL_GAP`].
    pub(crate) text: String,
    /// The heading above, as an index into the units.
    pub(crate) heading: Option<usize>,
    pub(crate) sentences: Vec<Range<usize>>,
    /// Where lines begin behind a line end that the page itself asked for. In the text a space stands
    /// there.
    pub(crate) line_starts: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Heading { level: u8 },
    Prose,
    Item,
    Row { table: usize, row: usize },
}

/// The words of a table.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Unit {
    pub(crate) fn level(&self) -> Option<u8> {
        match self.kind {
            Kind::Heading { level } => Some(level),
            Kind::Prose | Kind::Item | Kind::Row { .. } => None,
        }
    }

    pub(crate) fn sentence(&self, index: usize) -> &str {
        self.sentences.get(index).map_or("", |range| &self.text[range.clone()])
    }
}

impl Text {
    /// Walks the tree with a stack of its own, because a page decides how deep it is.
    pub(crate) fn of_document(document: &Document) -> Self {
        let mut text = Self::default();
        let mut headings = Vec::new();
        let mut stack: Vec<(&Block, Kind)> =
            document.children.iter().rev().map(|block| (block, Kind::Prose)).collect();
        while let Some((block, kind)) = stack.pop() {
            match block {
                Block::Heading { level, children } => {
                    text.push_heading(*level, flatten(children), &mut headings);
                }
                Block::Paragraph { children } => {
                    text.push(kind, flatten(children), headings.last().copied());
                }
                Block::List { items, .. } => {
                    for item in items.iter().rev() {
                        stack.extend(item.children.iter().rev().map(|child| (child, Kind::Item)));
                    }
                }
                Block::Quote { children } => {
                    stack.extend(children.iter().rev().map(|child| (child, kind)));
                }
                Block::Table(table) => text.push_table(table, headings.last().copied()),
                Block::CodeBlock { .. } | Block::ThematicBreak => {}
            }
        }
        text
    }

    /// The headings above a unit, the nearest first.
    pub(crate) fn headings_above(&self, unit: &Unit) -> impl Iterator<Item = &Unit> {
        let first = unit.heading.and_then(|index| self.units.get(index));
        std::iter::successors(first, |above| above.heading.and_then(|index| self.units.get(index)))
            .take(HEADING_LEVELS)
    }

    /// A row in the words of its table: `Column: value; Column: value`.
    pub(crate) fn row_in_words(&self, table: usize, row: usize) -> String {
        let Some(grid) = self.tables.get(table) else { return String::new() };
        let Some(cells) = grid.rows.get(row) else { return String::new() };
        let mut words = String::new();
        for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            if !words.is_empty() {
                words.push_str("; ");
            }
            if let Some(name) = grid.header.get(column).filter(|name| !name.is_empty()) {
                words.push_str(name);
                words.push_str(": ");
            }
            words.push_str(cell);
        }
        words
    }

    /// Gives every unit the words that `plain`, the plain text of the page, has for it, so that what is
    /// quoted is verbatim. The tree drops what a page should not have, such as control characters; a
    /// unit where it did so loses its words.
    pub(crate) fn keep_quotable(&mut self, plain: &str) {
        // Line ends are spaces in the words of a unit; both are as long.
        let spaced = plain.replace('\n', " ");
        let mut at = 0;
        let mut failures = 0;
        for unit in &mut self.units {
            let found =
                if failures < FAILURES { spaced[at..].find(unit.text.as_str()) } else { None };
            match found {
                Some(before) => {
                    let start = at + before;
                    at = start + unit.text.len();
                    unit.text.replace_range(.., &plain[start..at]);
                }
                None => {
                    failures += 1;
                    unit.text.clear();
                    unit.sentences.clear();
                    unit.line_starts.clear();
                    if let Kind::Row { table, row } = unit.kind {
                        self.tables[table].rows[row].clear();
                    }
                }
            }
        }
    }

    fn push_heading(&mut self, level: u8, words: String, headings: &mut Vec<usize>) {
        if words.trim().is_empty() || has_controls(&words) {
            return;
        }
        while let Some(&above) = headings.last() {
            if self.units[above].level().is_some_and(|above| above < level) {
                break;
            }
            headings.pop();
        }
        let above = headings.last().copied();
        headings.push(self.units.len());
        let sentences = vec![trimmed(&words)];
        let kind = Kind::Heading { level };
        let text = words.replace('\n', " ");
        self.units.push(Unit { kind, text, heading: above, sentences, line_starts: Vec::new() });
    }

    fn push(&mut self, kind: Kind, words: String, heading: Option<usize>) {
        if has_controls(&words) {
            return;
        }
        let line_starts: Vec<usize> = words.match_indices('\n').map(|(at, _)| at + 1).collect();
        let text = words.replace('\n', " ");
        let sentences = sentences(&text, &line_starts);
        if !sentences.is_empty() {
            self.units.push(Unit { kind, text, heading, sentences, line_starts });
        }
    }

    fn push_table(&mut self, table: &Table, heading: Option<usize>) {
        let index = self.tables.len();
        let header: Vec<String> = table.header.iter().map(|cell| cell_words(cell)).collect();
        let mut rows = Vec::with_capacity(table.rows.len());
        for (row, cells) in table.rows.iter().enumerate() {
            let cells: Vec<String> = cells.iter().map(|cell| cell_words(cell)).collect();
            let words = cells.join(CELL_GAP);
            // A row is said as a whole or not at all: half a row loses its columns.
            let whole = trimmed(&words);
            if !whole.is_empty() && !has_controls(&words) {
                let kind = Kind::Row { table: index, row };
                let (sentences, line_starts) = (vec![whole], Vec::new());
                self.units.push(Unit { kind, text: words, heading, sentences, line_starts });
            }
            rows.push(cells);
        }
        self.tables.push(Grid { header, rows });
    }
}

fn cell_words(cell: &[Inline]) -> String {
    flatten(cell).replace('\n', " ").trim().to_owned()
}

/// The sentences of a paragraph. One goes on over the end of a line, as in text that was wrapped by
/// hand; a line with a label, and the one after it, begin anew.
fn sentences(text: &str, line_starts: &[usize]) -> Vec<Range<usize>> {
    let ends = line_starts.iter().copied().chain([text.len()]);
    let starts = [0].into_iter().chain(line_starts.iter().copied());
    let (mut found, mut begin, mut was_labelled) = (Vec::new(), 0, false);
    let mut take = |range: Range<usize>| {
        let part = sentence::split(&text[range.clone()]);
        found.extend(part.into_iter().map(|it| range.start + it.start..range.start + it.end));
    };
    for (start, end) in starts.zip(ends) {
        let is_labelled = labelled(text[start..end].trim()).is_some();
        if (is_labelled || was_labelled) && start > begin {
            take(begin..start);
            begin = start;
        }
        was_labelled = is_labelled;
    }
    take(begin..text.len());
    found
}

/// `Label: value`, `Label – value`.
pub(crate) fn labelled(line: &str) -> Option<(&str, &str)> {
    let head = &line[..line.floor_char_boundary(LABEL_BYTES)];
    let (at, gap) = head
        .find(": ")
        .map(|at| (at, 2))
        .or_else(|| head.find('：').map(|at| (at, '：'.len_utf8())))
        .or_else(|| head.find(" – ").map(|at| (at, " – ".len())))
        .or_else(|| head.find(" — ").map(|at| (at, " — ".len())))?;
    let (label, value) = (&line[..at], &line[at + gap..]);
    // A sentence with a colon is no label.
    (word::count(label) <= LABEL_WORDS && !label.contains(". ")).then_some((label, value))
}

/// The words of inline nodes, in order. A mark that points at a citation has none.
fn flatten(inlines: &[Inline]) -> String {
    let mut words = String::new();
    let mut stack: Vec<&Inline> = inlines.iter().rev().collect();
    while let Some(inline) = stack.pop() {
        match inline {
            Inline::Text { text } | Inline::Code { text } => words.push_str(text),
            Inline::Strong { children } | Inline::Em { children } => {
                stack.extend(children.iter().rev());
            }
            Inline::Link { children, .. } => stack.extend(children.iter().rev()),
            Inline::Cite { .. } => {}
        }
    }
    words
}

/// Whether nobody wrote this by hand. It is not cited: a terminal would obey it, and JSON blows it up.
fn has_controls(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
}

fn trimmed(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start.max(text.trim_end().len())
}

/// What the plain text of a page has between two cells.
pub(crate) const CELL_GAP: &str = "\t";

const HEADING_LEVELS: usize = 6;

/// Longer is no label.
const LABEL_BYTES: usize = 60;
const LABEL_WORDS: usize = 6;

/// A page with more oddities than this is not quoted any further: each costs a look at all of it.
const FAILURES: usize = 64;
