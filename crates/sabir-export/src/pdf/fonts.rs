//! Which font has which character, and how words look in it: glyphs and their widths. It knows no
//! lines and no pages.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{UnicodeBuffer, ttf_parser};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::ExportError;

/// A style of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Face {
    Regular,
    Bold,
    Italic,
    BoldItalic,
    Mono,
}

/// A font that was loaded, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FontId(usize);

/// A word, or a part of one, in glyphs of one font. Widths are for a size of 1.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) font: FontId,
    pub(super) text: String,
    pub(super) glyphs: Vec<KrillaGlyph>,
    pub(super) width: f32,
    pub(super) order: Order,
}

/// Whether the glyphs stand in the order of the text, or the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Forward,
    Backward,
}

#[derive(Debug, Default)]
pub(super) struct Shaped {
    pub(super) pieces: Vec<Piece>,
    pub(super) width: f32,
}

pub(super) struct Fonts<'a> {
    loaded: Vec<Loaded<'a>>,
    /// Texts repeat their words.
    shaped: HashMap<(Face, String), Rc<Shaped>>,
    chosen: HashMap<(Face, char), Option<usize>>,
    /// Characters that no font has.
    missing: BTreeSet<char>,
}

struct Loaded<'a> {
    shaper: rustybuzz::Face<'a>,
    font: Font,
}

impl<'a> Fonts<'a> {
    pub(super) fn load(fallback: &'a [Vec<u8>]) -> Result<Self, ExportError> {
        let mut loaded = Vec::new();
        for data in BUILT_IN {
            let font = Loaded::new(data, krilla::Data::from(data)).ok_or_else(|| {
                ExportError::Layout { reason: "a built-in font is broken".to_owned() }
            })?;
            loaded.push(font);
        }
        let given = fallback.iter().filter_map(|data| Loaded::new(data, data.clone().into()));
        loaded.extend(given);
        Ok(Self {
            loaded,
            shaped: HashMap::new(),
            chosen: HashMap::new(),
            missing: BTreeSet::new(),
        })
    }

    pub(super) fn font(&self, id: FontId) -> Font {
        self.loaded[id.0].font.clone()
    }

    pub(super) fn missing(&self) -> &BTreeSet<char> {
        &self.missing
    }

    /// The glyphs of a word. Control characters have none.
    pub(super) fn shape(&mut self, text: &str, face: Face) -> Rc<Shaped> {
        let key = (face, text.to_owned());
        if let Some(shaped) = self.shaped.get(&key) {
            return Rc::clone(shaped);
        }
        let mut shaped = Shaped::default();
        for (text, font) in self.split(text, face) {
            let piece = match font {
                Some(font) => self.shape_piece(text, font),
                None => self.replace(text),
            };
            shaped.width += piece.width;
            shaped.pieces.push(piece);
        }
        let shaped = Rc::new(shaped);
        if self.shaped.len() >= MOST_WORDS {
            self.shaped.clear();
        }
        self.shaped.insert(key, Rc::clone(&shaped));
        shaped
    }

    /// The stretches of a text that have their font in common.
    fn split(&mut self, text: &str, face: Face) -> Vec<(String, Option<usize>)> {
        let mut stretches: Vec<(String, Option<usize>)> = Vec::new();
        // What is seen as one character has one font.
        for cluster in text.graphemes(true) {
            let cluster: String = cluster.chars().filter(|c| !c.is_control()).collect();
            let Some(first) = cluster.chars().find(|c| !takes_no_place(*c)) else { continue };
            let font = self.choose(first, face);
            match stretches.last_mut() {
                Some((stretch, last)) if *last == font => stretch.push_str(&cluster),
                _ => stretches.push((cluster, font)),
            }
        }
        stretches
    }

    fn choose(&mut self, c: char, face: Face) -> Option<usize> {
        if let Some(chosen) = self.chosen.get(&(face, c)) {
            return *chosen;
        }
        let own: &[usize] = match face {
            Face::Regular => &[REGULAR],
            Face::Bold => &[BOLD, REGULAR],
            Face::Italic => &[ITALIC, REGULAR],
            Face::BoldItalic => &[BOLD_ITALIC, BOLD, REGULAR],
            Face::Mono => &[MONO, REGULAR],
        };
        let others = SYMBOLS..self.loaded.len();
        let mut candidates = own.iter().copied().chain(others);
        let chosen = candidates.find(|font| self.loaded[*font].has(c));
        if chosen.is_none() {
            self.missing.insert(c);
        }
        self.chosen.insert((face, c), chosen);
        chosen
    }

