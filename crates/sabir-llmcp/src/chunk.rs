//! Long Markdown in parts that can be read one by one.
//!
//! A part starts under the headings that its text stood under, and neither a code block nor a table
//! loses its meaning at a cut. The parts cover the text without a gap. It knows sizes, no tokens;
//! what a part costs, the caller counts.

use std::collections::VecDeque;
use std::ops::Range;

use sabir_base::text::one_line;

mod blocks;
mod pieces;

use blocks::{Block, Kind};
use pieces::Piece;

/// One part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Counted from 1.
    pub index: usize,
    pub count: usize,
    /// What it covers. The ranges of all chunks follow each other from the first byte to the last.
    pub range: Range<usize>,
    /// Headings, the start of a code block, the header of a table: what was said before.
    before: String,
    /// The end of a code block that goes on.
    after: String,
}

impl Chunk {
    /// The part as it can be read alone. `text` is the text that was split.
    pub fn markdown(&self, text: &str) -> String {
        let body = text.get(self.range.clone()).unwrap_or("");
        format!("{}{body}{}", self.before, self.after)
    }
}

/// Splits Markdown into chunks of about `size` bytes, not counting what is repeated.
pub fn split_chunks(text: &str, size: usize) -> Vec<Chunk> {
    let size = size.max(MIN_SIZE);
    let pieces: Vec<Piece> =
        blocks::blocks(text).iter().flat_map(|block| pieces::cut(text, block, size)).collect();
    let starts = starts(&pieces, size);
    let mut headings = Headings::default();
    let mut chunks = Vec::with_capacity(starts.len());
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(pieces.len());
        let parts = &pieces[start..end];
        let [first, ..] = parts else { continue };
        let before = format!("{}{}", headings.above(first.heading), first.before);
        let last = parts.last().unwrap_or(first);
        for piece in parts {
            if let Some(level) = piece.heading {
                headings.enter(level, &text[piece.range.clone()]);
            }
        }
        chunks.push(Chunk {
            index: index + 1,
            count: starts.len(),
            range: first.range.start..last.range.end,
            before,
            after: last.after.clone(),
        });
    }
    chunks
}

/// Which of `count` chunks to show when not all of them fit: the first, those that are `preferred`,
/// the last, and then one after the other in the middle of the widest gap. In the order of the text.
///
/// `cost` is asked once for each that is considered. After a few that do not fit no more are.
pub fn choose_chunks(
    count: usize,
    budget: usize,
    preferred: &[usize],
    mut cost: impl FnMut(usize) -> usize,
) -> Vec<usize> {
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let mut seen = vec![false; count];
    let mut chosen = Vec::new();
    let mut left = budget;
    let mut misses = 0;
    let order = std::iter::once(0).chain(preferred.iter().copied()).chain([last]);
    for index in order.chain(middles(last)) {
        match seen.get_mut(index) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        match left.checked_sub(cost(index)) {
            Some(rest) => {
                chosen.push(index);
                left = rest;
            }
            None => misses += 1,
        }
        if misses == MAX_MISSES {
            break;
        }
    }
    chosen.sort_unstable();
    chosen
}

/// What stands for chunks that are not shown.
pub fn gap_mark(left_out: usize) -> String {
    let noun = if left_out == 1 { "chunk" } else { "chunks" };
    format!("[… {left_out} {noun} left out …]")
}

/// Where chunks start: at the first piece, where the next would be too large, before a heading in
/// the second half, and before what goes on from an earlier chunk.
fn starts(pieces: &[Piece], size: usize) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    let mut start = 0;
    let mut filled = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let length = piece.range.len();
        let late_heading = piece.heading.is_some() && filled > size / 2;
        if index == 0 {
            starts.push(0);
        } else if piece.continues || filled + length > size || late_heading {
            // Headings at the end go along with the text that they are for.
            let headings = pieces[start + 1..index]
                .iter()
                .rev()
                .take(MAX_CARRIED)
                .take_while(|piece| piece.heading.is_some())
                .count();
            let carried: usize =
                pieces[index - headings..index].iter().map(|piece| piece.range.len()).sum();
            let fits = !piece.continues && carried + length <= size;
            (start, filled) = if fits { (index - headings, carried) } else { (index, 0) };
            starts.push(start);
        }
        filled += length;
    }
    starts
}

/// The middle, the middles of both halves, and so on.
fn middles(last: usize) -> impl Iterator<Item = usize> {
    let mut open = VecDeque::from([(0, last)]);
    std::iter::from_fn(move || {
        while let Some((low, high)) = open.pop_front() {
            if high - low >= 2 {
                let middle = low + (high - low) / 2;
                open.extend([(low, middle), (middle, high)]);
                return Some(middle);
            }
        }
        None
    })
}

/// The headings that the text at a place stands under.
#[derive(Default)]
struct Headings {
    open: Vec<(usize, String)>,
}

impl Headings {
    fn enter(&mut self, level: usize, line: &str) {
        self.open.retain(|(above, _)| *above < level);
        self.open.push((level, one_line(line, MAX_HEADING)));
    }

    /// As Markdown, for a text that starts with a heading of this level, or with none.
    fn above(&self, level: Option<usize>) -> String {
        let stays = |above: usize| level.is_none_or(|level| above < level);
        self.open
            .iter()
            .filter(|(above, _)| stays(*above))
            .map(|(_, line)| format!("{line}\n\n"))
            .collect()
    }
}

/// Chunks are of about one size: if so many do not fit, the others hardly will.
const MAX_MISSES: usize = 8;

/// Below this a chunk would be more repetition than text.
const MIN_SIZE: usize = 256;

/// As many as there are levels. A page of nothing but headings would be carried on for ever.
const MAX_CARRIED: usize = 6;

/// A heading is repeated with every chunk below it.
const MAX_HEADING: usize = 120;
