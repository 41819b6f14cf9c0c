//! A paragraph: its words, where it may break, and its lines for a given width. It knows no page.

use std::rc::Rc;

use krilla::text::Glyph as _;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

use super::fonts::{Fonts, Order, Piece, Shaped};
use super::look::{Look, Span};

pub(super) struct Paragraph {
    looks: Vec<Look>,
    words: Vec<Word>,
    direction: Direction,
}

/// What stands between two places where a line may end.
#[derive(Default)]
struct Word {
    parts: Vec<Part>,
    width: f32,
    /// The space behind it, which no line ends with.
    space: Option<Part>,
    ends_line: bool,
}

#[derive(Clone)]
struct Part {
    shaped: Rc<Shaped>,
    look: usize,
    width: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    LeftToRight,
    RightToLeft,
}

pub(super) struct Line {
    pub(super) parts: Vec<Placed>,
    pub(super) width: f32,
    pub(super) direction: Direction,
}

/// Glyphs of one font at a place in a line.
pub(super) struct Placed {
    pub(super) x: f32,
    pub(super) width: f32,
    pub(super) piece: Piece,
    pub(super) look: Look,
}

impl Paragraph {
    pub(super) fn new(fonts: &mut Fonts<'_>, spans: &[Span<'_>]) -> Self {
        let looks: Vec<Look> = spans.iter().map(|span| span.look.clone()).collect();
        let text: String = spans.iter().map(|span| span.text.as_ref()).collect();
        let mut at =
            Cursor { spans, span: 0, end: spans.first().map_or(0, |span| span.text.len()) };
        let mut words = Vec::new();
        let mut start = 0;
        for stop in break_places(&text) {
            let chunk = &text[start..stop];
            let shown = start + chunk.trim_end_matches(is_breaking_space).len();
            let mut word = Word { ends_line: chunk.ends_with('\n'), ..Word::default() };
            let mut from = start;
            while from < shown {
                let look = at.go_to(from);
                let to = at.end.min(shown);
                if to <= from {
                    break;
                }
                word.push(fonts, &text[from..to], look, &looks[look]);
                from = to;
            }
            if shown < stop && !word.ends_line {
                let look = at.go_to(shown);
                word.space = Some(Part::new(fonts, " ", look, &looks[look]));
            }
            words.push(word);
            start = stop;
        }
        Self { direction: direction_of(&text), looks, words }
    }

    /// The width of the widest line if none were broken.
    pub(super) fn natural_width(&self) -> f32 {
        let mut widest = 0.0_f32;
        let mut line = 0.0;
        for word in &self.words {
            line += word.width;
            widest = widest.max(line);
            match word.ends_line {
                true => line = 0.0,
                false => line += word.space.as_ref().map_or(0.0, |space| space.width),
            }
        }
        widest
    }

    pub(super) fn widest_word(&self) -> f32 {
        self.words.iter().map(|word| word.width).fold(0.0, f32::max)
    }

    /// What it costs to draw once more.
    pub(super) fn weight(&self) -> usize {
        let parts = self.words.iter().flat_map(|word| &word.parts);
        let pieces = parts.flat_map(|part| &part.shaped.pieces);
        let glyphs: usize = pieces.map(|piece| piece.glyphs.len()).sum();
        self.words.len() + glyphs
    }

    /// At least one line. A word that is wider than the line is cut.
    pub(super) fn lines(&self, fonts: &mut Fonts<'_>, width: f32) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut line: Vec<Part> = Vec::new();
        let mut used = 0.0;
        for word in &self.words {
            if !line.is_empty() && used + word.width > width + TOLERANCE {
                lines.push(self.line(std::mem::take(&mut line)));
                used = 0.0;
            }
            let parts = match word.width > width + TOLERANCE {
                true => self.cut(fonts, word),
                false => word.parts.clone(),
            };
            for part in parts {
                if !line.is_empty() && used + part.width > width + TOLERANCE {
                    lines.push(self.line(std::mem::take(&mut line)));
                    used = 0.0;
                }
                used += part.width;
                line.push(part);
            }
            if word.ends_line {
                lines.push(self.line(std::mem::take(&mut line)));
                used = 0.0;
            } else if let Some(space) = &word.space {
                used += space.width;
                line.push(space.clone());
            }
        }
        if !line.is_empty() || lines.is_empty() {
            lines.push(self.line(line));
        }
        lines
    }

    /// Character by character.
    fn cut(&self, fonts: &mut Fonts<'_>, word: &Word) -> Vec<Part> {
        let mut parts = Vec::new();
        for part in &word.parts {
            for piece in &part.shaped.pieces {
                for cluster in piece.text.graphemes(true) {
                    parts.push(Part::new(fonts, cluster, part.look, &self.looks[part.look]));
                }
            }
        }
        parts
    }

    fn line(&self, mut parts: Vec<Part>) -> Line {
        while parts.last().is_some_and(Part::is_space) {
            parts.pop();
        }
        arrange(&mut parts, self.direction);
        let mut placed: Vec<Placed> = Vec::new();
        let mut x = 0.0;
        for part in &parts {
            let look = &self.looks[part.look];
            let mut pieces: Vec<&Piece> = part.shaped.pieces.iter().collect();
            if part.direction() == Some(Direction::RightToLeft) {
                pieces.reverse();
            }
            for piece in pieces {
                let width = piece.width * look.size;
                match placed.last_mut() {
                    Some(last) if last.takes(piece, look) => last.append(piece, width),
                    _ => placed.push(Placed { x, width, piece: piece.clone(), look: look.clone() }),
                }
                x += width;
            }
        }
        Line { parts: placed, width: x, direction: self.direction }
    }
}

