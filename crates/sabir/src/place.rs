//! Byte offsets as the lines and columns that people read.

use std::cell::Cell;

use sabir_base::{LineCol, LineIndex};

/// Lines and columns of one text.
///
/// Findings come more or less in order, so counting goes on from the last place asked for, forward
/// or back: a thousand findings in one line of ten megabytes cost one walk over the line, not a
/// thousand.
#[derive(Debug)]
pub(crate) struct Places<'t> {
    text: &'t str,
    lines: LineIndex,
    /// The offset asked for last and its column.
    last: Cell<(u32, u32)>,
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, lines: LineIndex::new(text), last: Cell::new((0, 1)) }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Both count from one; a column counts characters.
    pub(crate) fn of(&self, offset: u32) -> LineCol {
        let (line, start) = self.lines.line_of(offset);
        let (known, column) = self.last.get();
        let same_line = self.lines.line_of(known).0 == line;
        let column = if same_line && known <= offset {
            column + self.characters(known, offset)
        } else if same_line && known - offset < offset - start {
            column - self.characters(offset, known)
        } else {
            1 + self.characters(start, offset)
        };
        self.last.set((offset, column));
        LineCol { line: line + 1, column }
    }

    fn characters(&self, from: u32, to: u32) -> u32 {
        let between = self.text.as_bytes().get(from as usize..to as usize).unwrap_or_default();
        // A byte that continues a character is not a character of its own.
        between.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u32
    }

    /// The bytes of the line that holds `offset`, without its line break.
    pub(crate) fn line_at(&self, offset: u32) -> std::ops::Range<usize> {
        let (line, start) = self.lines.line_of(offset);
        let end = if line + 1 < self.lines.line_count() {
            self.lines.start_of(line + 1) as usize - 1
        } else {
            self.text.len()
        };
        start as usize..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_agree_with_the_index_in_any_order() {
        let text = "añb\n\nçd e\nlast";
        let places = Places::new(text);
        let index = LineIndex::new(text);
        for offset in [5, 9, 9, 7, 0, 14, 2, 16, 6, 4] {
            assert_eq!(places.of(offset), index.line_col(text, offset), "at {offset}");
        }
        assert_eq!(&text[places.line_at(8)], "çd e");
        assert_eq!(&text[places.line_at(14)], "last");
    }
}
