//! Laid-out pages into a PDF file. It decides no place of anything but the foot of a page.

use krilla::Document;
use krilla::action::{Action, LinkAction};
use krilla::annotation::{LinkAnnotation, Target as KrillaTarget};
use krilla::color::rgb;
use krilla::destination::XyzDestination;
use krilla::geom::{PathBuilder, Point, Rect};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint;
use krilla::surface::Surface;

use super::flow::{self, Area, Fill, Flow, Heading, Link, MARGIN, PAGE_HEIGHT, PAGE_WIDTH, Spot};
use super::fonts::Fonts;
use super::look::{Color, Look, MUTED, Span, Target};
use super::paragraph::{Line, Paragraph, Placed};
use super::{Face, NOTE};
use crate::ExportError;

pub(super) fn draw(flow: Flow<'_>, title: &str) -> Result<Vec<u8>, ExportError> {
    let Flow { mut fonts, pages, headings, references, .. } = flow;
    let mut document = Document::new();
    let count = pages.len();
    let foot = foot_title(&mut fonts, title);
    for (index, page) in pages.into_iter().enumerate() {
        let settings = PageSettings::from_wh(PAGE_WIDTH, PAGE_HEIGHT)
            .ok_or_else(|| ExportError::Layout { reason: "a page has no size".to_owned() })?;
        let mut sheet = document.start_page_with(settings);
        let mut surface = sheet.surface();
        for fill in &page.fills {
            draw_fill(&mut surface, fill);
        }
        for text in &page.texts {
            draw_text(&mut surface, &fonts, &text.placed, text.x, text.y);
        }
        draw_line(&mut surface, &fonts, &foot, MARGIN);
        let number = line(&mut fonts, &format!("Page {} of {count}", index + 1));
        draw_line(&mut surface, &fonts, &number, PAGE_WIDTH - MARGIN - number.width);
        surface.finish();
        for link in &page.links {
            let destination = match link.target.as_ref() {
                Target::Url(url) => {
                    Some(KrillaTarget::Action(Action::Link(LinkAction::new(url.clone()))))
                }
                Target::Reference(number) => references
                    .get(number)
                    .map(|spot| KrillaTarget::Destination(destination(*spot).into())),
            };
            if let Some(target) = destination
                && let Some(rect) = rect(link)
            {
                sheet.add_annotation(LinkAnnotation::new(rect, target).into());
            }
        }
        sheet.finish();
    }
    document.set_outline(outline(headings));
    document.set_metadata(Metadata::new().title(title.to_owned()).creator("Sabir".to_owned()));
    document.finish().map_err(|error| ExportError::Layout { reason: error.to_string() })
}

fn draw_fill(surface: &mut Surface<'_>, fill: &Fill) {
    let Some(rect) = Rect::from_xywh(fill.x, fill.y, fill.width, fill.height) else { return };
    let mut path = PathBuilder::new();
    path.push_rect(rect);
    if let Some(path) = path.finish() {
        surface.set_fill(Some(ink(fill.color)));
        surface.draw_path(&path);
    }
}

fn draw_line(surface: &mut Surface<'_>, fonts: &Fonts<'_>, line: &Line, x: f32) {
    for placed in &line.parts {
        draw_text(surface, fonts, placed, x + placed.x, FOOT);
    }
}

fn draw_text(surface: &mut Surface<'_>, fonts: &Fonts<'_>, placed: &Placed, x: f32, y: f32) {
    // Drawing nothing is an error in some viewers.
    if placed.piece.glyphs.is_empty() {
        return;
    }
    surface.set_fill(Some(ink(placed.look.color)));
    let font = fonts.font(placed.piece.font);
    let start = Point::from_xy(x, y);
    let piece = &placed.piece;
    surface.draw_glyphs(start, &piece.glyphs, font, &piece.text, placed.look.size, false);
}

fn ink(Color(red, green, blue): Color) -> paint::Fill {
    let paint = rgb::Color::new(red, green, blue).into();
    paint::Fill { paint, opacity: NormalizedF32::ONE, rule: paint::FillRule::default() }
}

fn rect(link: &Link) -> Option<Rect> {
    Rect::from_xywh(link.x, link.y, link.width.max(1.0), link.height.max(1.0))
}

fn destination(spot: Spot) -> XyzDestination {
    XyzDestination::new(spot.page, Point::from_xy(0.0, (spot.y - 8.0).max(0.0)))
}

/// Bookmarks, each below the last one of a higher level.
fn outline(headings: Vec<Heading>) -> Outline {
    let mut outline = Outline::new();
    // The nodes that may still get children, the outermost first.
    let mut open: Vec<(u8, OutlineNode)> = Vec::new();
    for Heading { level, text, spot } in headings {
        close(&mut open, &mut outline, level);
        open.push((level, OutlineNode::new(text, destination(spot))));
    }
    close(&mut open, &mut outline, 0);
    outline
}

/// Hands over the nodes of this level and deeper ones.
fn close(open: &mut Vec<(u8, OutlineNode)>, outline: &mut Outline, level: u8) {
    while let Some((_, node)) = open.pop_if(|(last, _)| *last >= level) {
        match open.last_mut() {
            Some((_, parent)) => parent.push_child(node),
            None => outline.push_child(node),
        }
    }
}

fn line(fonts: &mut Fonts<'_>, text: &str) -> Line {
    let span = Span { text: text.into(), look: Look::new(Face::Regular, NOTE, MUTED) };
    Paragraph::new(fonts, &[span]).lines(fonts, f32::INFINITY).swap_remove(0)
}

/// As much of the title as leaves room for the number of the page.
fn foot_title(fonts: &mut Fonts<'_>, title: &str) -> Line {
    let Area { width, .. } = flow::WHOLE;
    // No foot shows more, and it is drawn on every page.
    let start: String = title.chars().take(LONGEST_FOOT).collect();
    let span = |text: &str| Span {
        text: text.to_owned().into(),
        look: Look::new(Face::Regular, NOTE, MUTED),
    };
    let lines = Paragraph::new(fonts, &[span(&start)]).lines(fonts, width - ROOM_FOR_NUMBER);
    match lines.len() {
        1 if start.len() == title.len() => line(fonts, title),
        _ => {
            let first: String =
                lines[0].parts.iter().map(|placed| placed.piece.text.as_str()).collect();
            line(fonts, &format!("{first}…"))
        }
    }
}

/// The baseline of what stands at the foot of a page.
const FOOT: f32 = PAGE_HEIGHT - 38.0;
const LONGEST_FOOT: usize = 200;
const ROOM_FOR_NUMBER: f32 = 90.0;
