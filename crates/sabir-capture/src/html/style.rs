//! Which declarations of CSS make text invisible. It reads the few properties that can, and believes
//! them as a browser would; layout it does not know.

use std::borrow::Cow;
use std::collections::HashMap;

use super::color::{Color, Named};
use super::css::{plain, split_outside, words};
use super::value;

/// One declaration that matters here. A value that no browser would take is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Declaration {
    pub(crate) property: Property,
    pub(crate) says: Says,
    pub(crate) important: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    Display,
    Visibility,
    ContentVisibility,
    Opacity,
    Filter,
    FontSize,
    TextIndent,
    Position,
    Left,
    Top,
    Right,
    Bottom,
    MarginLeft,
    MarginTop,
    Transform,
    Translate,
    Scale,
    Zoom,
    Clip,
    ClipPath,
    OverflowX,
    OverflowY,
    Width,
    MaxWidth,
    Height,
    MaxHeight,
    Color,
    TextFill,
    BackgroundColor,
    BackgroundImage,
    BackgroundClip,
}

const COUNT: usize = Property::BackgroundClip as usize + 1;

/// What a value means for whoever looks at the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Says {
    /// Nothing.
    Plain,
    Hides,
    /// As much of it is seen.
    Share(f32),
    /// Letters that nobody can read.
    Tiny,
    /// What is around decides.
    Inherits,
    /// Far away, unless it stays where it is.
    Away,
    Static,
    /// Without room, which hides what does not fit if that is cut off.
    Flat,
    CutsOff,
    Color(Color),
    UnknownColor,
    Picture,
    ClipsToText,
}

/// What the page has given names to: `--ink`. Who sets one where is not known, so that a value that
/// hides counts wherever it was set.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    values: HashMap<String, Vec<String>>,
    /// Whether there were too many.
    pub(crate) is_cut: bool,
}

impl Variables {
    /// Adds what a text that [`plain`] has read sets.
    pub(crate) fn read(&mut self, text: &str) {
        if !text.contains("--") {
            return;
        }
        for part in text.split(['{', '}', ';']) {
            let Some((name, value)) = part.trim().split_once(':') else { continue };
            let (name, value) = (name.trim(), value.trim());
            if !name.starts_with("--") {
                continue;
            }
            if self.values.len() >= MOST_VARIABLES || value.len() > LONGEST_VALUE {
                self.is_cut |= self.values.len() >= MOST_VARIABLES;
                continue;
            }
            let values = self.values.entry(name.to_owned()).or_default();
            let value = value.to_ascii_lowercase();
            if values.contains(&value) {
                continue;
            }
            match values.len() < MOST_VALUES {
                true => values.push(value),
                false => self.is_cut = true,
            }
        }
    }

    /// The values that a value with `var()` in it can have, each once.
    fn resolve(&self, value: &str) -> Vec<String> {
        let mut done = Vec::new();
        let mut open = vec![value.to_owned()];
        let mut steps = 0;
        while let Some(value) = open.pop() {
            steps += 1;
            let Some(start) = value.find("var(") else {
                done.push(value);
                continue;
            };
            if steps > MOST_VALUES * 4 || value.len() > LONGEST_VALUE * 2 {
                continue;
            }
            let rest = &value[start + 4..];
            let inner = split_outside(rest, |c| c == ')').next().unwrap_or_default();
            let after = rest.get(inner.len() + 1..).unwrap_or_default();
            let (name, fallback) = match inner.split_once(',') {
                Some((name, fallback)) => (name.trim(), Some(fallback.trim())),
                None => (inner.trim(), None),
            };
            let known = self.values.get(name).into_iter().flatten().map(String::as_str);
            for candidate in known.chain(fallback) {
                open.push(format!("{}{candidate}{after}", &value[..start]));
            }
        }
        done
    }
}

/// The declarations of a `style` attribute or of a rule that matter here, at most one of each
/// property: the last that is valid, an important one before others.
pub(crate) fn declarations(text: &str, variables: &Variables) -> Vec<Declaration> {
    let text = plain(text);
    let mut look = Look::default();
    for part in split_outside(&text, |c| c == ';') {
        look.read(part, variables);
    }
    look.declarations().collect()
}

