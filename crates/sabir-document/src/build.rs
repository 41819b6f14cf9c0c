//! Builds trees that are in normal form, from whatever order of blocks and inlines it is told of.
//!
//! Both readers of trees feed it: the one of Markdown and the one that brings a tree into normal form.
//! So there is one normal form. It knows neither of them.

mod inline;

pub(crate) use inline::{Lines, Mark};

use self::inline::InlineBuilder;
use crate::{Align, Block, Cell, Document, ListItem, MAX_DEPTH, Table};

/// Takes blocks in order: containers are opened and closed, inlines go into the open paragraph,
/// heading or cell. Inlines that stand in none of them make a paragraph.
#[derive(Debug)]
pub(crate) struct Builder {
    /// The open lists and quotes. The first is the document and stays.
    open: Vec<Frame>,
    /// How many containers are open that are too deep to be kept.
    too_deep: usize,
    leaf: Option<(Leaf, InlineBuilder)>,
    table: Option<TableBuilder>,
}

#[derive(Debug)]
enum Frame {
    /// The document, a quote or an item.
    Blocks {
        kind: Kind,
        children: Vec<Block>,
    },
    List {
        ordered: bool,
        items: Vec<ListItem>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Document,
    Quote,
    Item,
}

#[derive(Debug, Clone, Copy)]
enum Leaf {
    Paragraph,
    Heading(u8),
    Cell,
}

#[derive(Debug)]
struct TableBuilder {
    table: Table,
    /// The row that is being read; the first is the header.
    row: Vec<Cell>,
    in_header: bool,
    /// How many empty cells may still be added to rows that are too short.
    room: usize,
}

impl Builder {
    pub(crate) fn new() -> Self {
        let document = Frame::Blocks { kind: Kind::Document, children: Vec::new() };
        Self { open: vec![document], too_deep: 0, leaf: None, table: None }
    }

    pub(crate) fn finish(mut self) -> Document {
        self.end_leaf();
        self.end_table();
        self.too_deep = 0;
        while self.open.len() > 1 {
            self.close();
        }
        match self.open.pop() {
            Some(Frame::Blocks { children, .. }) => Document { children },
            Some(Frame::List { .. }) | None => Document::default(),
        }
    }

    pub(crate) fn open_quote(&mut self) {
        self.open_container(Frame::Blocks { kind: Kind::Quote, children: Vec::new() });
    }

    pub(crate) fn open_list(&mut self, ordered: bool) {
        self.open_container(Frame::List { ordered, items: Vec::new() });
    }

    /// Only in a list.
    pub(crate) fn open_item(&mut self) {
        self.end_leaf();
        if self.too_deep > 0 || !matches!(self.open.last(), Some(Frame::List { .. })) {
            self.too_deep += 1;
        } else {
            self.open.push(Frame::Blocks { kind: Kind::Item, children: Vec::new() });
        }
    }

    fn open_container(&mut self, frame: Frame) {
        self.end_leaf();
        let is_item = |frame: &&Frame| matches!(frame, Frame::Blocks { kind: Kind::Item, .. });
        let depth = self.open.len() - self.open.iter().filter(is_item).count();
        // The document is no depth.
        if self.too_deep > 0 || depth > MAX_DEPTH {
            self.too_deep += 1;
        } else {
            self.open.push(frame);
        }
    }

    /// The innermost quote, list or item.
    pub(crate) fn close(&mut self) {
        self.end_leaf();
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if self.open.len() < 2 {
            return;
        }
        match self.open.pop() {
            // What holds nothing says nothing.
            Some(Frame::Blocks { children, .. }) if children.is_empty() => {}
            Some(Frame::Blocks { kind: Kind::Item, children }) => {
                if let Some(Frame::List { items, .. }) = self.open.last_mut() {
                    items.push(ListItem { children });
                }
            }
            Some(Frame::Blocks { children, .. }) => self.push(Block::Quote { children }),
            Some(Frame::List { items, .. }) if items.is_empty() => {}
            Some(Frame::List { ordered, items }) => self.push(Block::List { ordered, items }),
            None => {}
        }
    }

    fn push(&mut self, block: Block) {
        match self.open.last_mut() {
            Some(Frame::Blocks { children, .. }) => children.push(block),
            // Markdown puts nothing between the items of a list, and neither does the tree.
            Some(Frame::List { .. }) | None => {}
        }
    }

