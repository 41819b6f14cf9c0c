//! Blocks onto pages: their sizes, spaces and marks.

use sabir_document::{Block, Inline, ListItem};
use unicode_width::UnicodeWidthChar as _;

use super::flow::{Area, Fill, Flow, Heading, Side, Strip};
use super::fonts::Face;
use super::look::{Color, INK, LINK, Look, MONO_SIZE, MUTED, Span, spans};
use super::paragraph::{Line, Paragraph};
use super::table;
use crate::flat::flatten;
use crate::spacing::{is_close, is_loose};

/// In what a block stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) area: Area,
    pub(super) size: f32,
    pub(super) color: Color,
    /// How many lists are around it.
    pub(super) lists: usize,
}

impl Place {
    pub(super) fn new(area: Area) -> Self {
        Self { area, size: BODY, color: INK, lists: 0 }
    }

    pub(super) fn look(&self) -> Look {
        Look::new(Face::Regular, self.size, self.color)
    }

    pub(super) fn leading(&self) -> f32 {
        self.size * LEADING
    }

    /// Further in, as long as enough is left to read in.
    fn indented(&self, by: f32) -> Option<Self> {
        let area = Area { left: self.area.left + by, width: self.area.width - by };
        (area.width >= NARROWEST).then_some(Self { area, ..*self })
    }
}

/// It recurses: the depth of a document in normal form is bounded.
pub(super) fn blocks(flow: &mut Flow<'_>, blocks: &[Block], place: Place) {
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            let before = &blocks[index - 1];
            flow.gap(match place.lists > 0 && is_close(before, block) {
                true => ITEM_GAP,
                false => gap_before(block).max(gap_after(before)),
            });
        }
        self::block(flow, block, place);
    }
}

fn block(flow: &mut Flow<'_>, block: &Block, place: Place) {
    match block {
        Block::Heading { level, children } => heading(flow, *level, children, place),
        Block::Paragraph { children } => paragraph(flow, &spans(children, &place.look()), place),
        Block::List { ordered, items } => list(flow, *ordered, items, place),
        Block::Quote { children } => quote(flow, children, place),
        Block::CodeBlock { text, .. } => code(flow, text, place),
        Block::Table(table) => table::table(flow, table, place),
        Block::ThematicBreak => rule(flow, place),
    }
}

pub(super) fn heading(flow: &mut Flow<'_>, level: u8, children: &[Inline], place: Place) {
    let size = match level {
        1 => 16.5,
        2 => 13.5,
        3 => 11.5,
        _ => BODY,
    };
    let color = if level > 4 { MUTED } else { place.color };
    let base = Look::new(Face::Bold, size, color);
    let leading = size * 1.3;
    let paragraph = Paragraph::new(&mut flow.fonts, &spans(children, &base));
    let lines = paragraph.lines(&mut flow.fonts, place.area.width);
    // A heading at the foot of a page would head nothing.
    let height = lines.len() as f32 * leading + gap_after_heading(level) + 2.0 * place.leading();
    flow.ensure(height);
    let text = flatten(children, &mut |_| None);
    let text = text.chars().take(LONGEST_BOOKMARK).collect();
    let spot = flow.spot();
    flow.headings.push(Heading { level, text, spot });
    for line in lines {
        flow.line(line, place.area, Side::Start, leading, size);
    }
}

pub(super) fn paragraph(flow: &mut Flow<'_>, spans: &[Span<'_>], place: Place) {
    let paragraph = Paragraph::new(&mut flow.fonts, spans);
    let lines = paragraph.lines(&mut flow.fonts, place.area.width);
    let leading = place.leading();
    let count = lines.len();
    for (index, line) in lines.into_iter().enumerate() {
        let left = count - index;
        // No first line stays behind alone, and no last one goes on alone.
        let is_torn = (index == 0 && left > 1) || (left == 2 && index > 1);
        if is_torn {
            flow.ensure(2.0 * leading);
        }
        flow.line(line, place.area, Side::Start, leading, place.size);
    }
}

fn list(flow: &mut Flow<'_>, ordered: bool, items: &[ListItem], place: Place) {
    let gap = if is_loose(items) { GAP } else { ITEM_GAP };
    let last = mark(flow, &number(items.len()), place);
    let indent = match ordered {
        true => (last.width + MARK_GAP).max(INDENT),
        false => INDENT,
    };
    let Some(inner) = place.indented(indent) else {
        // Too deep to go further in: the words still come.
        items.iter().for_each(|item| blocks(flow, &item.children, place));
        return;
    };
    let inner = Place { lists: place.lists + 1, ..inner };
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            flow.gap(gap);
        }
        let text = match ordered {
            true => number(index + 1),
            false => BULLETS[place.lists % BULLETS.len()].to_owned(),
        };
        let line = mark(flow, &text, place);
        flow.wait_with_mark(inner.area.left - MARK_GAP, line);
        blocks(flow, &item.children, inner);
        if flow.has_waiting_marks() {
            paragraph(flow, &[], inner);
        }
    }
}

