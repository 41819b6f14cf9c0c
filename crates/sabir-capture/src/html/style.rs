//! Which declarations of CSS make text invisible. It reads the few properties that can, and believes
//! them as a browser would; layout it does not know.

use std::borrow::Cow;
use std::sync::Arc;

use super::animation;
use super::color::{Color, Named, Unknown};
use super::css::{lowered, plain, split_outside, words};
use super::length::LETTER;
use super::transform::Turned;
use super::value::{self, FAINT, SMALL};
use super::variables::Variables;

/// One declaration that matters here. A value that no browser would take is none.
#[derive(Clone, Debug, PartialEq)]
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
    Contain,
    Opacity,
    Filter,
    FontSize,
    LineHeight,
    WhiteSpace,
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
    Rotate,
    Scale,
    Zoom,
    Clip,
    ClipPath,
    MaskImage,
    MaskSize,
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
    AnimationName,
    AnimationDuration,
    AnimationDelay,
    AnimationCount,
    AnimationDirection,
    AnimationFill,
    AnimationState,
    AnimationTimeline,
}

const COUNT: usize = Property::AnimationTimeline as usize + 1;

impl Property {
    /// Whether elements have it from what is around them.
    pub(super) fn is_handed_down(self) -> bool {
        matches!(
            self,
            Self::Visibility
                | Self::FontSize
                | Self::LineHeight
                | Self::WhiteSpace
                | Self::TextIndent
                | Self::Color
                | Self::TextFill
        )
    }
}

/// What a value means for whoever looks at the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Says {
    /// Nothing.
    Plain,
    Hides,
    /// As much of it is seen, or it is as large, of one.
    Share(f32),
    /// Letters of this height.
    Pixels(f32),
    /// What is around decides.
    Inherits,
    /// Far away, unless it stays where it is.
    Away,
    Static,
    /// Without room, which hides what does not fit if that is cut off.
    Flat,
    /// With some room.
    Roomy,
    CutsOff,
    /// Without room, unless some is given.
    Shut,
    ShutAndCut,
    /// So far to the right that nothing of the line is left, unless it breaks.
    Indented,
    /// Lines do not break.
    OneLine,
    /// Placed askew, or smaller.
    Turned(Arc<Turned>),
    Color(Color),
    UnknownColor(Unknown),
    /// The colour of the letters.
    TextColor,
    Picture,
    ClipsToText,
    /// What is understood only together with others.
    Words(Arc<str>),
}

impl Says {
    /// Whether this value of several that may hold is one that hides.
    fn may_hide(&self) -> bool {
        match self {
            Self::Share(share) => *share <= FAINT,
            Self::Pixels(pixels) => *pixels <= TINY,
            says => !matches!(says, Self::Plain | Self::Inherits | Self::Static | Self::Roomy),
        }
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

/// What a value says that may be one of several: `values` are all it can be.
fn meaning(name: &str, property: Property, place: usize, values: &[String]) -> Option<Says> {
    let mut all: Vec<Says> = values
        .iter()
        .filter_map(|value| value::says(property, &part(name, value, place)))
        .collect();
    let is_color = matches!(property, Property::Color | Property::TextFill)
        || matches!(property, Property::BackgroundColor | Property::BackgroundImage);
    if is_color && all.len() != 1 {
        // Day and night have colours of their own.
        let words = values.join(" ");
        return Some(Says::UnknownColor(Unknown::of(&words)));
    }
    // Where nothing is known of it, it is not as if it was not there.
    all.sort_by_key(|says| !says.may_hide());
    Some(all.into_iter().next().unwrap_or(Says::Plain))
}

/// What a property with this name sets, in the order of its values.
fn places(name: &str) -> &'static [Property] {
    use Property::*;
    match name {
        "display" => &[Display],
        "visibility" => &[Visibility],
        "content-visibility" => &[ContentVisibility],
        "contain" => &[Contain],
        "opacity" => &[Opacity],
        "filter" | "-webkit-filter" => &[Filter],
        "font-size" => &[FontSize],
        "font" => &[FontSize, LineHeight],
        "line-height" => &[LineHeight],
        "white-space" | "text-wrap" | "text-wrap-mode" => &[WhiteSpace],
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
        "rotate" => &[Rotate],
        "scale" => &[Scale],
        "zoom" => &[Zoom],
        "clip" => &[Clip],
        "clip-path" | "-webkit-clip-path" => &[ClipPath],
        "mask" | "-webkit-mask" => &[MaskImage],
        "mask-image" | "-webkit-mask-image" => &[MaskImage],
        "mask-size" | "-webkit-mask-size" => &[MaskSize],
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
        _ => match name.strip_prefix("-webkit-").unwrap_or(name) {
            "animation" => animation::PARTS,
            "animation-name" => &[AnimationName],
            "animation-duration" => &[AnimationDuration],
            "animation-delay" => &[AnimationDelay],
            "animation-iteration-count" => &[AnimationCount],
            "animation-direction" => &[AnimationDirection],
            "animation-fill-mode" => &[AnimationFill],
            "animation-play-state" => &[AnimationState],
            "animation-timeline" => &[AnimationTimeline],
            _ => &[],
        },
    }
}

/// The part of a shorthand's value that is meant for one of its places.
fn part<'a>(name: &str, value: &'a str, place: usize) -> Cow<'a, str> {
    let words: Vec<&str> = match name {
        "inset" | "inset-inline" | "inset-block" | "overflow" | "margin" | "margin-inline"
        | "margin-block" => words(value).collect(),
        "font" => return Cow::Owned(format!("font {value}")),
        "animation" | "-webkit-animation" => return Cow::Owned(animation::part(value, place)),
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

/// What a list of declarations amounts to, the last of each property winning.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    last: [Option<Declaration>; COUNT],
}

