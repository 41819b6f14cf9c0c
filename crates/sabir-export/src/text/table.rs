//! The cells of a table in columns.

use sabir_document::Align;
use unicode_width::UnicodeWidthStr as _;

use super::wrap::wrap_hard;

/// The lines of a table, or nothing if it has more columns than there is room for.
pub(super) fn columns(
    header: &[String],
    rows: &[Vec<String>],
    align: &[Align],
    room: usize,
) -> Option<Vec<String>> {
    let count = header.len();
    let room = room.checked_sub(GAP.len() * count.saturating_sub(1))?;
    if room < NARROWEST * count {
        return None;
    }
    let mut wanted: Vec<usize> = header.iter().map(|cell| cell.width()).collect();
    for row in rows {
        for (width, cell) in wanted.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let widths = share(&wanted, room);
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut lines = row_lines(header, &widths, align);
    lines.push(rule.join(GAP));
    let rows: Vec<_> = rows.iter().map(|row| row_lines(row, &widths, align)).collect();
    // Rows of several lines would run into each other.
    let is_loose = rows.iter().any(|row| row.len() > 1);
    for (index, row) in rows.into_iter().enumerate() {
        if index > 0 && is_loose {
            lines.push(String::new());
        }
        lines.extend(row);
    }
    Some(lines)
}

/// Narrow columns get what they want; the others share the rest evenly.
fn share(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|column| wanted[*column]);
    let mut widths = vec![0; wanted.len()];
    let mut left = room;
    for (index, column) in order.iter().enumerate() {
        let share = left / (wanted.len() - index);
        widths[*column] = wanted[*column].clamp(1, share.max(1));
        left = left.saturating_sub(widths[*column]);
    }
    widths
}

fn row_lines(row: &[String], widths: &[usize], align: &[Align]) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        row.iter().zip(widths).map(|(cell, width)| wrap_hard(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |index: usize| {
        let parts = cells.iter().zip(widths).enumerate().map(|(column, (lines, width))| {
            let text = lines.get(index).map(String::as_str).unwrap_or_default();
            let left = width.saturating_sub(text.width());
            let before = match align.get(column) {
                Some(Align::Right) => left,
                Some(Align::Center) => left / 2,
                Some(Align::Left | Align::None) | None => 0,
            };
            format!("{}{text}{}", " ".repeat(before), " ".repeat(left - before))
        });
        parts.collect::<Vec<_>>().join(GAP)
    };
    (0..height).map(line).collect()
}

const GAP: &str = "  ";
/// A column of less cuts most words.
const NARROWEST: usize = 6;
