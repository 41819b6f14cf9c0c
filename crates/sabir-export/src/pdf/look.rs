//! Inlines as stretches of text with one look each. It knows no lines and no fonts.

use std::borrow::Cow;
use std::rc::Rc;

use sabir_document::Inline;

use super::fonts::Face;

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Color(pub(super) u8, pub(super) u8, pub(super) u8);

/// How letters look, and where a click on them leads.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) face: Face,
    pub(super) size: f32,
    pub(super) color: Color,
    pub(super) target: Option<Rc<Target>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An address outside.
    Url(String),
    /// The reference with this number.
    Reference(u32),
}

#[derive(Debug)]
pub(super) struct Span<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) look: Look,
}

impl Look {
    pub(super) fn new(face: Face, size: f32, color: Color) -> Self {
        Self { face, size, color, target: None }
    }

    /// Whether texts of both looks can be drawn in one go.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_same_target = match (&self.target, &other.target) {
            (None, None) => true,
            (Some(one), Some(two)) => Rc::ptr_eq(one, two),
            (Some(_), None) | (None, Some(_)) => false,
        };
        is_same_target && self.size == other.size && self.color == other.color
    }
}

/// The inlines in the look of their block.
pub(super) fn spans<'t>(inlines: &'t [Inline], base: &Look) -> Vec<Span<'t>> {
    let mut spans = Vec::new();
    push(&mut spans, inlines, base);
    spans
}

/// It recurses: the depth of a document in normal form is bounded.
fn push<'t>(spans: &mut Vec<Span<'t>>, inlines: &'t [Inline], look: &Look) {
    for inline in inlines {
        match inline {
            Inline::Text { text } => {
                spans.push(Span { text: Cow::Borrowed(text), look: look.clone() });
            }
            Inline::Code { text } => {
                let look = Look { face: Face::Mono, size: look.size * MONO_SIZE, ..look.clone() };
                spans.push(Span { text: Cow::Borrowed(text), look });
            }
            Inline::Strong { children } => {
                let face = match look.face {
                    Face::Regular | Face::Bold => Face::Bold,
                    Face::Italic | Face::BoldItalic => Face::BoldItalic,
                    Face::Mono => Face::Mono,
                };
                push(spans, children, &Look { face, ..look.clone() });
            }
            Inline::Em { children } => {
                let face = match look.face {
                    Face::Regular | Face::Italic => Face::Italic,
                    Face::Bold | Face::BoldItalic => Face::BoldItalic,
                    Face::Mono => Face::Mono,
                };
                push(spans, children, &Look { face, ..look.clone() });
            }
            Inline::Link { href, children } => {
                let target =
                    (href.len() <= LONGEST_HREF).then(|| Rc::new(Target::Url(ascii(href))));
                push(spans, children, &Look { color: LINK, target, ..look.clone() });
            }
            Inline::Cite { reference } => {
                let target = Some(Rc::new(Target::Reference(*reference)));
                let size = look.size * CITE_SIZE;
                let look = Look { color: LINK, size, target, ..look.clone() };
                spans.push(Span { text: Cow::Owned(format!("[{reference}]")), look });
            }
        }
    }
}

/// Addresses in a PDF are ASCII.
fn ascii(href: &str) -> String {
    let mut out = String::with_capacity(href.len());
    for c in href.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    out.push_str(&format!("%{byte:02X}"));
                }
            }
        }
    }
    out
}

pub(super) const INK: Color = Color(31, 35, 40);
pub(super) const MUTED: Color = Color(89, 99, 110);
pub(super) const LINK: Color = Color(11, 87, 164);

/// Letters of one width look larger than others of their size.
pub(super) const MONO_SIZE: f32 = 0.92;
const CITE_SIZE: f32 = 0.85;

/// Viewers refuse longer addresses, and strings in a PDF end at 32,767 bytes.
const LONGEST_HREF: usize = 4_096;
