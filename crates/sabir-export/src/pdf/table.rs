//! Tables onto pages: how wide each column is, and rows that go on over pages with their header on
//! top of each.

use sabir_document::{Align, Cell, Table};

use super::block::{self, BODY, Place, RULE, SHADE, SMALL};
use super::flow::{self, Area, Fill, Flow, Side};
use super::fonts::Face;
use super::look::{Look, Span, spans};
use super::paragraph::{Line, Paragraph};

pub(super) fn table(flow: &mut Flow<'_>, table: &Table, place: Place) {
    let count = table.header.len();
    if count == 0 {
        return;
    }
    if place.area.width / count as f32 <= NARROWEST {
        records(flow, table, place);
        return;
    }
    let place = Place { size: SMALL, ..place };
    let base = place.look();
    let bold = Look { face: Face::Bold, ..base.clone() };
    let header = paragraphs(flow, &table.header, &bold);
    let rows: Vec<Vec<Paragraph>> =
        table.rows.iter().map(|row| paragraphs(flow, row, &base)).collect();
    let columns = columns(&header, &rows, place.area);
    let grid = Grid { columns, align: &table.align, header: &header, leading: SMALL * 1.4 };
    grid.put_header(flow);
    for (index, row) in rows.iter().enumerate() {
        let mut lines = grid.lines(flow, row);
        // The first row stays with the header; others go to the next page if they fit there.
        let height = grid.height(&lines);
        if index > 0 && height > flow.room() && height < flow::HEIGHT / 2.0 {
            grid.turn_page(flow);
        }
        while let Some(rest) = grid.put_row(flow, lines) {
            lines = rest;
            grid.turn_page(flow);
        }
    }
}

struct Grid<'t> {
    columns: Vec<Area>,
    align: &'t [Align],
    header: &'t [Paragraph],
    leading: f32,
}

type Row = Vec<Vec<Line>>;

impl Grid<'_> {
    fn lines(&self, flow: &mut Flow<'_>, row: &[Paragraph]) -> Row {
        let cells = row.iter().zip(&self.columns);
        cells.map(|(cell, area)| cell.lines(&mut flow.fonts, area.width)).collect()
    }

    fn height(&self, row: &Row) -> f32 {
        let most = row.iter().map(Vec::len).max().unwrap_or(0);
        most as f32 * self.leading + 2.0 * PAD
    }

    fn put_header(&self, flow: &mut Flow<'_>) {
        let lines = self.lines(flow, self.header);
        let height = self.height(&lines);
        // A header without a row below heads nothing.
        flow.ensure(height + self.leading + 2.0 * PAD);
        let (x, width) = self.extent();
        let shade = Fill { x, y: flow.y(), width, height: height.min(flow.room()), color: SHADE };
        flow.fill(shade);
        let mut rest = self.put_row(flow, lines);
        while let Some(lines) = rest {
            flow.turn_page();
            rest = self.put_row(flow, lines);
        }
    }

    fn turn_page(&self, flow: &mut Flow<'_>) {
        flow.turn_page();
        // No page shows more than that, but much more could hide in one.
        let weight: usize = self.header.iter().map(Paragraph::weight).sum();
        if weight > HEAVIEST_HEADER {
            return;
        }
        let lines = self.lines(flow, self.header);
        // Where it fills most of a page, it leaves no room for rows.
        if self.height(&lines) < flow::HEIGHT / 3.0 {
            self.put_header(flow);
        }
    }

    /// As much of a row as fits on this page, and the rest of it.
    fn put_row(&self, flow: &mut Flow<'_>, mut row: Row) -> Option<Row> {
        let most = row.iter().map(Vec::len).max().unwrap_or(0);
        let fitting = ((flow.room() - 2.0 * PAD) / self.leading).floor().max(0.0) as usize;
        // At the top of a page something has to go on, or nothing ever would.
        let fitting = if flow.is_at_top() { fitting.max(1) } else { fitting };
        let now = fitting.min(most);
        if now == 0 && most > 0 {
            return Some(row);
        }
        let top = flow.y() + PAD;
        for (column, (cell, area)) in row.iter_mut().zip(&self.columns).enumerate() {
            let side = match self.align.get(column) {
                Some(Align::Center) => Side::Center,
                Some(Align::Right) => Side::Right,
                Some(Align::Left) => Side::Left,
                Some(Align::None) | None => Side::Start,
            };
            let rest = cell.split_off(now.min(cell.len()));
            for (index, line) in std::mem::replace(cell, rest).into_iter().enumerate() {
                let y = top + index as f32 * self.leading;
                flow.put(line, *area, side, y, self.leading, SMALL);
            }
        }
        flow.advance(now as f32 * self.leading + 2.0 * PAD);
        let (x, width) = self.extent();
        flow.fill(Fill { x, y: flow.y() - 0.5, width, height: 0.5, color: RULE });
        (now < most).then_some(row)
    }

    fn extent(&self) -> (f32, f32) {
        let left = self.columns.first().map_or(0.0, |area| area.left - PAD);
        let right = self.columns.last().map_or(0.0, |area| area.left + area.width + PAD);
        (left, right - left)
    }
}

