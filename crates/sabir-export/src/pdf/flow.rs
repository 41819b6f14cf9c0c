//! Pages that fill from top to bottom: where the next line goes, and what is drawn beside it. It
//! knows no blocks.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::fonts::Fonts;
use super::look::{Color, Target};
use super::paragraph::{Direction, Line, Placed};

pub(super) struct Flow<'a> {
    pub(super) fonts: Fonts<'a>,
    pub(super) pages: Vec<Page>,
    pub(super) headings: Vec<Heading>,
    /// Where each reference stands.
    pub(super) references: BTreeMap<u32, Spot>,
    /// Where the next line begins, from the top of the page.
    y: f32,
    /// What runs down the page beside or behind the lines, the outermost first.
    strips: Vec<Strip>,
    /// Marks of list items that wait for their first line.
    marks: Vec<(f32, Line)>,
    /// The link that was drawn last, and on how many lines.
    last_link: Option<(Rc<Target>, usize)>,
}

#[derive(Default)]
pub(super) struct Page {
    pub(super) fills: Vec<Fill>,
    pub(super) texts: Vec<Text>,
    pub(super) links: Vec<Link>,
}

/// A rectangle of one colour.
pub(super) struct Fill {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) width: f32,
    pub(super) height: f32,
    pub(super) color: Color,
}

/// Glyphs on a page; `x` and `y` are where their baseline begins.
pub(super) struct Text {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) placed: Placed,
}

pub(super) struct Link {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) width: f32,
    pub(super) height: f32,
    pub(super) target: Rc<Target>,
}

#[derive(Clone, Copy)]
pub(super) struct Strip {
    pub(super) x: f32,
    pub(super) width: f32,
    pub(super) color: Color,
}

/// A place to jump to.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) page: usize,
    pub(super) y: f32,
}

pub(super) struct Heading {
    pub(super) level: u8,
    pub(super) text: String,
    pub(super) spot: Spot,
}

/// A stretch of the page's width.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f32,
    pub(super) width: f32,
}

/// Where the lines of a block stand within its area.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Where its language begins.
    Start,
    Left,
    Center,
    Right,
}

impl<'a> Flow<'a> {
    pub(super) fn new(fonts: Fonts<'a>) -> Self {
        Self {
            fonts,
            pages: vec![Page::default()],
            headings: Vec::new(),
            references: BTreeMap::new(),
            y: TOP,
            strips: Vec::new(),
            marks: Vec::new(),
            last_link: None,
        }
    }

    pub(super) fn spot(&self) -> Spot {
        Spot { page: self.pages.len() - 1, y: self.y }
    }

    pub(super) fn y(&self) -> f32 {
        self.y
    }

    pub(super) fn room(&self) -> f32 {
        BOTTOM - self.y
    }

    pub(super) fn is_at_top(&self) -> bool {
        self.y <= TOP
    }

    pub(super) fn page(&mut self) -> &mut Page {
        if self.pages.is_empty() {
            self.pages.push(Page::default());
        }
        let last = self.pages.len() - 1;
        &mut self.pages[last]
    }

    pub(super) fn turn_page(&mut self) {
        self.pages.push(Page::default());
        self.y = TOP;
    }

    /// Turns the page unless this height fits. What fits on no page stays where it is.
    pub(super) fn ensure(&mut self, height: f32) {
        if height > self.room() && !self.is_at_top() {
            self.turn_page();
        }
    }

    /// Empty space, of which none is needed at the top of a page.
    pub(super) fn gap(&mut self, height: f32) {
        if !self.is_at_top() {
            self.advance(height.min(self.room().max(0.0)));
        }
    }

    /// Goes down, and takes the strips along.
    pub(super) fn advance(&mut self, height: f32) {
        let y = self.y;
        for Strip { x, width, color } in self.strips.clone() {
            self.fill(Fill { x, y, width, height, color });
        }
        self.y += height;
    }

    pub(super) fn with_strip(&mut self, strip: Strip, write: impl FnOnce(&mut Self)) {
        self.strips.push(strip);
        write(self);
        self.strips.pop();
    }

