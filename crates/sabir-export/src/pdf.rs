//! A sheet as pages: an own small layout, drawn by krilla. The same sheet gives the same bytes.

mod block;
mod draw;
mod flow;
mod fonts;
mod look;
mod paragraph;
mod table;

use std::collections::BTreeSet;

use self::block::{ACCENT, BODY, GAP, Place, SMALL};
use self::flow::{Fill, Flow, Side, WHOLE};
use self::fonts::{Face, Fonts};
use self::look::{INK, Look, MUTED, Span, spans};
use self::paragraph::Paragraph;
use crate::ExportError;
use crate::sheet::{Entry, Sheet};

pub(crate) fn write(sheet: &Sheet, fallback: &[Vec<u8>]) -> Result<Vec<u8>, ExportError> {
    let mut flow = Flow::new(Fonts::load(fallback)?);
    head(&mut flow, sheet);
    block::blocks(&mut flow, &sheet.body, Place::new(WHOLE));
    references(&mut flow, sheet);
    let missing = flow.fonts.missing().clone();
    if !missing.is_empty() {
        flow.gap(2.0 * BODY);
        note(&mut flow, &missing_note(&missing));
    }
    draw::draw(flow, &sheet.title)
}

fn head(flow: &mut Flow<'_>, sheet: &Sheet) {
    let span = Span { text: sheet.title.as_str().into(), look: Look::new(Face::Bold, TITLE, INK) };
    let lines = Paragraph::new(&mut flow.fonts, &[span]).lines(&mut flow.fonts, WHOLE.width);
    for line in lines {
        flow.line(line, WHOLE, Side::Start, TITLE * 1.25, TITLE);
    }
    if !sheet.origin.is_empty() {
        flow.gap(4.0);
        note(flow, &sheet.origin);
    }
    flow.gap(10.0);
    let y = flow.y();
    flow.fill(Fill { x: WHOLE.left, y, width: WHOLE.width, height: 1.0, color: ACCENT });
    flow.gap(16.0);
}

fn references(flow: &mut Flow<'_>, sheet: &Sheet) {
    if sheet.references.is_empty() {
        return;
    }
    flow.gap(24.0);
    let title = [sabir_document::Inline::text("References")];
    block::heading(flow, 2, &title, Place::new(WHOLE));
    // It belongs to no heading of the body.
    if let Some(heading) = flow.headings.last_mut() {
        heading.level = 1;
    }
    let highest = sheet.references.iter().map(|entry| entry.number).max().unwrap_or(0);
    let indent = number(flow, highest).width + 8.0;
    for Entry { number: entry, line } in &sheet.references {
        flow.gap(GAP - 2.0);
        let area = flow::Area { left: WHOLE.left + indent, width: WHOLE.width - indent };
        let place = Place { size: SMALL, ..Place::new(area) };
        let mark = number(flow, *entry);
        flow.ensure(2.0 * place.leading());
        let spot = flow.spot();
        flow.references.entry(*entry).or_insert(spot);
        flow.wait_with_mark(area.left - 8.0, mark);
        block::paragraph(flow, &spans(line, &place.look()), place);
    }
    flow.gap(GAP + 2.0);
    sheet.legend.iter().for_each(|meaning| note(flow, meaning));
}

fn number(flow: &mut Flow<'_>, number: u32) -> paragraph::Line {
    let look = Look::new(Face::Regular, SMALL, MUTED);
    let span = Span { text: format!("[{number}]").into(), look };
    let paragraph = Paragraph::new(&mut flow.fonts, &[span]);
    paragraph.lines(&mut flow.fonts, f32::INFINITY).swap_remove(0)
}

fn note(flow: &mut Flow<'_>, text: &str) {
    let place = Place { size: NOTE, color: MUTED, ..Place::new(WHOLE) };
    let span = Span { text: text.into(), look: place.look() };
    block::paragraph(flow, &[span], place);
}

/// Code points only: the characters themselves could not be shown here either.
fn missing_note(missing: &BTreeSet<char>) -> String {
    let listed: Vec<String> =
        missing.iter().take(MOST_LISTED).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
    let more = match missing.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "The fonts of this file have no shape for {} of the characters: {}{more}. They are shown as \
         \u{FFFD}; the text behind is complete and can be copied and searched.",
        missing.len(),
        listed.join(", ")
    )
}

const TITLE: f32 = 20.0;
const NOTE: f32 = 8.5;
const MOST_LISTED: usize = 20;
