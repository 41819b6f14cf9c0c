//! How blocks that follow each other stand: close, or apart. It knows no lines and no points.

use sabir_document::{Block, ListItem};

/// Whether the items of a list stand apart: one of them has more to it than a text and the lists
/// below it.
pub(crate) fn is_loose(items: &[ListItem]) -> bool {
    items.iter().any(|item| {
        item.children.iter().filter(|block| !matches!(block, Block::List { .. })).count() > 1
    })
}

/// Whether nothing comes between two blocks of an item: a text and the list below it.
pub(crate) fn is_close(before: &Block, after: &Block) -> bool {
    matches!((before, after), (Block::Paragraph { .. }, Block::List { .. }))
}