fn paragraphs(flow: &mut Flow<'_>, cells: &[Cell], look: &Look) -> Vec<Paragraph> {
    cells.iter().map(|cell| Paragraph::new(&mut flow.fonts, &spans(cell, look))).collect()
}

/// Every column gets its longest word, and then as much of what it would like as there is room for.
fn columns(header: &[Paragraph], rows: &[Vec<Paragraph>], area: Area) -> Vec<Area> {
    let mut least = vec![1.0_f32; header.len()];
    let mut liked = vec![1.0_f32; header.len()];
    for row in std::iter::once(header).chain(rows.iter().map(Vec::as_slice)) {
        for (column, cell) in row.iter().enumerate().take(header.len()) {
            least[column] = least[column].max(cell.widest_word());
            liked[column] = liked[column].max(cell.natural_width());
        }
    }
    let room = area.width - 2.0 * PAD * header.len() as f32;
    let fair = room / header.len() as f32;
    // A word that is wider than that is cut.
    least.iter_mut().for_each(|width| *width = width.min(fair));
    let liking: f32 = liked.iter().sum();
    let needed: f32 = least.iter().sum();
    let widths: Vec<f32> = match liking <= room {
        // Wide enough for everybody: what is left over is shared, up to a point.
        true => liked.iter().map(|width| width * (room / liking).min(STRETCH)).collect(),
        false => grant(&least, &liked, (room - needed).max(0.0)),
    };
    let mut left = area.left;
    widths
        .into_iter()
        .map(|width| {
            let column = Area { left: left + PAD, width };
            left += width + 2.0 * PAD;
            column
        })
        .collect()
}

/// Small wishes are granted; the large ones share the rest evenly.
fn grant(least: &[f32], liked: &[f32], mut spare: f32) -> Vec<f32> {
    let mut order: Vec<usize> = (0..least.len()).collect();
    let wish = |column: &usize| liked[*column] - least[*column];
    order.sort_by(|one, two| wish(one).total_cmp(&wish(two)));
    let mut widths = least.to_vec();
    for (index, column) in order.iter().enumerate() {
        let share = spare / (order.len() - index) as f32;
        let given = wish(column).clamp(0.0, share.max(0.0));
        widths[*column] += given;
        spare -= given;
    }
    widths
}

/// A table with more columns than can be read side by side: a line for each cell that says something.
fn records(flow: &mut Flow<'_>, table: &Table, place: Place) {
    let place = Place { size: SMALL, ..place };
    let base = place.look();
    let bold = Look { face: Face::Bold, ..base.clone() };
    if table.rows.is_empty() {
        table.header.iter().for_each(|name| block::paragraph(flow, &spans(name, &bold), place));
    }
    for (index, row) in table.rows.iter().enumerate() {
        if index > 0 {
            flow.gap(BODY);
        }
        for (name, cell) in table.header.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
            let mut line = spans(name, &bold);
            line.push(Span { text: ": ".into(), look: bold.clone() });
            line.extend(spans(cell, &base));
            block::paragraph(flow, &line, place);
        }
    }
}

const PAD: f32 = 5.0;
/// Below this, words fall apart.
const NARROWEST: f32 = 34.0;
const HEAVIEST_HEADER: usize = 5_000;
const STRETCH: f32 = 1.6;
