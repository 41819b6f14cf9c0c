//! Tables of data as tables, tables for layout as what stands in them. It does not guess headers.

use dom_query::NodeRef;
use sabir_document::{Align, Block, Cell, Table};

use super::blocks::{Converter, Flow, Place};
use super::inlines::plain;

/// A table. A caption comes before it as a line of its own.
pub(super) fn convert(
    converter: &Converter<'_>,
    node: &NodeRef<'_>,
    flow: &mut Flow,
    place: Place,
) {
    flow.flush();
    let parts = Parts::of(node);
    if parts.is_layout(node) {
        for cell in parts.rows.iter().flat_map(|row| &row.cells) {
            converter.flow(cell, flow, place);
            flow.flush();
        }
        return;
    }
    if let Some(caption) = &parts.caption {
        converter.flow(caption, flow, place);
        flow.flush();
    }
    if let Some(table) = fill(converter, &parts, place) {
        flow.push(Block::Table(table));
    }
}

struct Parts<'a> {
    caption: Option<NodeRef<'a>>,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    cells: Vec<NodeRef<'a>>,
    in_head: bool,
}

impl<'a> Parts<'a> {
    /// The rows of this table, and not of those inside of it.
    fn of(table: &NodeRef<'a>) -> Self {
        let mut parts = Self { caption: None, rows: Vec::new() };
        for child in table.children_it(false) {
            if child.has_name("caption") {
                parts.caption = Some(child);
            } else if child.has_name("tr") {
                parts.push(&child, false);
            } else if ["thead", "tbody", "tfoot"].iter().any(|name| child.has_name(name)) {
                let in_head = child.has_name("thead");
                for row in child.children_it(false).filter(|row| row.has_name("tr")) {
                    parts.push(&row, in_head);
                }
            }
        }
        parts
    }

    fn push(&mut self, row: &NodeRef<'a>, in_head: bool) {
        let cells: Vec<_> = row
            .children_it(false)
            .filter(|cell| cell.has_name("td") || cell.has_name("th"))
            .collect();
        if !cells.is_empty() && self.rows.len() < MAX_ROWS {
            self.rows.push(Row { cells, in_head });
        }
    }

    /// Whether the table only puts things beside each other.
    fn is_layout(&self, node: &NodeRef<'_>) -> bool {
        if node.attr("role").is_some_and(|role| matches!(&*role, "presentation" | "none")) {
            return true;
        }
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
        if columns <= 1 {
            return true;
        }
        let is_marked = self.caption.is_some()
            || self
                .rows
                .iter()
                .any(|row| row.in_head || row.cells.iter().any(|cell| cell.has_name("th")));
        if is_marked {
            return false;
        }
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| {
            cell.descendants_it().any(|inner| {
                inner.qual_name_ref().is_some_and(|name| {
                    matches!(
                        &*name.local,
                        "table"
                            | "ul"
                            | "ol"
                            | "dl"
                            | "h1"
                            | "h2"
                            | "h3"
                            | "h4"
                            | "pre"
                            | "form"
                            | "blockquote"
                            | "article"
                            | "section"
                            | "hr"
                    )
                })
            })
        })
    }
}

/// The cells in a grid: one that spans several places is repeated in each, unless it is long.
fn fill(converter: &Converter<'_>, parts: &Parts<'_>, place: Place) -> Option<Table> {
    let mut grid: Vec<Vec<Option<Cell>>> = vec![Vec::new(); parts.rows.len()];
    let mut align: Vec<Align> = Vec::new();
    let mut room = MAX_CELLS;
    for (y, row) in parts.rows.iter().enumerate() {
        let mut x = 0;
        for node in &row.cells {
            while grid[y].get(x).is_some_and(Option::is_some) {
                x += 1;
            }
            let width = span(node, "colspan").min(MAX_COLUMNS.saturating_sub(x));
            let height = span(node, "rowspan").min(parts.rows.len() - y);
            if width == 0 || room < width * height {
                break;
            }
            room -= width * height;
            let cell = converter.line(node, place);
            let is_short = plain(&cell).chars().count() <= MAX_REPEATED;
            for (dy, line) in grid[y..y + height].iter_mut().enumerate() {
                if line.len() < x + width {
                    line.resize(x + width, None);
                }
                for (dx, target) in line[x..x + width].iter_mut().enumerate() {
                    let repeated = is_short || (dx == 0 && dy == 0);
                    target.get_or_insert_with(|| if repeated { cell.clone() } else { Vec::new() });
                }
            }
            set_align(&mut align, x, node);
            x += width;
        }
    }
    let columns = grid.iter().map(Vec::len).max().unwrap_or_default();
    let mut rows: Vec<Vec<Cell>> = grid
        .into_iter()
        .map(|row| {
            let mut row: Vec<Cell> = row.into_iter().map(Option::unwrap_or_default).collect();
            row.resize(columns, Vec::new());
            row
        })
        .collect();
    let header = match parts.rows.first() {
        Some(first) if is_header(first) => rows.remove(0),
        // Which of the cells are names is not known, so that none of them is made one.
        _ => vec![Vec::new(); columns],
    };
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    if columns == 0 || (rows.is_empty() && header.iter().all(Vec::is_empty)) {
        return None;
    }
    align.resize(columns, Align::None);
    if align.iter().all(|align| *align == Align::None) {
        align.clear();
    }
    Some(Table { header, rows, align })
}

fn is_header(row: &Row<'_>) -> bool {
    row.in_head || row.cells.iter().all(|cell| cell.has_name("th"))
}

fn span(node: &NodeRef<'_>, name: &str) -> usize {
    let span = node.attr(name).and_then(|text| text.trim().parse::<usize>().ok());
    span.unwrap_or(1).clamp(1, MAX_ROWS)
}

/// The first cell that says how its column is set decides.
fn set_align(align: &mut Vec<Align>, column: usize, node: &NodeRef<'_>) {
    if align.len() <= column {
        align.resize(column + 1, Align::None);
    }
    if align[column] == Align::None {
        align[column] = match node.attr(ALIGN).as_deref() {
            Some("left" | "start") => Align::Left,
            Some("center") => Align::Center,
            Some("right" | "end") => Align::Right,
            _ => Align::None,
        };
    }
}

/// Writes down how a cell is set, where readability leaves it alone.
pub(super) fn mark_align(cell: &NodeRef<'_>) {
    let style = cell.attr("style").unwrap_or_default().to_ascii_lowercase();
    let from_style = style.split(';').find_map(|part| {
        let (name, value) = part.split_once(':')?;
        (name.trim() == "text-align").then(|| value.trim().to_owned())
    });
    let align = from_style.or_else(|| cell.attr("align").map(|value| value.to_ascii_lowercase()));
    if let Some(align) = align {
        cell.set_attr(ALIGN, &align);
    }
}

const ALIGN: &str = "data-sabir-align";
const MAX_COLUMNS: usize = 64;
const MAX_ROWS: usize = 5_000;
/// Cells that spans make count, so that a few words cannot become a gigabyte.
const MAX_CELLS: usize = 50_000;
const MAX_REPEATED: usize = 80;
