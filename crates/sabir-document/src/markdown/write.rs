//! From a tree to Markdown. It writes trees in normal form only, so that what it writes reads back as
//! the same tree.

mod inline;

use super::escape::{Holder, longest_run};
use crate::{Align, Block, Document, ListItem, Table};

impl Document {
    /// CommonMark with the tables of GFM, ending with a line feed unless it is empty. Texts are
    /// escaped, so that they mean themselves; `[1]` is a mark that points at a citation.
    pub fn to_markdown(&self) -> String {
        let document = self.normalised();
        let mut writer = Writer::default();
        writer.blocks(&document.children, None);
        if !writer.out.is_empty() {
            writer.out.push('\n');
        }
        writer.out
    }
}

#[derive(Default)]
struct Writer {
    out: String,
    /// What every line starts with.
    prefix: String,
    /// What the next line starts with instead: it holds the marks of items that begin there.
    lead: Option<String>,
    /// Whether a line was written.
    started: bool,
}

/// With what the items of a list are marked. Lists that follow each other take turns, or they would
/// be one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bullet {
    Dash,
    Plus,
    Dot,
    Bracket,
}

impl Bullet {
    /// `other_than` is the mark of the list right before, or of the item that begins with this list:
    /// three dashes in a row would be a line across the page.
    fn choose(ordered: bool, other_than: Option<Bullet>) -> Self {
        match (ordered, other_than) {
            (false, Some(Bullet::Dash)) => Bullet::Plus,
            (false, _) => Bullet::Dash,
            (true, Some(Bullet::Dot)) => Bullet::Bracket,
            (true, _) => Bullet::Dot,
        }
    }

    fn mark(self, number: usize) -> String {
        match self {
            Bullet::Dash => "- ".to_owned(),
            Bullet::Plus => "+ ".to_owned(),
            Bullet::Dot => format!("{number}. "),
            Bullet::Bracket => format!("{number}) "),
        }
    }
}

impl Writer {
    /// `outer` is the mark of the item that holds the blocks.
    fn blocks(&mut self, blocks: &[Block], outer: Option<Bullet>) {
        let mut before = outer;
        for (index, block) in blocks.iter().enumerate() {
            if index > 0 {
                self.blank_line();
            }
            before = match block {
                Block::List { ordered, items } => {
                    let bullet = Bullet::choose(*ordered, before);
                    self.list(items, bullet);
                    Some(bullet)
                }
                _ => {
                    self.leaf_or_quote(block);
                    None
                }
            };
        }
    }

    fn leaf_or_quote(&mut self, block: &Block) {
        match block {
            Block::Heading { level, children } => {
                let text = inline::line(children, Holder::Heading);
                let marks = "#".repeat(usize::from(*level));
                self.line(format!("{marks} {text}").trim_end_matches(' '));
            }
            Block::Paragraph { children } => {
                inline::line(children, Holder::Paragraph)
                    .split('\n')
                    .for_each(|line| self.line(line));
            }
            Block::Quote { children } => {
                let prefix = self.open("> ", "> ");
                self.blocks(children, None);
                self.shut(prefix);
            }
            Block::CodeBlock { language, text } => {
                let fence = "`".repeat((longest_run(text, '`') + 1).max(3));
                self.line(&format!("{fence}{}", language.as_deref().unwrap_or_default()));
                if !text.is_empty() {
                    text.split('\n').for_each(|line| self.line(line));
                }
                self.line(&fence);
            }
            Block::Table(table) => self.table(table),
            Block::ThematicBreak => self.line("***"),
            Block::List { .. } => {}
        }
    }

    fn list(&mut self, items: &[ListItem], bullet: Bullet) {
        let is_tight = items.iter().all(is_tight);
        for (index, item) in items.iter().enumerate() {
            if index > 0 && !is_tight {
                self.blank_line();
            }
            let mark = bullet.mark(index + 1);
            let prefix = self.open(&mark, &" ".repeat(mark.len()));
            match (&item.children[..], is_tight) {
                ([paragraph, Block::List { ordered, items }], true) => {
                    self.leaf_or_quote(paragraph);
                    self.list(items, Bullet::choose(*ordered, None));
                }
                (children, _) => self.blocks(children, Some(bullet)),
            }
            self.shut(prefix);
        }
    }

    fn table(&mut self, table: &Table) {
        let row = |cells: &[Vec<crate::Inline>]| {
            let cells = cells.iter().map(|cell| format!(" {} |", inline::line(cell, Holder::Cell)));
            format!("|{}", cells.collect::<String>())
        };
        self.line(&row(&table.header));
        let columns = (0..table.header.len()).map(|column| match table.align.get(column) {
            None | Some(Align::None) => " --- |",
            Some(Align::Left) => " :-- |",
            Some(Align::Center) => " :-: |",
            Some(Align::Right) => " --: |",
        });
        self.line(&format!("|{}", columns.collect::<String>()));
        for cells in &table.rows {
            self.line(&row(cells));
        }
    }

    /// Opens a container: its first line starts with `mark`, the others with `indent`. Returns what
    /// [`Writer::shut`] needs.
    fn open(&mut self, mark: &str, indent: &str) -> usize {
        let before = self.prefix.len();
        let mut lead = self.lead.take().unwrap_or_else(|| self.prefix.clone());
        lead.push_str(mark);
        self.lead = Some(lead);
        self.prefix.push_str(indent);
        before
    }

    fn shut(&mut self, prefix: usize) {
        if self.lead.is_some() {
            // Nothing stands in the container, so that only its mark is written.
            self.line("");
        }
        self.prefix.truncate(prefix);
    }

    fn line(&mut self, line: &str) {
        if std::mem::replace(&mut self.started, true) {
            self.out.push('\n');
        }
        let lead = self.lead.take();
        let prefix = lead.as_deref().unwrap_or(&self.prefix);
        self.out.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        self.out.push_str(line);
    }

    fn blank_line(&mut self) {
        self.line("");
    }
}

/// Whether an item needs no empty line around it or in it.
fn is_tight(item: &ListItem) -> bool {
    match &item.children[..] {
        [] | [_] => true,
        [Block::Paragraph { .. }, Block::List { items, .. }] => {
            // A list whose first item is empty would be part of the paragraph.
            let first = items.first().and_then(|item| item.children.first());
            matches!(first, Some(Block::Paragraph { .. }))
        }
        _ => false,
    }
}