    fn shape_piece(&self, text: String, font: usize) -> Piece {
        let loaded = &self.loaded[font];
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(&text);
        buffer.guess_segment_properties();
        let order = match buffer.direction() {
            rustybuzz::Direction::RightToLeft => Order::Backward,
            _ => Order::Forward,
        };
        let output = rustybuzz::shape(&loaded.shaper, &[], buffer);
        let starts: Vec<usize> =
            output.glyph_infos().iter().map(|info| info.cluster as usize).collect();
        let units = loaded.font.units_per_em().max(1.0);
        let ranges = cluster_ranges(&starts, order, text.len());
        let mut glyphs = Vec::with_capacity(starts.len());
        let mut width = 0.0;
        let positions = output.glyph_positions().iter();
        for ((info, at), range) in output.glyph_infos().iter().zip(positions).zip(ranges) {
            let advance = at.x_advance as f32 / units;
            width += advance;
            glyphs.push(KrillaGlyph::new(
                GlyphId::new(info.glyph_id),
                advance,
                at.x_offset as f32 / units,
                at.y_offset as f32 / units,
                0.0,
                range,
                None,
            ));
        }
        Piece { font: FontId(font), text, glyphs, width, order }
    }

    /// One sign for each character that has no shape here. The text behind it stays what it is, so
    /// that it can be searched and copied.
    fn replace(&self, text: String) -> Piece {
        let loaded = &self.loaded[REGULAR];
        let glyph = loaded.shaper.glyph_index(char::REPLACEMENT_CHARACTER);
        let glyph = glyph.unwrap_or(ttf_parser::GlyphId(0));
        let advance = f32::from(loaded.shaper.glyph_hor_advance(glyph).unwrap_or_default())
            / loaded.font.units_per_em().max(1.0);
        let mut glyphs = Vec::new();
        for (start, cluster) in text.grapheme_indices(true) {
            let range = start..start + cluster.len();
            let glyph = GlyphId::new(u32::from(glyph.0));
            glyphs.push(KrillaGlyph::new(glyph, advance, 0.0, 0.0, 0.0, range, None));
        }
        let width = advance * glyphs.len() as f32;
        Piece { font: FontId(REGULAR), text, glyphs, width, order: Order::Forward }
    }
}

impl<'a> Loaded<'a> {
    /// A font that has outlines, because of pictures nothing would be seen, and that its makers allow
    /// to go into a file.
    fn new(data: &'a [u8], shared: krilla::Data) -> Option<Self> {
        let shaper = rustybuzz::Face::from_slice(data, 0)?;
        let tables = shaper.tables();
        let has_outlines = tables.glyf.is_some() || tables.cff.is_some();
        let is_restricted = shaper.permissions() == Some(ttf_parser::Permissions::Restricted);
        if !has_outlines || is_restricted {
            return None;
        }
        let font = Font::new(shared, 0)?;
        Some(Self { shaper, font })
    }

    fn has(&self, c: char) -> bool {
        self.shaper.glyph_index(c).is_some_and(|glyph| glyph.0 != 0)
    }
}

/// The bytes that each glyph stands for. Glyphs of one cluster share theirs.
fn cluster_ranges(starts: &[usize], order: Order, end: usize) -> Vec<Range<usize>> {
    let mut ranges = vec![0..0; starts.len()];
    let mut next = end;
    let mut current = end;
    let mut give = |index: usize| {
        let start = starts[index];
        if start != current {
            next = current;
            current = start;
        }
        ranges[index] = start.min(next)..next.max(start);
    };
    // From the end of the text to its beginning.
    match order {
        Order::Forward => (0..starts.len()).rev().for_each(&mut give),
        Order::Backward => (0..starts.len()).for_each(&mut give),
    }
    ranges
}

/// Joiners and selectors, which every font may lack.
fn takes_no_place(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}'
        | '\u{202A}'..='\u{202E}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{AD}' | '\u{61C}'
        | '\u{E0000}'..='\u{E01EF}')
}

const REGULAR: usize = 0;
const BOLD: usize = 1;
const ITALIC: usize = 2;
const BOLD_ITALIC: usize = 3;
const MONO: usize = 4;
/// The first of those that only fill gaps.
const SYMBOLS: usize = 5;

const BUILT_IN: [&[u8]; 6] = [
    include_bytes!("../../fonts/NotoSans-Regular.ttf"),
    include_bytes!("../../fonts/NotoSans-Bold.ttf"),
    include_bytes!("../../fonts/NotoSans-Italic.ttf"),
    include_bytes!("../../fonts/NotoSans-BoldItalic.ttf"),
    include_bytes!("../../fonts/NotoSansMono-Regular.ttf"),
    include_bytes!("../../fonts/DejaVuSans-Symbols.ttf"),
];

/// Some megabytes of glyphs.
const MOST_WORDS: usize = 20_000;
