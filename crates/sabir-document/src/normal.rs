//! The normal form of a tree: what it is after Markdown carried it. It decides nothing itself; the
//! builder does.

use std::slice::Iter;

use crate::build::{Builder, Mark};
use crate::{Block, Document, Inline, ListItem};

impl Document {
    /// This document as it comes back from Markdown: white space collapsed, marks that say nothing
    /// dropped, links that are not safe opened, rows as wide as the header, nothing deeper than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH).
    #[must_use]
    pub fn normalised(&self) -> Document {
        let mut builder = Builder::new();
        let mut todo = vec![Step::Blocks(self.children.iter())];
        // Without recursion, because nothing has bounded the depth of this tree yet.
        while let Some(step) = todo.last_mut() {
            let next = match step {
                Step::Blocks(blocks) => blocks.next().map(Node::Block),
                Step::Items(items) => items.next().map(Node::Item),
            };
            match next {
                None => {
                    todo.pop();
                    builder.close();
                }
                Some(Node::Item(item)) => {
                    builder.open_item();
                    todo.push(Step::Blocks(item.children.iter()));
                }
                Some(Node::Block(Block::List { ordered, items })) => {
                    builder.open_list(*ordered);
                    todo.push(Step::Items(items.iter()));
                }
                Some(Node::Block(Block::Quote { children })) => {
                    builder.open_quote();
                    todo.push(Step::Blocks(children.iter()));
                }
                Some(Node::Block(block)) => add_leaf(&mut builder, block),
            }
        }
        builder.finish()
    }
}

enum Step<'a> {
    Blocks(Iter<'a, Block>),
    Items(Iter<'a, ListItem>),
}

enum Node<'a> {
    Block(&'a Block),
    Item(&'a ListItem),
}

fn add_leaf(builder: &mut Builder, block: &Block) {
    match block {
        Block::Heading { level, children } => {
            builder.start_heading(*level);
            add_inlines(builder, children);
            builder.end_leaf();
        }
        Block::Paragraph { children } => {
            builder.start_paragraph();
            add_inlines(builder, children);
            builder.end_leaf();
        }
        Block::CodeBlock { language, text } => builder.code_block(language.as_deref(), text),
        Block::Table(table) => {
            builder.start_table(table.align.clone());
            for row in std::iter::once(&table.header).chain(&table.rows) {
                for cell in row {
                    builder.start_cell();
                    add_inlines(builder, cell);
                }
                builder.end_row();
            }
            builder.end_table();
        }
        Block::ThematicBreak => builder.thematic_break(),
        // The walk opens these.
        Block::List { .. } | Block::Quote { .. } => {}
    }
}

fn add_inlines(builder: &mut Builder, inlines: &[Inline]) {
    let mut todo = vec![inlines.iter()];
    while let Some(inlines) = todo.last_mut() {
        let (mark, children) = match inlines.next() {
            None => {
                todo.pop();
                if !todo.is_empty() {
                    builder.close_mark();
                }
                continue;
            }
            Some(Inline::Text { text }) => {
                builder.text(text);
                continue;
            }
            Some(Inline::Code { text }) => {
                builder.code(text);
                continue;
            }
            Some(Inline::Cite { reference }) => {
                builder.cite(*reference);
                continue;
            }
            Some(Inline::Strong { children }) => (Mark::Strong, children),
            Some(Inline::Em { children }) => (Mark::Em, children),
            Some(Inline::Link { href, children }) => (Mark::Link { href: href.clone() }, children),
        };
        builder.open_mark(mark);
        todo.push(children.iter());
    }
}
