//! The headings of each source, nested as they are, each with the first sentence below it.

use sabir_document::{Block, Inline, ListItem};

use crate::boilerplate::is_boilerplate;
use crate::draft::{Composer, Passage, strong};
use crate::source::Page;

pub(super) fn compose(pages: &[Page<'_>], count: usize, draft: &mut Composer<'_, '_>) {
    let mut left = count;
    for (page, read) in pages.iter().enumerate() {
        if left == 0 {
            draft.sentence(format!("Sources that are not outlined: {}.", pages.len() - page));
            break;
        }
        draft.heading(2, read.name());
        let entries = entries(pages, page, left);
        left -= entries.len();
        if entries.is_empty() {
            draft.sentence("This source has no text.");
        } else {
            let list = nest(entries, draft);
            draft.block(list);
        }
    }
}

struct Entry {
    level: u8,
    title: Option<String>,
    first: Option<Passage>,
}

fn entries(pages: &[Page<'_>], page: usize, most: usize) -> Vec<Entry> {
    let units = &pages[page].text.units;
    let mut entries: Vec<Entry> = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        match unit.level() {
            Some(_) if unit.text.is_empty() => {}
            Some(level) => {
                if entries.len() == most {
                    break;
                }
                entries.push(Entry { level, title: Some(unit.text.clone()), first: None });
            }
            None if is_boilerplate(unit) => {}
            None => {
                let Some(range) = unit.sentences.first() else { continue };
                let passage = Passage { page, unit: number, range: range.clone() };
                match entries.last_mut() {
                    Some(last) if last.first.is_none() => last.first = Some(passage),
                    Some(_) => {}
                    // Text before the first heading is outlined by itself.
                    None => entries.push(Entry { level: 1, title: None, first: Some(passage) }),
                }
            }
        }
    }
    entries
}

/// Lists inside of lists. Headings have six levels, so this goes six deep at most.
fn nest(entries: Vec<Entry>, draft: &mut Composer<'_, '_>) -> Block {
    let mut open: Vec<(u8, Vec<ListItem>)> = vec![(0, Vec::new())];
    for entry in entries {
        while open.len() > 1 && open.last().is_some_and(|(level, _)| *level >= entry.level) {
            close(&mut open);
        }
        let mut line = Vec::new();
        if let Some(title) = &entry.title {
            line.push(strong(crate::draft::one_line(title, 200)));
        }
        if let Some(first) = &entry.first {
            if !line.is_empty() {
                line.push(Inline::text(": "));
            }
            line.extend(draft.say(first));
        }
        let item = ListItem { children: vec![Block::Paragraph { children: line }] };
        open.push((entry.level, vec![item]));
    }
    while open.len() > 1 {
        close(&mut open);
    }
    let items = open.pop().map(|(_, items)| items).unwrap_or_default();
    Block::List { ordered: false, items }
}

/// Hangs the innermost item, whose own list is complete, into the list around it.
fn close(open: &mut Vec<(u8, Vec<ListItem>)>) {
    let Some((_, mut items)) = open.pop() else { return };
    let mut inner = items.split_off(1.min(items.len()));
    let Some(mut item) = items.pop() else { return };
    if !inner.is_empty() {
        let items = std::mem::take(&mut inner);
        item.children.push(Block::List { ordered: false, items });
    }
    if let Some((_, around)) = open.last_mut() {
        around.push(item);
    }
}
