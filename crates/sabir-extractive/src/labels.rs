//! The labelled values of a page: rows of two cells, `Label: value` lines, headings with a line below.
//! It does not know what anybody wants to extract.

use crate::draft::Passage;
use crate::source::Page;
use crate::text::{Kind, Unit, labelled};
use crate::word;

/// Something with a label.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The label as it is written.
    pub(crate) name: String,
    /// Its words.
    pub(crate) label: Vec<String>,
    pub(crate) value: String,
    /// Where both stand.
    pub(crate) passage: Passage,
}

/// The labelled values of all pages, in the order of the sources.
pub(crate) fn pairs(pages: &[Page<'_>]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for page in 0..pages.len() {
        of_page(pages, page, &mut pairs);
        if pairs.len() >= PAIRS {
            pairs.truncate(PAIRS);
            break;
        }
    }
    pairs
}

fn of_page(pages: &[Page<'_>], page: usize, pairs: &mut Vec<Pair>) {
    let text = &pages[page].text;
    for (number, unit) in text.units.iter().enumerate() {
        let passage = Passage::unit(pages, page, number);
        let mut push = |name: &str, value: &str, passage: Passage| {
            let name = name.trim().to_owned();
            let label = word::terms(&name);
            let value = value.trim().to_owned();
            if !label.is_empty() && !value.is_empty() {
                pairs.push(Pair { name, label, value, passage });
            }
        };
        match unit.kind {
            Kind::Row { table, row } => {
                let Some(grid) = text.tables.get(table) else { continue };
                let Some(cells) = grid.rows.get(row) else { continue };
                if let [label, value] = cells.as_slice() {
                    push(label, value, passage.clone());
                }
                // A table of one row is a form that was laid out across.
                if grid.rows.len() == 1 {
                    for (label, value) in grid.header.iter().zip(cells) {
                        push(label, value, passage.clone());
                    }
                }
            }
            Kind::Prose | Kind::Item => {
                for (at, line) in lines(unit) {
                    if let Some((label, value)) = labelled(line) {
                        let start = at + line.len() - line.trim_start().len();
                        let range = start..at + line.trim_end().len();
                        push(label, value, Passage { range, ..passage.clone() });
                    }
                }
            }
            Kind::Heading { .. } => {
                if let Some(next) = text.units.get(number + 1).filter(|next| is_line(next)) {
                    push(&unit.text, &next.text, Passage::unit(pages, page, number + 1));
                }
            }
        }
    }
}

/// The lines of a paragraph, and where they begin. Lines that were joined in Markdown are told apart by
/// their labels, if there are several: `Price: 12 EUR Weight: 3 kg`.
fn lines(unit: &Unit) -> Vec<(usize, &str)> {
    let text = unit.text.as_str();
    let mut starts = vec![0];
    starts.extend(&unit.line_starts);
    let mut label_starts = Vec::new();
    let mut word_start = 0;
    for (at, c) in text.char_indices() {
        if c == ' ' {
            let word = &text[word_start..at];
            if word.ends_with(':') && word.starts_with(char::is_uppercase) {
                label_starts.push(word_start);
            }
            word_start = at + 1;
        }
    }
    if label_starts.len() > 1 {
        starts.extend(label_starts);
        starts.sort_unstable();
        starts.dedup();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| (start, &text[start..end])).collect()
}

/// Whether a unit is one short line, as a value under a heading is.
fn is_line(unit: &Unit) -> bool {
    matches!(unit.kind, Kind::Prose) && unit.text.len() <= LINE_BYTES
}

/// Longer is no value of a heading but the text of a section.
const LINE_BYTES: usize = 120;

/// More labels than any set of pages that is asked for fields.
const PAIRS: usize = 50_000;