fn meaning(property: Property, value: &str, variables: &Variables) -> Option<Says> {
    if !value.contains("var(") {
        return value::says(property, value);
    }
    let all = variables.resolve(value);
    let mut all = all.iter().filter_map(|value| value::says(property, value));
    let first = all.next();
    let is_color = matches!(property, Property::Color | Property::TextFill)
        || matches!(property, Property::BackgroundColor | Property::BackgroundImage);
    match (first, all.next()) {
        // Day and night have colours of their own.
        (Some(_), Some(_)) | (None, _) if is_color => Some(Says::UnknownColor),
        (first, second) => {
            let hides = |says: &Says| match says {
                Says::Share(share) => *share <= value::FAINT,
                says => !matches!(says, Says::Plain | Says::Inherits | Says::Static),
            };
            // Where nothing is known of it, it is not as if it was not there.
            let all = [first, second].into_iter().flatten().chain(all);
            let mut all: Vec<Says> = all.collect();
            all.sort_by_key(|says| !hides(says));
            Some(all.first().copied().unwrap_or(Says::Plain))
        }
    }
}

/// What a property with this name sets, in the order of its values.
fn places(name: &str) -> &'static [Property] {
    use Property::*;
    match name {
        "display" => &[Display],
        "visibility" => &[Visibility],
        "content-visibility" => &[ContentVisibility],
        "opacity" => &[Opacity],
        "filter" | "-webkit-filter" => &[Filter],
        "font-size" | "font" => &[FontSize],
        "text-indent" => &[TextIndent],
        "position" => &[Position],
        "left" | "inset-inline-start" => &[Left],
        "top" | "inset-block-start" => &[Top],
        "right" | "inset-inline-end" => &[Right],
        "bottom" | "inset-block-end" => &[Bottom],
        "inset" => &[Top, Right, Bottom, Left],
        "inset-inline" => &[Left, Right],
        "inset-block" => &[Top, Bottom],
        "margin" => &[MarginTop, MarginLeft],
        "margin-left" | "margin-inline-start" | "margin-inline" => &[MarginLeft],
        "margin-top" | "margin-block-start" | "margin-block" => &[MarginTop],
        "transform" | "-webkit-transform" => &[Transform],
        "translate" => &[Translate],
        "scale" => &[Scale],
        "zoom" => &[Zoom],
        "clip" => &[Clip],
        "clip-path" | "-webkit-clip-path" => &[ClipPath],
        "overflow" => &[OverflowX, OverflowY],
        "overflow-x" | "overflow-inline" => &[OverflowX],
        "overflow-y" | "overflow-block" => &[OverflowY],
        "width" | "inline-size" => &[Width],
        "max-width" | "max-inline-size" => &[MaxWidth],
        "height" | "block-size" => &[Height],
        "max-height" | "max-block-size" => &[MaxHeight],
        "color" => &[Color],
        "-webkit-text-fill-color" => &[TextFill],
        "background" => &[BackgroundColor, BackgroundImage, BackgroundClip],
        "background-color" => &[BackgroundColor],
        "background-image" => &[BackgroundImage],
        "background-clip" | "-webkit-background-clip" => &[BackgroundClip],
        _ => &[],
    }
}

/// The part of a shorthand's value that is meant for one of its places.
fn part<'a>(name: &str, value: &'a str, place: usize) -> Cow<'a, str> {
    let words: Vec<&str> = match name {
        "inset" | "inset-inline" | "inset-block" | "overflow" | "margin" | "margin-inline"
        | "margin-block" => words(value).collect(),
        "font" => return Cow::Owned(format!("font {value}")),
        _ => return Cow::Borrowed(value),
    };
    let place = match (name, words.len()) {
        // Left is the last of four, and else what is right.
        ("margin", 4) => place * 3,
        ("margin", 2 | 3) => place,
        ("inset", 2) => place % 2,
        ("inset", 3) if place == 3 => 1,
        (_, 1) => 0,
        _ => place,
    };
    Cow::Borrowed(words.get(place).copied().unwrap_or(value))
}

/// Whether a `style` attribute alone hides its element.
pub(crate) fn hides(style: &str) -> bool {
    let mut variables = Variables::default();
    variables.read(&plain(style));
    Look::of(&declarations(style, &variables)).hides_alone()
}

/// What a list of declarations amounts to, the last of each property winning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look {
    last: [Option<Declaration>; COUNT],
}