impl Default for Look {
    fn default() -> Self {
        Self { last: [const { None }; COUNT] }
    }
}

impl Look {
    pub(crate) fn of(declarations: &[Declaration]) -> Self {
        let mut look = Self::default();
        for declaration in declarations {
            look.add(declaration.clone());
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
        let value = lowered(value.trim());
        let (value, important) = match value.rsplit_once('!') {
            Some((value, mark)) if mark.trim() == "important" => (value.trim(), true),
            _ => (value.as_str(), false),
        };
        let values = variables.values_of(value);
        for (place, property) in places.iter().enumerate() {
            let says = match &values {
                None => value::says(*property, &part(&name, value, place)),
                Some(values) => meaning(&name, *property, place, values),
            };
            if let Some(says) = says {
                self.add(Declaration { property: *property, says, important });
            }
        }
    }

    pub(crate) fn declarations(&self) -> impl Iterator<Item = Declaration> {
        self.last.iter().flatten().cloned()
    }

    /// Adds a declaration that comes later, or is stronger, than those before it.
    pub(crate) fn add(&mut self, declaration: Declaration) {
        let place = &mut self.last[declaration.property as usize];
        if !place.as_ref().is_some_and(|held| held.important && !declaration.important) {
            *place = Some(declaration);
        }
    }

    /// Whatever else it says, it is hidden.
    pub(super) fn hide(&mut self) {
        let says = Says::Hides;
        self.add(Declaration { property: Property::Display, says, important: true });
    }

    pub(super) fn says(&self, property: Property) -> Option<&Says> {
        self.last[property as usize].as_ref().map(|declaration| &declaration.says)
    }

    fn has(&self, says: &Says) -> bool {
        self.last.iter().flatten().any(|declaration| declaration.says == *says)
    }

    /// Whether it is not seen, whatever is in it or around it.
    pub(crate) fn is_hidden(&self) -> bool {
        let hides = |declaration: &Declaration| {
            declaration.says == Says::Hides && declaration.property != Property::Visibility
        };
        self.last.iter().flatten().any(hides)
            || (self.has(&Says::Away) && !self.has(&Says::Static))
            || (self.is_flat() && self.cuts_off())
            || self.is_masked()
            || self.opacity() <= FAINT
            || self.turned().is_some_and(|turned| turned.least() <= SMALL)
    }

    /// Whether there is no room for what is in it.
    fn is_flat(&self) -> bool {
        use Property::{Height, MaxHeight, MaxWidth, Width};
        let sides = [Height, MaxHeight, Width, MaxWidth];
        let is_shut = matches!(self.says(Property::Contain), Some(Says::Shut | Says::ShutAndCut));
        sides.iter().any(|side| self.says(*side) == Some(&Says::Flat))
            || (is_shut && self.says(Height) != Some(&Says::Roomy))
    }

    /// Whether what does not fit is not painted.
    pub(crate) fn cuts_off(&self) -> bool {
        self.has(&Says::CutsOff) || self.has(&Says::ShutAndCut)
    }

    fn is_masked(&self) -> bool {
        self.says(Property::MaskImage) == Some(&Says::Picture)
            && self.says(Property::MaskSize) == Some(&Says::Flat)
    }

    /// Whether it hides without anything around it.
    pub(crate) fn hides_alone(&self) -> bool {
        let has = |property, says| self.says(property) == Some(&says);
        self.is_hidden()
            || self.visibility() == Some(Visibility::Hidden)
            || self.size(LETTER).is_some_and(|size| size <= TINY)
            || self.color() == TextColor::Clear
            || (self.cuts_off()
                && (has(Property::LineHeight, Says::Flat)
                    || has(Property::TextIndent, Says::Indented)))
    }

    /// Whether an animation may change what it says.
    pub(crate) fn is_animated(&self) -> bool {
        self.says(Property::AnimationName).is_some()
    }

    /// Whether it says that letters are seen or are not; others inside may say otherwise.
    pub(crate) fn visibility(&self) -> Option<Visibility> {
        match self.says(Property::Visibility)? {
            Says::Hides => Some(Visibility::Hidden),
            Says::Inherits => None,
            _ => Some(Visibility::Visible),
        }
    }

    /// How much of it is seen, of one.
    pub(crate) fn opacity(&self) -> f32 {
        let share = |property| match self.says(property) {
            Some(Says::Share(share)) => share.clamp(0.0, 1.0),
            _ => 1.0,
        };
        share(Property::Opacity) * share(Property::Filter)
    }

    /// How it is turned and scaled.
    pub(crate) fn turned(&self) -> Option<Turned> {
        let one = |property| match self.says(property) {
            Some(Says::Turned(turned)) => Some(**turned),
            _ => None,
        };
        let all = [Property::Rotate, Property::Scale, Property::Transform];
        all.into_iter().filter_map(one).reduce(Turned::after)
    }

    /// How high letters are in pixels, inside of letters that are as high as `around`.
    pub(crate) fn size(&self, around: f32) -> Option<f32> {
        match self.says(Property::FontSize)? {
            Says::Pixels(pixels) => Some(*pixels),
            Says::Share(share) => Some(around * share),
            Says::Inherits => None,
            _ => Some(LETTER),
        }
    }

    /// Whether a property that is handed down says this; nothing where it says nothing.
    pub(crate) fn hands_down(&self, property: Property, says: &Says) -> Option<bool> {
        match self.says(property)? {
            Says::Inherits => None,
            said => Some(said == says),
        }
    }

    /// Whether a height is given to it.
    pub(crate) fn has_room(&self) -> bool {
        self.says(Property::Height) == Some(&Says::Roomy)
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
            Some(Says::Color(color)) if color.is_clear() && self.has(&Says::ClipsToText) => {
                TextColor::Unknown(None)
            }
            Some(Says::Color(color)) if color.is_clear() => TextColor::Clear,
            Some(Says::Color(color)) => TextColor::Color(*color),
            Some(Says::UnknownColor(unknown)) => TextColor::Unknown(Some(*unknown)),
            Some(_) => TextColor::Unknown(None),
        }
    }

    /// What it says about the background.
    pub(crate) fn background(&self) -> Background {
        // A picture may lie over the colour.
        if self.says(Property::BackgroundImage) == Some(&Says::Picture) {
            return Background::Unknown(None);
        }
        match self.says(Property::BackgroundColor) {
            Some(Says::Color(color)) if !color.is_clear() => Background::Color(*color),
            Some(Says::UnknownColor(unknown)) => Background::Unknown(Some(*unknown)),
            Some(Says::TextColor) => Background::Text,
            _ => Background::Inherited,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Hidden,
    Visible,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextColor {
    Inherited,
    Color(Color),
    Clear,
    Unknown(Option<Unknown>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    Inherited,
    Color(Color),
    /// The colour of the letters.
    Text,
    Unknown(Option<Unknown>),
}

impl From<Named> for Says {
    fn from(named: Named) -> Self {
        match named {
            Named::Color(color) => Self::Color(color),
            Named::Unknown(unknown) => Self::UnknownColor(unknown),
        }
    }
}

/// Letters as low as this, in pixels, cannot be read.
pub(crate) const TINY: f32 = 1.34;

/// Longer ones are pictures.
pub(super) const LONGEST_VALUE: usize = 2_000;
