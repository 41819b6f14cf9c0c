//! Cutting a document to a number of characters, between blocks where that can be. It knows nothing
//! of pages.

use sabir_document::{Block, Document, Inline};

pub(super) struct Cut {
    pub(super) document: Document,
    pub(super) markdown: String,
    /// Of the whole.
    pub(super) chars: usize,
    pub(super) truncated: bool,
}

/// The beginning of a document whose Markdown has at most `limit` characters, the mark at its end
/// included. `is_part` says that the document was not whole to begin with.
pub(super) fn cut(document: Document, limit: usize, is_part: bool) -> Cut {
    let markdown = document.to_markdown();
    let chars = markdown.chars().count();
    if chars <= limit && !is_part {
        return Cut { document, markdown, chars, truncated: false };
    }
    let mut room = limit.saturating_sub(MARK.chars().count() + 6);
    let mut children = Vec::new();
    for block in document.children {
        let length = length(&block);
        if length > room {
            children.extend(beginning(block, room));
            break;
        }
        room -= length;
        children.push(block);
    }
    children.push(mark());
    let document = Document { children };
    let markdown = document.to_markdown();
    Cut { document, markdown, chars, truncated: true }
}

fn mark() -> Block {
    Block::Paragraph { children: vec![Inline::Em { children: vec![Inline::text(MARK)] }] }
}

/// The characters of a block and of the empty line before it.
fn length(block: &Block) -> usize {
    let alone = Document { children: vec![block.clone()] };
    alone.to_markdown().chars().count() + 1
}

/// As much of a block as fits: whole items, rows and lines, and of a paragraph whole words. Nothing
/// where that would be hardly anything.
fn beginning(block: Block, room: usize) -> Option<Block> {
    if room < LEAST {
        return None;
    }
    match block {
        Block::List { ordered, items } => {
            let items = fitting(items, room, |item| {
                length(&Block::List { ordered, items: vec![item.clone()] })
            });
            (!items.is_empty()).then_some(Block::List { ordered, items })
        }
        Block::Quote { children } => {
            let children = fitting(children, room, |child| 2 * length(child));
            (!children.is_empty()).then_some(Block::Quote { children })
        }
        Block::Table(mut table) => {
            let head = sabir_document::Table { rows: Vec::new(), ..table.clone() };
            let room = room.checked_sub(length(&Block::Table(head.clone())))?;
            table.rows = fitting(table.rows, room, |row| {
                let one = sabir_document::Table { rows: vec![row.clone()], ..head.clone() };
                length(&Block::Table(one))
            });
            (!table.rows.is_empty()).then_some(Block::Table(table))
        }
        Block::CodeBlock { language, text } => {
            let end = text.char_indices().nth(room - LEAST / 2).map_or(text.len(), |(at, _)| at);
            let end = text[..end].rfind('\n').unwrap_or(end);
            Some(Block::CodeBlock { language, text: text[..end].to_owned() })
        }
        Block::Paragraph { children } => {
            let line = crate::html::inlines::plain(&children);
            let places: Vec<usize> = line.char_indices().map(|(at, _)| at).take(room).collect();
            let cut_at = |end: usize| {
                let text = Inline::text(format!("{} …", &line[..end]));
                Block::Paragraph { children: vec![text] }
            };
            // Escapes make a text longer, so the place is looked for, not computed.
            let fits = places.partition_point(|end| length(&cut_at(*end)) <= room);
            let end = places.get(fits.checked_sub(1)?).copied()?;
            let end = line[..end].rfind(' ').unwrap_or(end);
            Some(cut_at(end))
        }
        Block::Heading { .. } | Block::ThematicBreak => None,
    }
}

fn fitting<T>(parts: Vec<T>, mut room: usize, length: impl Fn(&T) -> usize) -> Vec<T> {
    let mut kept = Vec::new();
    for part in parts {
        match room.checked_sub(length(&part)) {
            Some(left) => room = left,
            None => break,
        }
        kept.push(part);
    }
    kept
}

const MARK: &str = "Cut here: the page goes on.";

/// Less than this is not worth showing.
const LEAST: usize = 40;
