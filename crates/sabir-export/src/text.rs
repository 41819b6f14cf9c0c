//! A sheet as plain text that reads well in any window: lines of eighty columns, lists with their
//! marks, tables in columns, links as numbers that are listed at the end.

mod table;
mod wrap;

use std::collections::HashMap;

use sabir_document::{Block, Inline, ListItem, Table};
use unicode_width::UnicodeWidthStr as _;

use self::wrap::wrap;
use crate::clean::without_controls;
use crate::flat::flatten;
use crate::sheet::Sheet;
use crate::spacing::{is_close, is_loose};

pub(crate) fn write(sheet: &Sheet) -> String {
    let highest = sheet.references.iter().map(|entry| entry.number).max().unwrap_or(0);
    let mut writer = Writer { links: Links::after(highest), ..Writer::default() };
    writer.heading(1, &sheet.title);
    if !sheet.origin.is_empty() {
        writer.gap();
        writer.paragraph(&sheet.origin);
    }
    if !sheet.body.is_empty() {
        writer.gap();
    }
    writer.blocks(&sheet.body);
    if !sheet.references.is_empty() {
        writer.gap();
        writer.heading(2, "References");
        writer.gap();
        for entry in &sheet.references {
            let line = flatten(&entry.line, &mut |href| Some(format!("<{href}>")));
            writer.inside(&format!("[{}] ", entry.number), "    ", |inner| inner.paragraph(&line));
        }
    }
    if !sheet.legend.is_empty() {
        writer.gap();
        sheet.legend.iter().for_each(|meaning| writer.paragraph(meaning));
    }
    let links = std::mem::take(&mut writer.links.listed);
    if !links.is_empty() {
        writer.gap();
        writer.heading(2, "Links");
        writer.gap();
        links.iter().for_each(|(number, href)| writer.line(&format!("[{number}] {href}")));
    }
    without_controls(writer.out)
}

#[derive(Default)]
struct Writer {
    out: String,
    /// What every line starts with.
    prefix: String,
    /// What the next line starts with instead: it holds the marks of items that begin there.
    lead: Option<String>,
    links: Links,
}

/// The addresses that links lead to, numbered on from the references.
#[derive(Default)]
struct Links {
    highest: u64,
    listed: Vec<(u64, String)>,
    numbers: HashMap<String, u64>,
}

impl Links {
    fn after(highest: u32) -> Self {
        Self { highest: u64::from(highest), ..Self::default() }
    }

    fn number(&mut self, href: &str) -> u64 {
        if let Some(number) = self.numbers.get(href) {
            return *number;
        }
        self.highest += 1;
        self.listed.push((self.highest, href.to_owned()));
        self.numbers.insert(href.to_owned(), self.highest);
        self.highest
    }
}

impl Writer {
    fn blocks(&mut self, blocks: &[Block]) {
        self.spaced(blocks, |_, _| false);
    }

    /// An empty line between the blocks, except where two are close.
    fn spaced(&mut self, blocks: &[Block], is_close: fn(&Block, &Block) -> bool) {
        for (index, block) in blocks.iter().enumerate() {
            if index > 0 && !is_close(&blocks[index - 1], block) {
                self.gap();
            }
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading { level, children } => {
                let text = self.flat(children);
                self.heading(*level, &text);
            }
            Block::Paragraph { children } => {
                let text = self.flat(children);
                self.paragraph(&text);
            }
            Block::List { ordered, items } => self.list(*ordered, items),
            Block::Quote { children } => self.inside("> ", "> ", |inner| inner.blocks(children)),
            Block::CodeBlock { text, .. } => {
                self.inside("    ", "    ", |inner| text.lines().for_each(|line| inner.line(line)));
            }
            Block::Table(table) => self.table(table),
            Block::ThematicBreak => {
                let width = self.room();
                self.line(&"-".repeat(width));
            }
        }
    }

    fn list(&mut self, ordered: bool, items: &[ListItem]) {
        let is_loose = is_loose(items);
        let digits = items.len().to_string().len();
        for (index, item) in items.iter().enumerate() {
            if index > 0 && is_loose {
                self.gap();
            }
            let mark = match ordered {
                true => format!("{:>digits$}. ", index + 1),
                false => "- ".to_owned(),
            };
            self.inside(&mark, &" ".repeat(mark.len()), |inner| match is_loose {
                true => inner.blocks(&item.children),
                false => inner.spaced(&item.children, is_close),
            });
        }
    }

    fn heading(&mut self, level: u8, text: &str) {
        let rule = match level {
            1 => "=",
            2 => "-",
            _ => "~",
        };
        let lines = wrap(text, self.room());
        let width = lines.iter().map(|line| line.width()).max().unwrap_or(0);
        lines.iter().for_each(|line| self.line(line));
        self.line(&rule.repeat(width.min(WIDTH)));
    }

    fn paragraph(&mut self, text: &str) {
        let room = self.room();
        text.split('\n').flat_map(|line| wrap(line, room)).for_each(|line| self.line(&line));
    }

    fn table(&mut self, table: &Table) {
        let texts = |cells: &Vec<Vec<Inline>>, writer: &mut Self| -> Vec<String> {
            cells.iter().map(|cell| writer.flat(cell)).collect()
        };
        let header = texts(&table.header, self);
        let rows: Vec<Vec<String>> = table.rows.iter().map(|row| texts(row, self)).collect();
        match table::columns(&header, &rows, &table.align, self.room()) {
            Some(lines) => lines.iter().for_each(|line| self.line(line)),
            None => self.records(&header, &rows),
        }
    }

    /// A table with more columns than fit: one line for each cell that says something.
    fn records(&mut self, header: &[String], rows: &[Vec<String>]) {
        if rows.is_empty() {
            self.paragraph(&header.join(", "));
        }
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                self.gap();
            }
            for (name, value) in header.iter().zip(row).filter(|(_, value)| !value.is_empty()) {
                self.inside("", "  ", |inner| inner.paragraph(&format!("{name}: {value}")));
            }
        }
    }

    fn flat(&mut self, inlines: &[Inline]) -> String {
        flatten(inlines, &mut |href| Some(format!("[{}]", self.links.number(href))))
    }

    /// Writes behind `first` on the first line and `rest` on the others.
    fn inside(&mut self, first: &str, rest: &str, write: impl FnOnce(&mut Self)) {
        // What stands deeper than this would have no room left.
        if self.prefix.width() + rest.width() > DEEPEST {
            write(self);
            return;
        }
        let outer = self.prefix.len();
        let lead = self.lead.take().unwrap_or_else(|| self.prefix.clone()) + first;
        self.prefix.push_str(rest);
        self.lead = Some(lead);
        write(self);
        // An item without a word has its mark all the same.
        if self.lead.is_some() {
            self.line("");
        }
        self.prefix.truncate(outer);
    }

    fn room(&self) -> usize {
        WIDTH - self.prefix.width()
    }

    fn line(&mut self, text: &str) {
        let lead = self.lead.take();
        let start = self.out.len();
        self.out.push_str(lead.as_ref().unwrap_or(&self.prefix));
        self.out.push_str(text);
        let end = self.out[start..].trim_end().len();
        self.out.truncate(start + end);
        self.out.push('\n');
    }

    /// An empty line, except where an item begins.
    fn gap(&mut self) {
        if self.lead.is_none() {
            self.line("");
        }
    }
}

const WIDTH: usize = 80;
/// The widest that marks and indents grow.
const DEEPEST: usize = 40;