/// The span that a place of the text is in; places come in order.
struct Cursor<'s, 't> {
    spans: &'s [Span<'t>],
    span: usize,
    end: usize,
}

impl Cursor<'_, '_> {
    fn go_to(&mut self, place: usize) -> usize {
        while self.end <= place
            && let Some(next) = self.spans.get(self.span + 1)
        {
            self.span += 1;
            self.end += next.text.len();
        }
        self.span
    }
}

impl Word {
    fn push(&mut self, fonts: &mut Fonts<'_>, text: &str, index: usize, look: &Look) {
        let part = Part::new(fonts, text, index, look);
        self.width += part.width;
        self.parts.push(part);
    }
}

impl Part {
    fn new(fonts: &mut Fonts<'_>, text: &str, index: usize, look: &Look) -> Self {
        let shaped = fonts.shape(text, look.face);
        Self { width: shaped.width * look.size, look: index, shaped }
    }

    fn is_space(&self) -> bool {
        self.shaped.pieces.iter().all(|piece| piece.text.trim().is_empty())
    }

    /// None for what takes the direction of its neighbours.
    fn direction(&self) -> Option<Direction> {
        self.shaped.pieces.iter().flat_map(|piece| piece.text.chars()).find_map(strong_direction)
    }
}

impl Placed {
    fn takes(&self, piece: &Piece, look: &Look) -> bool {
        self.piece.font == piece.font
            && self.look.is_like(look)
            && self.piece.order == Order::Forward
            && piece.order == Order::Forward
    }

    fn append(&mut self, piece: &Piece, width: f32) {
        let offset = self.piece.text.len();
        self.piece.text.push_str(&piece.text);
        self.piece.glyphs.extend(piece.glyphs.iter().map(|glyph| {
            let mut glyph = glyph.clone();
            let range = glyph.text_range();
            glyph.text_range = range.start + offset..range.end + offset;
            glyph
        }));
        self.piece.width += piece.width;
        self.width += width;
    }
}

/// From the order of reading to the order on the page: runs against the direction of the paragraph
/// are turned. Words are the smallest that is turned; inside of one the font's shaping does it.
fn arrange(parts: &mut [Part], base: Direction) {
    let mut directions: Vec<Option<Direction>> = parts.iter().map(Part::direction).collect();
    if base == Direction::LeftToRight && !directions.contains(&Some(RTL)) {
        return;
    }
    // What is neutral goes along with its neighbours if they agree, and with the paragraph if not.
    let mut after = Some(base);
    let mut nexts: Vec<Option<Direction>> = directions
        .iter()
        .rev()
        .map(|direction| {
            after = direction.or(after);
            after
        })
        .collect();
    nexts.reverse();
    let mut before = Some(base);
    for (direction, next) in directions.iter_mut().zip(nexts) {
        match direction {
            Some(_) => before = *direction,
            None => *direction = if next == before { before } else { Some(base) },
        }
    }
    if base == RTL {
        parts.reverse();
        directions.reverse();
    }
    let mut start = 0;
    while start < parts.len() {
        let run = directions[start..].iter().take_while(|it| **it == directions[start]).count();
        if directions[start] != Some(base) {
            parts[start..start + run].reverse();
        }
        start += run;
    }
}

/// Where lines may end, as offsets behind the last character; the end of the text is one.
fn break_places(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut before = [None, None];
    for (at, c) in text.char_indices() {
        if let [two_before, Some(one_before)] = before
            && may_break(two_before, one_before, c)
        {
            places.push(at);
        }
        before = [before[1], Some(c)];
    }
    if !text.is_empty() {
        places.push(text.len());
    }
    places
}

fn may_break(two_before: Option<char>, before: char, after: char) -> bool {
    if before == '\n' {
        return true;
    }
    if is_breaking_space(before) {
        return !is_breaking_space(after);
    }
    if is_breaking_space(after) {
        return false;
    }
    let is_after_word = two_before.is_some_and(char::is_alphanumeric);
    match before {
        '-' | '–' | '/' | '&' | '?' => is_after_word && after.is_alphanumeric(),
        '—' | '\u{200B}' => true,
        _ if is_wide(before) || is_wide(after) => {
            !OPENING.contains(before) && !CLOSING.contains(after) && after.width() != Some(0)
        }
        _ => false,
    }
}

/// Scripts without spaces between words.
fn is_wide(c: char) -> bool {
    !c.is_ascii() && c.width() == Some(2)
}

fn is_breaking_space(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{A0}' | '\u{2007}' | '\u{202F}')
}

fn direction_of(text: &str) -> Direction {
    text.chars().find_map(strong_direction).unwrap_or(Direction::LeftToRight)
}

fn strong_direction(c: char) -> Option<Direction> {
    match c {
        '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFE}' => Some(RTL),
        '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}' => Some(RTL),
        _ if c.is_alphanumeric() => Some(Direction::LeftToRight),
        _ => None,
    }
}

const RTL: Direction = Direction::RightToLeft;
/// What adding up fractions may be wrong by.
const TOLERANCE: f32 = 0.01;
const OPENING: &str = "（［｛「『〈《【〔“‘([{";
const CLOSING: &str = "）］｝」』〉》】〕”’、。，．：；！？ー々…)]},.:;!?";