    pub(super) fn fill(&mut self, fill: Fill) {
        // Two that touch would show a seam.
        let continued = self.page().fills.iter_mut().rev().take(NEAR).find(|last| {
            last.x == fill.x
                && last.width == fill.width
                && last.color == fill.color
                && (last.y + last.height - fill.y).abs() < 0.01
        });
        match continued {
            Some(last) => last.height += fill.height,
            None => self.page().fills.push(fill),
        }
    }

    /// The mark of an item, which goes before the first line that comes, with its right edge at `x`.
    pub(super) fn wait_with_mark(&mut self, x: f32, mark: Line) {
        self.marks.push((x, mark));
    }

    pub(super) fn has_waiting_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Puts a line at the present height and goes on below it.
    pub(super) fn line(&mut self, line: Line, area: Area, side: Side, leading: f32, size: f32) {
        self.ensure(leading);
        self.put(line, area, side, self.y, leading, size);
        self.advance(leading);
    }

    /// Puts a line at any height of the present page.
    pub(super) fn put(
        &mut self,
        line: Line,
        area: Area,
        side: Side,
        y: f32,
        leading: f32,
        size: f32,
    ) {
        let baseline = y + (leading - size * (ASCENT + DESCENT)) / 2.0 + size * ASCENT;
        for (right, mark) in std::mem::take(&mut self.marks) {
            let x = right - mark.width;
            self.put_parts(mark, x, baseline);
        }
        let left = (area.width - line.width).max(0.0);
        let offset = match (side, line.direction) {
            (Side::Start, Direction::LeftToRight) | (Side::Left, _) => 0.0,
            (Side::Center, _) => left / 2.0,
            (Side::Start, Direction::RightToLeft) | (Side::Right, _) => left,
        };
        self.put_parts(line, area.left + offset, baseline);
    }

    fn put_parts(&mut self, line: Line, x: f32, baseline: f32) {
        for placed in line.parts {
            let x = x + placed.x;
            if let Some(target) = &placed.look.target {
                self.link(x, baseline, &placed, Rc::clone(target));
            }
            self.page().texts.push(Text { x, y: baseline, placed });
        }
    }

    fn link(&mut self, x: f32, baseline: f32, placed: &Placed, target: Rc<Target>) {
        let size = placed.look.size;
        let y = baseline - size * ASCENT * 0.9;
        if let Some(last) = self.page().links.last_mut()
            && Rc::ptr_eq(&last.target, &target)
            && (last.y - y).abs() < size * 0.2
            && x >= last.x
        {
            last.width = x + placed.width - last.x;
            return;
        }
        let lines = match &self.last_link {
            Some((last, lines)) if Rc::ptr_eq(last, &target) => lines + 1,
            _ => 1,
        };
        self.last_link = Some((Rc::clone(&target), lines));
        // Every line holds the whole address.
        if lines > MOST_LINK_LINES {
            return;
        }
        let height = size * (ASCENT + DESCENT) * 0.95;
        self.page().links.push(Link { x, y, width: placed.width, height, target });
    }
}

/// A4, in points.
pub(super) const PAGE_WIDTH: f32 = 595.28;
pub(super) const PAGE_HEIGHT: f32 = 841.89;
pub(super) const MARGIN: f32 = 68.0;
const TOP: f32 = 64.0;
const BOTTOM: f32 = PAGE_HEIGHT - 72.0;
/// What a page holds.
pub(super) const HEIGHT: f32 = BOTTOM - TOP;
pub(super) const WHOLE: Area = Area { left: MARGIN, width: PAGE_WIDTH - 2.0 * MARGIN };

/// Of the letters, above and below their baseline, for a size of 1.
const ASCENT: f32 = 1.069;
const DESCENT: f32 = 0.293;
/// Who has not clicked by then will not.
const MOST_LINK_LINES: usize = 100;
/// No more strips than this run beside each other.
const NEAR: usize = 32;