impl Look {
    pub(crate) fn of(declarations: &[Declaration]) -> Self {
        let mut look = Self::default();
        for declaration in declarations {
            look.add(*declaration);
        }
        look
    }

    /// Reads one declaration that [`plain`] has read, if it says something here.
    pub(crate) fn read(&mut self, text: &str, variables: &Variables) {
        let Some((name, value)) = text.split_once(':') else { return };
        let name = name.trim().to_ascii_lowercase();
        let places = places(&name);
        if places.is_empty() || value.len() > LONGEST_VALUE {
            return;
        }
        let value = value.trim().to_ascii_lowercase();
        let (value, important) = match value.rsplit_once('!') {
            Some((value, mark)) if mark.trim() == "important" => (value.trim(), true),
            _ => (value.as_str(), false),
        };
        for (place, property) in places.iter().enumerate() {
            let value = part(&name, value, place);
            if let Some(says) = meaning(*property, &value, variables) {
                self.add(Declaration { property: *property, says, important });
            }
        }
    }

    pub(crate) fn declarations(&self) -> impl Iterator<Item = Declaration> {
        self.last.into_iter().flatten()
    }

    /// Adds a declaration that comes later, or is stronger, than those before it.
    pub(crate) fn add(&mut self, declaration: Declaration) {
        let place = &mut self.last[declaration.property as usize];
        if !place.is_some_and(|held| held.important && !declaration.important) {
            *place = Some(declaration);
        }
    }

    fn says(&self, property: Property) -> Option<Says> {
        self.last[property as usize].map(|declaration| declaration.says)
    }

    fn has(&self, says: Says) -> bool {
        self.last.iter().flatten().any(|declaration| declaration.says == says)
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.has(Says::Hides)
            || (self.has(Says::Away) && !self.has(Says::Static))
            || (self.has(Says::Flat) && self.has(Says::CutsOff))
            || self.opacity() <= value::FAINT
    }

    /// Whether it hides without anything around it.
    pub(crate) fn hides_alone(&self) -> bool {
        self.is_hidden() || self.size() == Some(Size::Tiny) || self.color() == TextColor::Clear
    }

    /// How much of it is seen, of one.
    pub(crate) fn opacity(&self) -> f32 {
        let share = |property| match self.says(property) {
            Some(Says::Share(share)) => share.clamp(0.0, 1.0),
            _ => 1.0,
        };
        share(Property::Opacity) * share(Property::Filter)
    }

    /// What it says about the size of letters.
    pub(crate) fn size(&self) -> Option<Size> {
        match self.says(Property::FontSize)? {
            Says::Tiny => Some(Size::Tiny),
            Says::Inherits => None,
            _ => Some(Size::Seen),
        }
    }

    /// What it says about the colour of letters.
    pub(crate) fn color(&self) -> TextColor {
        let said = match self.says(Property::TextFill) {
            None | Some(Says::Inherits) => self.says(Property::Color),
            filled => filled,
        };
        match said {
            None | Some(Says::Inherits) => TextColor::Inherited,
            // The background shines through in the shape of the letters.
            Some(Says::Color(color)) if color.is_clear() && self.has(Says::ClipsToText) => {
                TextColor::Unknown
            }
            Some(Says::Color(color)) if color.is_clear() => TextColor::Clear,
            Some(Says::Color(color)) => TextColor::Color(color),
            Some(_) => TextColor::Unknown,
        }
    }

    /// What it says about the background.
    pub(crate) fn background(&self) -> Background {
        // A picture may lie over the colour.
        if self.says(Property::BackgroundImage) == Some(Says::Picture) {
            return Background::Unknown;
        }
        match self.says(Property::BackgroundColor) {
            Some(Says::Color(color)) if !color.is_clear() => Background::Color(color),
            Some(Says::UnknownColor) => Background::Unknown,
            _ => Background::Inherited,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Tiny,
    Seen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextColor {
    Inherited,
    Color(Color),
    Clear,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    Inherited,
    Color(Color),
    Unknown,
}

impl From<Named> for Says {
    fn from(named: Named) -> Self {
        match named {
            Named::Color(color) => Self::Color(color),
            Named::Unknown => Self::UnknownColor,
        }
    }
}

/// More than any sheet that people write.
const MOST_VARIABLES: usize = 5_000;
const MOST_VALUES: usize = 8;
const LONGEST_VALUE: usize = 2_000;