fn number(number: usize) -> String {
    format!("{number}.")
}

fn mark(flow: &mut Flow<'_>, text: &str, place: Place) -> Line {
    let span = Span { text: text.into(), look: Look { color: MUTED, ..place.look() } };
    let paragraph = Paragraph::new(&mut flow.fonts, &[span]);
    let mut lines = paragraph.lines(&mut flow.fonts, f32::INFINITY);
    lines.swap_remove(0)
}

fn quote(flow: &mut Flow<'_>, children: &[Block], place: Place) {
    let Some(inner) = place.indented(QUOTE_INDENT) else {
        blocks(flow, children, place);
        return;
    };
    let strip = Strip { x: place.area.left, width: 2.5, color: RULE };
    let inner = Place { color: MUTED, ..inner };
    flow.with_strip(strip, |flow| blocks(flow, children, inner));
}

fn code(flow: &mut Flow<'_>, text: &str, place: Place) {
    let size = place.size * MONO_SIZE * 0.95;
    let look = Look::new(Face::Mono, size, INK);
    let leading = size * 1.4;
    let Area { left, width } = place.area;
    let area = Area { left: left + CODE_PAD, width: (width - 2.0 * CODE_PAD).max(NARROWEST / 2.0) };
    let mut lines = Vec::new();
    for line in text.lines() {
        // Lines of code break anywhere, and their spaces count.
        let span = Span { text: solid(line).into(), look: look.clone() };
        lines.extend(Paragraph::new(&mut flow.fonts, &[span]).lines(&mut flow.fonts, area.width));
    }
    // The edge of the box, and a first line that is not alone.
    flow.ensure(CODE_PAD + leading * lines.len().clamp(1, 2) as f32);
    let strip = Strip { x: left, width, color: SHADE };
    flow.with_strip(strip, |flow| {
        flow.advance(CODE_PAD);
        for line in lines {
            flow.line(line, area, Side::Left, leading, size);
        }
        flow.advance(CODE_PAD.min(flow.room().max(0.0)));
    });
}

/// A line of code with tabs as spaces and spaces as such that no line ends at.
fn solid(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars() {
        let columns = match c {
            '\t' => TAB - column % TAB,
            _ => c.width().unwrap_or(0),
        };
        match c {
            '\t' => out.extend(std::iter::repeat_n('\u{A0}', columns)),
            c if c.is_whitespace() => out.push('\u{A0}'),
            c => out.push(c),
        }
        column += columns;
    }
    out
}

fn rule(flow: &mut Flow<'_>, place: Place) {
    flow.ensure(place.leading());
    flow.advance(5.0);
    let fill = Fill {
        x: place.area.left,
        y: flow.y(),
        width: place.area.width,
        height: 0.75,
        color: RULE,
    };
    flow.fill(fill);
    flow.advance(5.0);
}

fn gap_before(block: &Block) -> f32 {
    match block {
        Block::Heading { level: 1, .. } => 20.0,
        Block::Heading { level: 2, .. } => 17.0,
        Block::Heading { .. } => 13.0,
        Block::Table(_) | Block::CodeBlock { .. } | Block::Quote { .. } => 9.0,
        Block::Paragraph { .. } | Block::List { .. } | Block::ThematicBreak => GAP,
    }
}

fn gap_after(block: &Block) -> f32 {
    match block {
        Block::Heading { level, .. } => gap_after_heading(*level),
        Block::Table(_) | Block::CodeBlock { .. } | Block::Quote { .. } => 9.0,
        Block::Paragraph { .. } | Block::List { .. } | Block::ThematicBreak => GAP,
    }
}

fn gap_after_heading(level: u8) -> f32 {
    if level <= 2 { 7.0 } else { 5.0 }
}

pub(super) const BODY: f32 = 10.0;
pub(super) const SMALL: f32 = 9.0;
pub(super) const RULE: Color = Color(209, 215, 222);
pub(super) const SHADE: Color = Color(244, 246, 248);
pub(super) const ACCENT: Color = LINK;
/// Lines of Noto need air.
const LEADING: f32 = 1.5;
pub(super) const GAP: f32 = 7.0;
const ITEM_GAP: f32 = 2.5;
const INDENT: f32 = 17.0;
const MARK_GAP: f32 = 6.5;
const QUOTE_INDENT: f32 = 14.0;
const CODE_PAD: f32 = 7.0;
/// Less than this is no column to read in.
const NARROWEST: f32 = 200.0;
const TAB: usize = 4;
const BULLETS: [&str; 2] = ["•", "–"];
const LONGEST_BOOKMARK: usize = 200;
