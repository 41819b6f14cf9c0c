//! The blocks of a Markdown text, as far as cutting it needs them: headings, fenced code, tables,
//! and everything else, which ends at an empty line.
//!
//! It reads line by line and looks back by one. What it takes for text although it is more (code
//! that is indented, a list) may be cut between its lines.

use std::ops::Range;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// With the empty lines behind it.
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Heading {
        level: usize,
    },
    Fence {
        opening: Range<usize>,
        /// What ends it.
        marks: String,
        closing: Option<Range<usize>>,
    },
    Table {
        /// With the line under it.
        header: Range<usize>,
    },
    Text,
}

/// The blocks of `text`, in order and without gaps.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader { blocks: Vec::new(), ended: true, last_line: 0..0 };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        reader.read(text, at..at + line.len());
        at += line.len();
    }
    reader.blocks
}

struct Reader {
    blocks: Vec<Block>,
    /// Whether the next line that is not empty starts a new block.
    ended: bool,
    last_line: Range<usize>,
}

impl Reader {
    fn read(&mut self, text: &str, range: Range<usize>) {
        let line = &text[range.clone()];
        let previous = std::mem::replace(&mut self.last_line, range.clone());
        if let Some(Block { range: block, kind: Kind::Fence { marks, closing, .. } }) =
            self.blocks.last_mut()
            && closing.is_none()
        {
            block.end = range.end;
            if closes_fence(line, marks) {
                *closing = Some(range);
                self.ended = true;
            }
            return;
        }
        if line.trim().is_empty() {
            self.ended = true;
            match self.blocks.last_mut() {
                Some(block) => block.range.end = range.end,
                None => self.blocks.push(Block { range, kind: Kind::Text }),
            }
            return;
        }
        if let Some(marks) = fence_marks(line) {
            let kind =
                Kind::Fence { opening: range.clone(), marks: marks.to_owned(), closing: None };
            self.blocks.push(Block { range, kind });
            self.ended = false;
        } else if let Some(level) = heading_level(line) {
            self.blocks.push(Block { range, kind: Kind::Heading { level } });
            self.ended = true;
        } else if self.ended {
            self.blocks.push(Block { range, kind: Kind::Text });
            self.ended = false;
        } else if let Some(block) = self.blocks.last_mut() {
            let starts_table = block.kind == Kind::Text
                && is_table_rule(line)
                && text[previous.clone()].contains('|');
            block.range.end = range.end;
            if starts_table {
                let header = previous.start..range.end;
                let kind = Kind::Table { header: header.clone() };
                if block.range.start == header.start {
                    block.kind = kind;
                } else {
                    block.range.end = header.start;
                    self.blocks.push(Block { range: header, kind });
                }
            }
        }
    }
}

/// The marks of a line that starts fenced code. They may be indented by a list that they are in.
fn fence_marks(line: &str) -> Option<&str> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    let (marks, info) = line.split_at(length);
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(marks)
}

fn closes_fence(line: &str, marks: &str) -> bool {
    let line = line.trim();
    line.starts_with(marks)
        && marks.chars().next().is_some_and(|mark| line.chars().all(|c| c == mark))
}

fn heading_level(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = &line[indent..];
    let level = line.len() - line.trim_start_matches('#').len();
    let ends = line[level..].chars().next().is_none_or(char::is_whitespace);
    (indent <= 3 && (1..=6).contains(&level) && ends).then_some(level)
}

/// `|---|:-:|`
fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('-')
        && line.contains('|')
        && line.bytes().all(|byte| matches!(byte, b'-' | b'|' | b':' | b' ' | b'\t'))
}
