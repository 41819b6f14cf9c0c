//! The tree: blocks of inlines, and nothing that could carry markup of another language.

/// How many lists and quotes a block may stand in, and how many marks (strong, emphasis, link) a
/// text. Nobody reads deeper, and walks over a tree may recurse.
pub const MAX_DEPTH: usize = 64;

/// Rich text as data. What a model answers with, what a page becomes, what is printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    pub children: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Heading {
        /// 1 to 6.
        level: u8,
        children: Vec<Inline>,
    },
    Paragraph {
        children: Vec<Inline>,
    },
    List {
        ordered: bool,
        items: Vec<ListItem>,
    },
    Quote {
        children: Vec<Block>,
    },
    CodeBlock {
        language: Option<String>,
        text: String,
    },
    Table(Table),
    ThematicBreak,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListItem {
    pub children: Vec<Block>,
}

/// Every row has as many cells as the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub header: Vec<Cell>,
    pub rows: Vec<Vec<Cell>>,
    /// As many as there are columns, or none.
    pub align: Vec<Align>,
}

/// What stands in a cell of a table.
pub type Cell = Vec<Inline>;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Align {
    #[default]
    None,
    Left,
    Center,
    Right,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    /// A line feed in it is a line break, except in headings and cells, which have one line.
    Text {
        text: String,
    },
    Strong {
        children: Vec<Inline>,
    },
    Em {
        children: Vec<Inline>,
    },
    Code {
        text: String,
    },
    Link {
        href: String,
        children: Vec<Inline>,
    },
    /// A mark that points at the citation with this number, counted from 1.
    Cite {
        reference: u32,
    },
}

impl Inline {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}
