//! The plain text of Markdown, and for every byte of it the place that it came from. Citations point
//! with this. It judges no words and knows no tree.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::markdown::parser;

/// Markdown without its marks: blocks with an empty line between, items and rows on lines of their
/// own, cells with a tab between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlainText {
    text: String,
    /// In order, without overlap. Between them stands what separates blocks.
    pieces: Vec<Piece>,
    sections: Vec<Section>,
}

/// A heading and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1 to 6.
    pub level: u8,
    /// The heading in the plain text.
    pub heading: Range<usize>,
    /// From the heading up to the next one of its level or a higher one, in the plain text.
    pub range: Range<usize>,
}

/// A part of the plain text that came from one place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    plain: Range<usize>,
    source: Range<usize>,
    /// Whether both are the same byte for byte, up to white space. Others are mapped as a whole.
    is_even: bool,
}

impl PlainText {
    pub fn of_markdown(markdown: &str) -> PlainText {
        let mut reader = Reader::new(markdown);
        for (event, range) in parser(markdown) {
            reader.take(event, range);
        }
        reader.finish()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The smallest range of the Markdown that the bytes `plain` of the text came from. Separators
    /// came from nowhere: a range of nothing else is empty.
    pub fn source_range(&self, plain: Range<usize>) -> Range<usize> {
        let first = self.pieces.partition_point(|piece| piece.plain.end <= plain.start);
        let last = self.pieces.partition_point(|piece| piece.plain.start < plain.end);
        let start = self.pieces.get(first).map_or_else(
            || self.pieces.last().map_or(0, |piece| piece.source.end),
            |piece| match piece.is_even {
                true => piece.source.start + plain.start.saturating_sub(piece.plain.start),
                false => piece.source.start,
            },
        );
        let end =
            last.checked_sub(1).and_then(|last| self.pieces.get(last)).map_or(
                0,
                |piece| match piece.is_even {
                    true => piece.source.start + plain.end.min(piece.plain.end) - piece.plain.start,
                    false => piece.source.end,
                },
            );
        start..end.max(start)
    }

    /// The headings in order, with what belongs to each.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The innermost section that a place of the plain text is in.
    pub fn section_at(&self, plain: usize) -> Option<&Section> {
        let before = self.sections.partition_point(|section| section.range.start <= plain);
        // The last heading before the place is the innermost one.
        self.sections[..before].last()
    }
}

struct Reader<'m> {
    markdown: &'m str,
    plain: PlainText,
    /// What separates the next text from the one before.
    separator: &'static str,
    heading: Option<(u8, usize)>,
}

impl<'m> Reader<'m> {
    fn new(markdown: &'m str) -> Self {
        Self { markdown, plain: PlainText::default(), separator: "", heading: None }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.push(&text, range)
            }
            Event::Code(text) => {
                let inner = code_range(self.markdown, range, &text);
                self.push(&text, inner);
            }
            Event::SoftBreak => self.push(" ", range),
            // A line feed is the end of an item or a row, and nothing else.
            Event::HardBreak => self.push(" ", range),
            Event::Rule => self.separate("\n\n"),
            // Of extensions that are not switched on.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.push(&text, range);
            }
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Item | Tag::TableRow => self.separate("\n"),
            Tag::TableCell => self.separate("\t"),
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Link { .. }
            | Tag::Image { .. } => {}
            Tag::Heading { level, .. } => {
                self.separate("\n\n");
                self.heading = Some((*level as u8, self.plain.text.len()));
            }
            _ => self.separate("\n\n"),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead => self.separate("\n"),
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Link
            | TagEnd::Image => {}
            TagEnd::TableCell => self.separate("\t"),
            TagEnd::CodeBlock => {
                self.drop_last_line_feed();
                self.separate("\n\n");
            }
            TagEnd::Heading(_) => {
                self.end_heading();
                self.separate("\n\n");
            }
            _ => self.separate("\n\n"),
        }
    }

    /// The strongest separator wins.
    fn separate(&mut self, separator: &'static str) {
        let rank = |separator| match separator {
            "\n\n" => 3,
            "\n" => 2,
            "\t" => 1,
            _ => 0,
        };
        if rank(separator) > rank(self.separator) {
            self.separator = separator;
        }
    }

    fn push(&mut self, text: &str, source: Range<usize>) {
        if text.is_empty() {
            return;
        }
        let separator = std::mem::take(&mut self.separator);
        if !self.plain.text.is_empty() {
            self.plain.text.push_str(separator);
        }
        let start = self.plain.text.len();
        self.plain.text.push_str(text);
        let plain = start..self.plain.text.len();
        let is_even = self.markdown.get(source.clone()).is_some_and(|from| is_same(text, from));
        match self.plain.pieces.last_mut() {
            Some(last)
                if last.is_even
                    && is_even
                    && last.plain.end == start
                    && last.source.end == source.start =>
            {
                last.plain.end = plain.end;
                last.source.end = source.end;
            }
            _ => self.plain.pieces.push(Piece { plain, source, is_even }),
        }
    }

    /// The last line of a code block ends with one, and separators stand between blocks anyway.
    fn drop_last_line_feed(&mut self) {
        let Some(piece) = self.plain.pieces.last_mut() else { return };
        if piece.is_even && piece.plain.len() > 1 && self.plain.text.ends_with('\n') {
            self.plain.text.pop();
            piece.plain.end -= 1;
            piece.source.end -= 1;
        }
    }

    fn end_heading(&mut self) {
        let Some((level, from)) = self.heading.take() else { return };
        let end = self.plain.text.len();
        // What separates the heading from the text before is not part of it.
        let first = self.plain.pieces.partition_point(|piece| piece.plain.end <= from);
        let Some(start) = self.plain.pieces.get(first).map(|piece| piece.plain.start.max(from))
        else {
            return;
        };
        self.plain.sections.push(Section { level, heading: start..end, range: start..end });
    }

    fn finish(mut self) -> PlainText {
        let mut ends = [self.plain.text.len(); 7];
        for section in self.plain.sections.iter_mut().rev() {
            let level = usize::from(section.level.clamp(1, 6));
            section.range.end = ends[level];
            // Sections of this level and deeper ones before this heading end here.
            ends[level..].fill(section.range.start);
        }
        self.plain
    }
}

/// Where the text of a code span stands, between its ticks.
fn code_range(markdown: &str, range: Range<usize>, text: &str) -> Range<usize> {
    let span = &markdown[range.clone()];
    let ticks = span.bytes().take_while(|byte| *byte == b'`').count();
    let inner = range.start + ticks..range.end.saturating_sub(ticks).max(range.start + ticks);
    // A space at each end is not part of the text. Marks of quotes may be missing from it, too.
    let between = markdown.get(inner.start + 1..inner.end.saturating_sub(1));
    match between.is_some_and(|between| is_same(text, between)) {
        true => inner.start + 1..inner.end - 1,
        false => inner,
    }
}

/// Whether a text is what stands there. Line ends may have become spaces.
fn is_same(text: &str, from: &str) -> bool {
    let mut both = text.bytes().zip(from.bytes());
    text.len() == from.len()
        && both.all(|(byte, was)| byte == was || byte == b' ' && was.is_ascii_whitespace())
}
