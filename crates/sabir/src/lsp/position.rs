//! Byte offsets to an editor's lines and characters, and back.

use std::cell::Cell;

use sabir_base::Span;

use super::types::{Position, Range};

/// What an editor counts when it says "character".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Encoding {
    Utf8,
    /// What every client understands.
    #[default]
    Utf16,
}

impl Encoding {
    /// How many units `text` has.
    pub(super) fn width(self, text: &str) -> u32 {
        match self {
            Encoding::Utf8 => text.len() as u32,
            // One unit for each character, a second one for those that take four bytes.
            Encoding::Utf16 => text
                .bytes()
                .map(|byte| u32::from(byte & 0xC0 != 0x80) + u32::from(byte >= 0xF0))
                .sum(),
        }
    }
}

/// The lines of a text as the protocol sees them: `\n`, `\r\n` and a lone `\r` all end one.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    encoding: Encoding,
    /// Where each line starts; never empty.
    starts: Vec<u32>,
    /// The offset asked for last and its character: answers to a whole document come in order, and
    /// counting from the start of a very long line each time would make them quadratic.
    last: Cell<(u32, u32)>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |&(at, &byte): &(usize, &u8)| {
            byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        };
        let breaks = bytes.iter().enumerate().filter(ends_line);
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect();
        Self { text, encoding, starts, last: Cell::new((0, 0)) }
    }

    pub(super) fn position(&self, offset: u32) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.starts[line];
        let (known, character) = self.last.get();
        let width = |from: u32, to: u32| {
            self.encoding.width(self.text.get(from as usize..to as usize).unwrap_or_default())
        };
        let next = self.starts.get(line + 1).copied().unwrap_or(u32::MAX);
        let same_line = start <= known && known < next;
        let character = if same_line && known <= offset {
            character + width(known, offset)
        } else if same_line && known - offset < offset - start {
            character - width(offset, known)
        } else {
            width(start, offset)
        };
        self.last.set((offset, character));
        Position { line: line as u32, character }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        let start = self.position(span.start);
        Range { start, end: self.position(span.end) }
    }

    /// The nearest offset that lies in the text and on a character boundary: positions past the end
    /// of a line mean its end, and lines past the last one the end of the text.
    pub(super) fn offset(&self, position: Position) -> u32 {
        let Some(&start) = self.starts.get(position.line as usize) else {
            return self.text.len() as u32;
        };
        let next = self.starts.get(position.line as usize + 1);
        let end = next.map_or(self.text.len(), |&next| next as usize);
        let line = self.text[start as usize..end].trim_end_matches(['\r', '\n']);
        let mut seen = 0;
        for (at, c) in line.char_indices() {
            let width = match self.encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            } as u32;
            if seen + width > position.character {
                return start + at as u32;
            }
            seen += width;
        }
        start + line.len() as u32
    }

    pub(super) fn span(&self, range: Range) -> Span {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        Span::new(start.min(end), start.max(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé\r\n𝄞b\rc\n\n";

    #[test]
    fn every_boundary_survives_both_encodings() {
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let lines = Lines::new(TEXT, encoding);
            for (at, _) in TEXT.char_indices().chain([(TEXT.len(), ' ')]) {
                // Between `\r` and `\n` there is no position.
                if at == 4 {
                    continue;
                }
                let position = lines.position(at as u32);
                assert_eq!(lines.offset(position), at as u32, "{encoding:?} {position:?}");
            }
        }
    }

    #[test]
    fn characters_are_counted_in_units() {
        let position = |line, character| Position { line, character };
        let utf16 = Lines::new(TEXT, Encoding::Utf16);
        let after_clef = TEXT.find('b').unwrap() as u32;
        assert_eq!(utf16.position(after_clef), position(1, 2));
        assert_eq!(utf16.offset(position(1, 1)), 5, "half a pair is the start of its character");
        assert_eq!(utf16.offset(position(1, 99)), after_clef + 1);
        assert_eq!(utf16.offset(position(99, 0)), TEXT.len() as u32);
        let utf8 = Lines::new(TEXT, Encoding::Utf8);
        assert_eq!(utf8.position(after_clef), position(1, 4));
        assert_eq!(utf8.offset(position(0, 2)), 1, "half a character is its start");
        // Out of order: nothing is remembered wrongly.
        assert_eq!(utf8.position(1), position(0, 1));
        assert_eq!(Encoding::Utf16.width("aé𝄞"), 4);
    }
}
