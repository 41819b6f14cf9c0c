//! The words of a tree without its marks. It knows nothing of Markdown.

use std::slice::Iter;

use crate::{Block, Cell, Document, Inline, ListItem};

impl Document {
    /// The words: blocks with an empty line between, items on lines of their own, cells with a tab
    /// between. Marks that point at citations are left out.
    pub fn plain_text(&self) -> String {
        let mut out = String::new();
        let mut todo = vec![Step::Blocks(self.children.iter())];
        let mut between = "";
        // The items of a list stand closer together than the list stands to its neighbours.
        let mut is_first_item = false;
        while let Some(step) = todo.last_mut() {
            let block = match step {
                Step::Blocks(blocks) => blocks.next(),
                Step::Items(items) => match items.next() {
                    Some(item) => {
                        let is_first = std::mem::take(&mut is_first_item);
                        between = if is_first { between } else { "\n" };
                        todo.push(Step::Blocks(item.children.iter()));
                        continue;
                    }
                    None => None,
                },
            };
            match block {
                None => {
                    todo.pop();
                    between = if out.is_empty() { "" } else { "\n\n" };
                    continue;
                }
                Some(Block::List { items, .. }) => {
                    is_first_item = true;
                    todo.push(Step::Items(items.iter()));
                    continue;
                }
                Some(Block::Quote { children }) => {
                    todo.push(Step::Blocks(children.iter()));
                    continue;
                }
                Some(Block::ThematicBreak) => continue,
                Some(block) => {
                    out.push_str(between);
                    push_leaf(&mut out, block);
                }
            }
            between = "\n\n";
        }
        out
    }

    /// The beginning of the plain text on one line: at most `max_chars` characters, cut between words,
    /// with an ellipsis where something is missing.
    pub fn excerpt(&self, max_chars: usize) -> String {
        let text = self.plain_text();
        let mut out = String::new();
        let mut room = max_chars;
        for word in text.split_whitespace() {
            let length = word.chars().count() + usize::from(!out.is_empty());
            if length > room {
                return cut(out, word, room);
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
            room -= length;
        }
        out
    }
}

/// Marks that `word` is missing at the end of `out`, for which there is `room`.
fn cut(mut out: String, word: &str, room: usize) -> String {
    if out.is_empty() {
        // A single word that does not fit is cut within.
        out.extend(word.chars().take(room.saturating_sub(1)));
    } else if room == 0 {
        let end = out
            .rfind(' ')
            .unwrap_or_else(|| out.char_indices().next_back().map_or(0, |(at, _)| at));
        out.truncate(end);
    }
    if !out.is_empty() || room > 0 {
        out.push('…');
    }
    out
}

enum Step<'a> {
    Blocks(Iter<'a, Block>),
    Items(Iter<'a, ListItem>),
}

fn push_leaf(out: &mut String, block: &Block) {
    match block {
        Block::Heading { children, .. } | Block::Paragraph { children } => {
            push_inlines(out, children)
        }
        Block::CodeBlock { text, .. } => out.push_str(text),
        Block::Table(table) => {
            push_row(out, &table.header);
            for row in &table.rows {
                out.push('\n');
                push_row(out, row);
            }
        }
        Block::List { .. } | Block::Quote { .. } | Block::ThematicBreak => {}
    }
}

fn push_row(out: &mut String, row: &[Cell]) {
    for (index, cell) in row.iter().enumerate() {
        if index > 0 {
            out.push('\t');
        }
        push_inlines(out, cell);
    }
}

fn push_inlines(out: &mut String, inlines: &[Inline]) {
    let mut todo = vec![inlines.iter()];
    while let Some(inlines) = todo.last_mut() {
        match inlines.next() {
            None => drop(todo.pop()),
            Some(Inline::Text { text } | Inline::Code { text }) => out.push_str(text),
            Some(Inline::Cite { .. }) => {}
            Some(
                Inline::Strong { children }
                | Inline::Em { children }
                | Inline::Link { children, .. },
            ) => todo.push(children.iter()),
        }
    }
}