    pub(crate) fn start_paragraph(&mut self) {
        self.start_leaf(Leaf::Paragraph);
    }

    pub(crate) fn start_heading(&mut self, level: u8) {
        self.start_leaf(Leaf::Heading(level.clamp(1, 6)));
    }

    fn start_leaf(&mut self, leaf: Leaf) {
        self.end_leaf();
        let lines = match leaf {
            Leaf::Paragraph => Lines::Several,
            Leaf::Heading(_) | Leaf::Cell => Lines::One,
        };
        self.leaf = Some((leaf, InlineBuilder::new(lines)));
    }

    /// The open paragraph, heading or cell, if there is one.
    pub(crate) fn end_leaf(&mut self) {
        let Some((leaf, builder)) = self.leaf.take() else { return };
        let children = builder.finish();
        match leaf {
            Leaf::Paragraph | Leaf::Heading(_) if children.is_empty() => {}
            Leaf::Paragraph => self.push(Block::Paragraph { children }),
            Leaf::Heading(level) => self.push(Block::Heading { level, children }),
            Leaf::Cell => {
                if let Some(table) = &mut self.table {
                    table.row.push(children);
                }
            }
        }
    }

    fn inlines(&mut self) -> &mut InlineBuilder {
        let (_, builder) =
            self.leaf.get_or_insert_with(|| (Leaf::Paragraph, InlineBuilder::new(Lines::Several)));
        builder
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.inlines().text(text);
    }

    pub(crate) fn code(&mut self, text: &str) {
        self.inlines().code(text);
    }

    pub(crate) fn cite(&mut self, reference: u32) {
        self.inlines().cite(reference);
    }

    pub(crate) fn open_mark(&mut self, mark: Mark) {
        self.inlines().open(mark);
    }

    pub(crate) fn close_mark(&mut self) {
        self.inlines().close();
    }

    pub(crate) fn code_block(&mut self, language: Option<&str>, text: &str) {
        self.end_leaf();
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{FFFD}");
        self.push(Block::CodeBlock { language: language.and_then(language_word), text });
    }

    pub(crate) fn thematic_break(&mut self) {
        self.end_leaf();
        self.push(Block::ThematicBreak);
    }

    pub(crate) fn start_table(&mut self, align: Vec<Align>) {
        self.end_leaf();
        let table = Table { align, ..Table::default() };
        self.table =
            Some(TableBuilder { table, row: Vec::new(), in_header: true, room: MAX_ADDED_CELLS });
    }

    pub(crate) fn start_cell(&mut self) {
        self.start_leaf(Leaf::Cell);
    }

    pub(crate) fn end_row(&mut self) {
        self.end_leaf();
        if let Some(table) = &mut self.table {
            table.end_row();
        }
    }

    pub(crate) fn end_table(&mut self) {
        self.end_leaf();
        let Some(TableBuilder { mut table, .. }) = self.table.take() else { return };
        let width = table.header.len();
        if width == 0 {
            return;
        }
        match table.align.iter().all(|align| *align == Align::None) {
            true => table.align.clear(),
            false => table.align.resize(width, Align::None),
        }
        self.push(Block::Table(table));
    }
}

impl TableBuilder {
    fn end_row(&mut self) {
        let mut row = std::mem::take(&mut self.row);
        if self.in_header {
            self.in_header = false;
            self.table.header = row;
            return;
        }
        let width = self.table.header.len();
        row.truncate(width);
        let missing = width - row.len();
        if missing <= self.room {
            self.room -= missing;
            row.resize_with(width, Cell::new);
            self.table.rows.push(row);
        }
    }
}

/// The first word of what stands behind a fence, if it could be the name of a language.
fn language_word(info: &str) -> Option<String> {
    let word = info.split_whitespace().next()?;
    let is_plain = |c: char| c.is_alphanumeric() || "+#._-/".contains(c);
    (word.len() <= MAX_LANGUAGE && word.chars().all(is_plain)).then(|| word.to_owned())
}

/// A table of thousands of columns with thousands of empty rows would fill the memory. The parser
/// of Markdown stops at the same number.
const MAX_ADDED_CELLS: usize = 1 << 18;

const MAX_LANGUAGE: usize = 64;
