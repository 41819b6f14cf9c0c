//! Blocks cut to size. A part of a table repeats the header, a part of a code block its fence.

use std::ops::Range;

use super::{Block, Kind};

/// A block, or a part of one.
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    pub(super) heading: Option<usize>,
    /// Whether it is not the first part of its block.
    pub(super) continues: bool,
    /// What makes it readable when a chunk starts or ends with it.
    pub(super) before: String,
    pub(super) after: String,
}

/// The pieces of `block`, each of about `size` bytes at most.
pub(super) fn cut(text: &str, block: &Block, size: usize) -> Vec<Piece> {
    if block.range.len() <= size {
        let after = match &block.kind {
            // A page that never ends its code must not swallow what we say behind it.
            Kind::Fence { marks, closing: None, .. } => end_of_fence(text, block.range.end, marks),
            _ => String::new(),
        };
        return vec![Piece { after, ..piece(block, block.range.clone()) }];
    }
    match &block.kind {
        Kind::Heading { .. } | Kind::Text => {
            ranges(text, block.range.clone(), size).map(|range| piece(block, range)).collect()
        }
        Kind::Table { header } => {
            let repeated = repeatable(text, header, size);
            let rows = lines(text, block.range.clone(), size - repeated.len());
            rows.map(|range| {
                let mut piece = piece(block, range);
                if piece.continues {
                    piece.before.clone_from(&repeated);
                }
                piece
            })
            .collect()
        }
        Kind::Fence { opening, marks, closing } => {
            let closing = closing.clone().unwrap_or(block.range.end..block.range.end);
            cut_fence(text, block, opening, marks, closing, size)
        }
    }
}

/// The last part has the closing line and, if there is room, the empty lines behind it.
fn cut_fence(
    text: &str,
    block: &Block,
    opening: &Range<usize>,
    marks: &str,
    closing: Range<usize>,
    size: usize,
) -> Vec<Piece> {
    if marks.len().max(closing.len()) > size / 8 {
        // Nobody writes such a fence; it is kept as text.
        return ranges(text, block.range.clone(), size).map(|range| piece(block, range)).collect();
    }
    let mut repeated = repeatable(text, opening, size);
    if repeated.is_empty() {
        repeated = format!("{marks}\n");
    }
    let room = size - 2 * repeated.len() - closing.len();
    let mut pieces: Vec<Piece> = lines(text, block.range.start..closing.start, room)
        .map(|range| {
            let piece = piece(block, range);
            let before = if piece.continues { repeated.clone() } else { String::new() };
            Piece { before, after: end_of_fence(text, piece.range.end, marks), ..piece }
        })
        .collect();
    if let Some(last) = pieces.last_mut()
        && !closing.is_empty()
    {
        let fits = block.range.end - last.range.start <= size;
        last.range.end = if fits { block.range.end } else { closing.end };
        last.after.clear();
        let behind = last.range.end..block.range.end;
        pieces.extend(ranges(text, behind, size).map(|range| piece(block, range)));
    }
    pieces
}

fn piece(block: &Block, range: Range<usize>) -> Piece {
    let continues = range.start > block.range.start;
    let heading = match block.kind {
        Kind::Heading { level } if !continues => Some(level),
        _ => None,
    };
    Piece { range, heading, continues, before: String::new(), after: String::new() }
}

fn end_of_fence(text: &str, end: usize, marks: &str) -> String {
    let line_end = if text[..end].ends_with('\n') { "" } else { "\n" };
    format!("{line_end}{marks}\n")
}

/// What is repeated, unless that would be most of each part.
fn repeatable(text: &str, range: &Range<usize>, size: usize) -> String {
    match range.len() <= size / 4 {
        true => text[range.clone()].to_owned(),
        false => String::new(),
    }
}

/// Parts of whole lines; a line that is too long is cut like text.
fn lines(text: &str, range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    parts(text, range, size, |window| window.rfind('\n').map(|at| at + 1))
}

/// Parts that end, if they can, with a line, a sentence or at least a word.
fn ranges(text: &str, range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    parts(text, range, size, |window| {
        let half = window.floor_char_boundary(window.len() / 2);
        let late = |at: Option<usize>| at.filter(|at| *at > half);
        late(window.rfind('\n').map(|at| at + 1)).or_else(|| late(end_of_sentence(window)))
    })
}

fn parts(
    text: &str,
    range: Range<usize>,
    size: usize,
    end_of_part: fn(&str) -> Option<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let start = at;
        let rest = &text[start..range.end];
        at = match rest.len() <= size {
            true => range.end,
            false => {
                let window = &rest[..rest.floor_char_boundary(size).max(1)];
                let end =
                    end_of_part(window).or_else(|| end_of_word(window)).unwrap_or(window.len());
                start + end
            }
        };
        Some(start..at)
    })
}

fn end_of_sentence(window: &str) -> Option<usize> {
    let stops = [". ", "! ", "? ", "。", "！", "？"];
    stops.iter().filter_map(|stop| window.rfind(stop).map(|at| at + stop.len())).max()
}

fn end_of_word(window: &str) -> Option<usize> {
    let half = window.floor_char_boundary(window.len() / 2);
    window.rfind(' ').map(|at| at + 1).filter(|at| *at > half)
}
