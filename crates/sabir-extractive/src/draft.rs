//! What the model says: a document whose statements are passages of the sources, each with its
//! citation. It chooses nothing.

use std::collections::HashMap;
use std::ops::Range;

use sabir_document::{Block, Document, Inline, ListItem, Table};
use serde_json::Value;

use crate::source::Page;
use crate::text::Kind;

/// An answer that is not yet a packet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    pub title: String,
    pub document: Document,
    /// In the order of their numbers: the mark `1` points at the first.
    pub quotes: Vec<Quote>,
    /// What `web.extract` found.
    pub data: Option<Value>,
}

/// The source's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Which of the sources, as an index.
    pub source: usize,
    pub text: String,
    /// The heading that the words stand under.
    pub heading: Option<String>,
}

/// A stretch of one unit of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) page: usize,
    pub(crate) unit: usize,
    pub(crate) range: Range<usize>,
}

impl Passage {
    pub(crate) fn text<'p>(&self, pages: &'p [Page<'_>]) -> &'p str {
        &pages[self.page].text.units[self.unit].text[self.range.clone()]
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (self.page, self.unit) == (other.page, other.unit)
            && self.range.start < other.range.end
            && other.range.start < self.range.end
    }

    /// The whole unit.
    pub(crate) fn unit(pages: &[Page<'_>], page: usize, unit: usize) -> Self {
        let sentences = &pages[page].text.units[unit].sentences;
        let start = sentences.first().map_or(0, |first| first.start);
        let end = sentences.last().map_or(0, |last| last.end);
        Self { page, unit, range: start..end }
    }
}

/// Builds a [`Draft`] from passages.
#[derive(Debug)]
pub(crate) struct Composer<'p, 's> {
    pages: &'p [Page<'s>],
    blocks: Vec<Block>,
    quotes: Vec<Quote>,
    numbers: HashMap<(usize, String), u32>,
}

impl<'p, 's> Composer<'p, 's> {
    pub(crate) fn new(pages: &'p [Page<'s>]) -> Self {
        Self { pages, blocks: Vec::new(), quotes: Vec::new(), numbers: HashMap::new() }
    }

    pub(crate) fn finish(self, title: impl Into<String>) -> Draft {
        let document = Document { children: self.blocks };
        Draft {
            title: one_line(&title.into(), TITLE_BYTES),
            document,
            quotes: self.quotes,
            data: None,
        }
    }

    /// Whether there is room for another citation.
    pub(crate) fn has_room(&self) -> bool {
        self.quotes.len() < QUOTES
    }

    /// A mark that points at the words of the passage.
    pub(crate) fn cite(&mut self, passage: &Passage) -> Vec<Inline> {
        let page = &self.pages[passage.page];
        let words = cut(passage.text(self.pages), QUOTE_BYTES);
        let key = (passage.page, words.to_owned());
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None if !self.has_room() => return Vec::new(),
            None => {
                let unit = &page.text.units[passage.unit];
                let heading = page.text.headings_above(unit).next();
                self.quotes.push(Quote {
                    source: passage.page,
                    text: words.to_owned(),
                    heading: heading.map(|heading| one_line(&heading.text, TITLE_BYTES)),
                });
                let number = u32::try_from(self.quotes.len()).unwrap_or(u32::MAX);
                self.numbers.insert(key, number);
                number
            }
        };
        vec![Inline::text(" "), Inline::Cite { reference: number }]
    }

    /// The words of the passage as a person reads them, and the mark.
    pub(crate) fn say(&mut self, passage: &Passage) -> Vec<Inline> {
        let mut inlines = vec![Inline::text(self.words(passage))];
        inlines.extend(self.cite(passage));
        inlines
    }

    /// The words of the passage on one line. A row is told with the names of its columns.
    pub(crate) fn words(&self, passage: &Passage) -> String {
        let text = &self.pages[passage.page].text;
        match text.units[passage.unit].kind {
            Kind::Row { table, row } => one_line(&text.row_in_words(table, row), QUOTE_BYTES),
            Kind::Heading { .. } | Kind::Prose | Kind::Item => {
                one_line(passage.text(self.pages), QUOTE_BYTES)
            }
        }
    }

    pub(crate) fn heading(&mut self, level: u8, text: &str) {
        let children = vec![Inline::text(one_line(text, TITLE_BYTES))];
        self.blocks.push(Block::Heading { level, children });
    }

    pub(crate) fn paragraph(&mut self, children: Vec<Inline>) {
        self.blocks.push(Block::Paragraph { children });
    }

    pub(crate) fn sentence(&mut self, text: impl Into<String>) {
        self.paragraph(vec![Inline::text(text)]);
    }

    pub(crate) fn bullets(&mut self, items: Vec<Vec<Inline>>) {
        self.list(false, items);
    }

    pub(crate) fn numbered(&mut self, items: Vec<Vec<Inline>>) {
        self.list(true, items);
    }

    pub(crate) fn table(&mut self, header: Vec<Vec<Inline>>, rows: Vec<Vec<Vec<Inline>>>) {
        if !rows.is_empty() {
            self.blocks.push(Block::Table(Table { header, rows, align: Vec::new() }));
        }
    }

    pub(crate) fn block(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Says that nobody wrote this text, for whoever gets to see it alone.
    pub(crate) fn notice(&mut self, cut: bool) {
        let mut words = NOTICE.to_owned();
        if cut {
            words.push_str(" Some sources were too long to be read to their end.");
        }
        self.paragraph(vec![Inline::Em { children: vec![Inline::text(words)] }]);
    }

    fn list(&mut self, ordered: bool, items: Vec<Vec<Inline>>) {
        if !items.is_empty() {
            self.blocks.push(list(ordered, items));
        }
    }
}

/// A list whose items are a line each.
pub(crate) fn list(ordered: bool, items: Vec<Vec<Inline>>) -> Block {
    let items = items
        .into_iter()
        .map(|children| ListItem { children: vec![Block::Paragraph { children }] })
        .collect();
    Block::List { ordered, items }
}

/// `text` with single spaces between its words, and an ellipsis where it was longer than `bytes`.
pub(crate) fn one_line(text: &str, bytes: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        if line.len() + word.len() > bytes {
            line.push_str(cut(word, bytes.saturating_sub(line.len())));
            line.truncate(line.trim_end().len());
            line.push('…');
            break;
        }
        line.push_str(word);
    }
    line
}

/// At most `bytes` of `text`, cut between words where there is a gap in the second half.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let head = &text[..text.floor_char_boundary(bytes)];
    match head.rfind(char::is_whitespace).filter(|&gap| gap > bytes / 2) {
        Some(gap) => head[..gap].trim_end(),
        None => head,
    }
}

/// A mark that says nothing but what it is.
pub(crate) fn strong(text: impl Into<String>) -> Inline {
    Inline::Strong { children: vec![Inline::text(text)] }
}

pub(crate) const NOTICE: &str = "Made by selection: each cited line is taken word for word from a source, and nothing was written by a language model.";

/// As much as anybody reads to check a statement.
const QUOTE_BYTES: usize = 600;

const TITLE_BYTES: usize = 120;

/// More than anybody checks. A longer artifact is of no use, and a response has a limit.
const QUOTES: usize = 200;
