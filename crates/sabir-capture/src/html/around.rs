//! What the elements around a text say about how it looks, one on the other. What a single style means
//! it does not know.

use super::color::Color;
use super::length::LETTER;
use super::sheet::Sheet;
use super::style::{Background, Look, Property, Says, TINY, TextColor, Visibility};
use super::transform::Turned;
use super::value::{FAINT, SMALL};

/// How letters look at one place of the page.
#[derive(Clone, Copy)]
pub(super) struct Around {
    text: TextColor,
    background: Background,
    visibility: Visibility,
    /// How high letters are, in pixels.
    size: f32,
    /// How much is seen through all elements around.
    opacity: f32,
    turned: Turned,
    /// Lines have no height.
    has_flat_lines: bool,
    /// What they stand in has no other height, and cuts them off.
    cuts_flat_lines: bool,
    is_one_line: bool,
    is_indented: bool,
    cuts_off: bool,
}

impl Around {
    /// What holds before anything is said.
    pub(super) fn new(sheet: &Sheet) -> Self {
        Self {
            text: TextColor::Unknown(None),
            // Nothing in the page sets one, so that it is white, unless a sheet from elsewhere does.
            background: match sheet.is_alone() {
                true => Background::Color(Color::WHITE),
                false => Background::Unknown(None),
            },
            visibility: Visibility::Visible,
            size: LETTER,
            opacity: 1.0,
            turned: Turned::NONE,
            has_flat_lines: false,
            cuts_flat_lines: false,
            is_one_line: false,
            is_indented: false,
            cuts_off: false,
        }
    }

    pub(super) fn add(&mut self, look: &Look) {
        self.opacity *= look.opacity();
        self.size = look.size(self.size).unwrap_or(self.size);
        self.visibility = look.visibility().unwrap_or(self.visibility);
        if let Some(turned) = look.turned() {
            self.turned = self.turned.after(turned).flat();
        }
        match look.color() {
            TextColor::Inherited => {}
            color => self.text = color,
        }
        self.background = match (look.background(), self.background, self.text) {
            (Background::Inherited, around, _) => around,
            (Background::Color(color), Background::Color(around), _) => {
                Background::Color(color.laid_on(around))
            }
            (Background::Color(color), _, _) if color.is_thin() => Background::Unknown(None),
            (Background::Text, _, TextColor::Color(color)) => Background::Color(color),
            (Background::Text, _, TextColor::Unknown(unknown)) => Background::Unknown(unknown),
            (Background::Text, around, _) => around,
            (background, _, _) => background,
        };
        let handed = |property, says| look.hands_down(property, &says);
        let or = |said: Option<bool>, held: bool| said.unwrap_or(held);
        self.has_flat_lines = or(handed(Property::LineHeight, Says::Flat), self.has_flat_lines);
        self.is_one_line = or(handed(Property::WhiteSpace, Says::OneLine), self.is_one_line);
        self.is_indented = or(handed(Property::TextIndent, Says::Indented), self.is_indented);
        self.cuts_off |= look.cuts_off();
        if look.cuts_off() || look.has_room() {
            self.cuts_flat_lines = self.has_flat_lines && !look.has_room();
        }
    }

    /// Letters are seen, whatever was said before.
    pub(super) fn show(&mut self) {
        self.visibility = Visibility::Visible;
    }

    /// Whether letters are not seen, until an element says that they are.
    pub(super) fn is_invisible(&self) -> bool {
        self.visibility == Visibility::Hidden
    }

    /// Whether nothing of the letters here is seen.
    pub(super) fn hides_text(&self) -> bool {
        let vanishes = match (self.text, self.background) {
            (TextColor::Clear, _) => true,
            (TextColor::Color(text), Background::Color(background)) => {
                text.vanishes_on(background, self.opacity)
            }
            // The same words are the same colour.
            (TextColor::Unknown(Some(text)), Background::Unknown(Some(background))) => {
                text == background
            }
            _ => false,
        };
        vanishes
            || self.is_invisible()
            || self.size <= TINY
            || self.opacity <= FAINT
            || self.turned.least() <= SMALL
            || (self.has_flat_lines && self.cuts_flat_lines)
            || (self.is_indented && self.is_one_line && self.cuts_off)
    }
}
