//! What the value of one property means for whoever looks at the text. A value that a browser would
//! not take means nothing, and does not replace one that it takes.

use std::sync::Arc;

use super::color::Color;
use super::css::{function, functions, split_outside, words};
use super::length::{LETTER, Length, share};
use super::style::{Property, Says};
use super::transform::{self, Transform, Turned};
use super::{mask, shape};

/// What a value in lower case says; nothing where it is none of this property.
pub(super) fn says(property: Property, value: &str) -> Option<Says> {
    if matches!(value, "inherit" | "initial" | "unset" | "revert" | "revert-layer") {
        // What is handed down anyway is so without a word, too.
        let inherits = value == "inherit" || (value != "initial" && property.is_handed_down());
        return Some(if inherits { Says::Inherits } else { Says::Plain });
    }
    match property {
        Property::Display => display(value),
        Property::Visibility => one_of(value, &["hidden", "collapse"], &["visible"]),
        Property::ContentVisibility => match value {
            // What is not on the screen yet is not painted outside of its box.
            "auto" => Some(Says::CutsOff),
            value => one_of(value, &["hidden"], &["visible"]),
        },
        Property::Contain => contain(value),
        Property::Opacity => share(value).map(Says::Share),
        Property::Filter => filter(value),
        Property::FontSize => font_size(value),
        Property::LineHeight => line_height(value),
        Property::WhiteSpace => white_space(value),
        Property::TextIndent => lengths(value, &["hanging", "each-line"], |length| {
            match length {
                // Lines are indented a little, and not to the left.
                length if length.is_beyond([100.0, 90.0]) => Says::Hides,
                length if length.percent >= 90.0 || length.screen >= 90.0 => Says::Indented,
                length if length.pixels() >= 900.0 => Says::Indented,
                _ => Says::Plain,
            }
        }),
        Property::Position => match value {
            "static" => Some(Says::Static),
            "relative" | "absolute" | "fixed" | "sticky" | "-webkit-sticky" => Some(Says::Plain),
            _ => None,
        },
        Property::Left | Property::Top | Property::Right | Property::Bottom => {
            lengths(value, &["auto"], |length| match length.is_beyond([480.0, 100.0]) {
                true => Says::Away,
                false => Says::Plain,
            })
        }
        // Columns and cards are pulled by a column's width.
        Property::MarginLeft | Property::MarginTop => {
            lengths(value, &["auto"], |length| hides(length.is_beyond([900.0, 300.0])))
        }
        Property::Transform => Transform::read(value).map(|transform| match transform.is_far() {
            true => Says::Hides,
            false => turned(transform.seen()),
        }),
        Property::Translate => lengths(value, &["none"], |length| hides(transform::is_far(length))),
        Property::Rotate => transform::rotation(value).map(turned),
        Property::Scale => transform::scaling(value).map(turned),
        Property::Zoom => match value {
            "normal" | "reset" => Some(Says::Plain),
            value => share(value).map(|share| hides(share <= SMALL)),
        },
        Property::Clip => shape::clip(value).map(hides),
        Property::ClipPath => shape::clip_path(value).map(hides),
        Property::MaskImage => mask::is_closed(value).map(|is_closed| match is_closed {
            true => Says::Hides,
            false if value.contains('(') => Says::Picture,
            false => Says::Plain,
        }),
        Property::MaskSize => Some(match mask::is_nothing(value) {
            true => Says::Flat,
            false => Says::Plain,
        }),
        Property::OverflowX | Property::OverflowY => {
            match one_of(value, &["hidden", "clip", "auto", "scroll", "overlay"], &["visible"])? {
                Says::Hides => Some(Says::CutsOff),
                says => Some(says),
            }
        }
        Property::Width | Property::MaxWidth | Property::Height | Property::MaxHeight => {
            lengths(value, ROOM, |length| match length.is_nothing() {
                true => Says::Flat,
                false => Says::Roomy,
            })
        }
        Property::Color | Property::TextFill => match value {
            "currentcolor" => Some(Says::Inherits),
            value => Color::read(value).map(Says::from),
        },
        Property::BackgroundColor => background_color(value),
        Property::BackgroundImage => {
            let is_picture = ["url(", "gradient(", "image(", "image-set(", "cross-fade(", "paint("]
                .iter()
                .any(|name| value.contains(name));
            Some(if is_picture { Says::Picture } else { Says::Plain })
        }
        Property::BackgroundClip => {
            let is_text = words(value).any(|word| word.trim_end_matches(',') == "text");
            Some(if is_text { Says::ClipsToText } else { Says::Plain })
        }
        Property::AnimationName
        | Property::AnimationDuration
        | Property::AnimationDelay
        | Property::AnimationCount
        | Property::AnimationDirection
        | Property::AnimationFill
        | Property::AnimationState
        | Property::AnimationTimeline => Some(Says::Words(Arc::from(value))),
    }
}

fn turned(turned: Turned) -> Says {
    match turned.least() <= SMALL {
        true => Says::Hides,
        false => Says::Turned(Arc::new(turned)),
    }
}

/// What is contained is cut off, has no room of its own, or both.
fn contain(value: &str) -> Option<Says> {
    let mut says = Says::Plain;
    for word in words(value) {
        says = match (word, says) {
            ("strict", _) | ("size", Says::CutsOff) | ("paint", Says::Shut) => Says::ShutAndCut,
            ("content" | "paint", Says::Plain) => Says::CutsOff,
            ("size", Says::Plain) => Says::Shut,
            ("none" | "layout" | "style" | "inline-size" | "size" | "paint", says) => says,
            _ => return None,
        };
    }
    Some(says)
}

/// Lines that have no height.
fn line_height(value: &str) -> Option<Says> {
    let value = match value.strip_prefix("font ") {
        Some(font) => words(font).find_map(|word| split_outside(word, |c| c == '/').nth(1))?,
        None => value,
    };
    if value == "normal" {
        return Some(Says::Plain);
    }
    let length = Length::read(value)?;
    let height = match length.is_bare() {
        true => length.own_pixels() * LETTER,
        false => length.pixels() + length.percent / 100.0 * LETTER + length.screen * 10.0,
    };
    (height >= 0.0).then_some(if height <= LEAST_LINE { Says::Flat } else { Says::Plain })
}

fn white_space(value: &str) -> Option<Says> {
    let mut is_one_line = false;
    for word in words(value) {
        match word {
            "nowrap" | "pre" => is_one_line = true,
            "normal" | "pre-wrap" | "pre-line" | "break-spaces" | "wrap" | "collapse"
            | "preserve" | "preserve-breaks" | "preserve-spaces" | "discard-before"
            | "discard-after" | "discard-inner" | "none" | "balance" | "pretty" | "stable"
            | "auto" => {}
            _ => return None,
        }
    }
    Some(if is_one_line { Says::OneLine } else { Says::Plain })
}

fn hides(is_so: bool) -> Says {
    if is_so { Says::Hides } else { Says::Plain }
}

fn one_of(value: &str, hiding: &[&str], plain: &[&str]) -> Option<Says> {
    match value {
        value if hiding.contains(&value) => Some(Says::Hides),
        value if plain.contains(&value) => Some(Says::Plain),
        _ => None,
    }
}

fn display(value: &str) -> Option<Says> {
    if value == "none" {
        return Some(Says::Hides);
    }
    let is_known = |word: &str| {
        matches!(
            word,
            "block"
                | "inline"
                | "flow"
                | "flow-root"
                | "flex"
                | "grid"
                | "table"
                | "ruby"
                | "math"
                | "contents"
                | "list-item"
                | "run-in"
                | "-webkit-box"
                | "-webkit-inline-box"
                | "-webkit-flex"
                | "-webkit-inline-flex"
        ) || ["inline-", "table-", "ruby-"].iter().any(|start| word.starts_with(start))
    };
    words(value).all(is_known).then_some(Says::Plain).filter(|_| !value.is_empty())
}

fn filter(value: &str) -> Option<Says> {
    if value == "none" {
        return Some(Says::Plain);
    }
    let mut seen = 1.0;
    for (name, inner) in functions(value)? {
        match name {
            "opacity" if inner.is_empty() => {}
            "opacity" => seen *= share(inner)?,
            "blur" if Length::read(inner).is_some_and(|length| length.pixels() >= BLUR) => {
                seen = 0.0
            }
            "blur" | "brightness" | "contrast" | "drop-shadow" | "grayscale" | "hue-rotate"
            | "invert" | "saturate" | "sepia" | "url" => {}
            _ => return None,
        }
    }
    Some(Says::Share(seen))
}

fn font_size(value: &str) -> Option<Says> {
    if let Some(font) = value.strip_prefix("font ") {
        // The size may carry the height of the line: `0/0 a`. Numbers without a unit before it are
        // weights.
        return words(font)
            .filter_map(|word| split_outside(word, |c| c == '/').next())
            .filter_map(Length::read)
            .find(|length| !length.is_bare() || length.own_pixels() == 0.0)
            .map(size_of_length)
            .or_else(|| words(font).find_map(size_of_word));
    }
    size_of_word(value).or_else(|| {
        let length = Length::read(value)?;
        (!length.is_bare() || length.own_pixels() == 0.0).then(|| size_of_length(length))
    })
}

/// In pixels, or as a part of what is around.
fn size_of_length(length: Length) -> Says {
    let part = length.letters + length.percent / 100.0;
    match part == 0.0 {
        true => Says::Pixels(length.own_pixels() + length.screen * 10.0),
        false => Says::Share(part + (length.own_pixels() + length.screen * 10.0) / LETTER),
    }
}

fn size_of_word(word: &str) -> Option<Says> {
    match word {
        "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large"
        | "xxx-large" | "math" => Some(Says::Plain),
        "smaller" => Some(Says::Share(0.83)),
        "larger" => Some(Says::Share(1.2)),
        _ => None,
    }
}

/// The first length that says something. A number without a unit is a length to old pages only, so
/// that it counts where it hides and nowhere else.
fn lengths(value: &str, others: &[&str], says: impl Fn(Length) -> Says) -> Option<Says> {
    let mut found = None;
    for word in words(value) {
        if others.contains(&word) || word.starts_with("fit-content(") {
            found.get_or_insert(Says::Plain);
            continue;
        }
        let length = Length::read(word)?;
        let said = says(length);
        match said {
            Says::Plain | Says::Roomy if length.is_bare() && length.own_pixels() != 0.0 => {
                return None;
            }
            Says::Plain => _ = found.get_or_insert(said),
            said => found = Some(said),
        }
    }
    found
}

impl Length {
    /// Whether something is moved against the direction of reading by as much as this, in pixels or
    /// hundredths; or along it by several screens.
    fn is_beyond(self, [pixels, percent]: [f32; 2]) -> bool {
        let (back, on) = (-pixels, 4_000.0);
        self.pixels() <= back
            || self.pixels() >= on
            || self.percent <= -percent
            || self.percent >= 300.0
            || self.screen <= -percent.min(100.0)
            || self.screen >= 200.0
    }

    /// So small that nothing of the text fits.
    fn is_nothing(self) -> bool {
        (0.0..=1.0).contains(&self.pixels())
            && (0.0..0.2).contains(&self.percent)
            && (0.0..0.2).contains(&self.screen)
    }
}

fn background_color(value: &str) -> Option<Says> {
    if let Some(named) = Color::read(value) {
        return Some(named.into());
    }
    if value == "currentcolor" {
        return Some(Says::TextColor);
    }
    // In the shorthand the colour is one of the words of the last layer.
    let last = split_outside(value, |c| c == ',').last()?;
    match words(last).find_map(Color::read) {
        Some(named) => Some(named.into()),
        None if words(last).all(is_background_word) => Some(Says::Plain),
        None => None,
    }
}

fn is_background_word(word: &str) -> bool {
    matches!(
        word,
        "none"
            | "repeat"
            | "no-repeat"
            | "repeat-x"
            | "repeat-y"
            | "space"
            | "round"
            | "scroll"
            | "fixed"
            | "local"
            | "center"
            | "left"
            | "right"
            | "top"
            | "bottom"
            | "cover"
            | "contain"
            | "auto"
            | "/"
            | "border-box"
            | "padding-box"
            | "content-box"
            | "text"
    ) || function(word).is_some()
        || word.split('/').all(|part| Length::read(part).is_some() || is_known_size(part))
}

fn is_known_size(word: &str) -> bool {
    matches!(word, "center" | "left" | "right" | "top" | "bottom" | "cover" | "contain" | "auto")
}

/// As little of something is not seen.
pub(crate) const FAINT: f32 = 0.05;

/// What is made as small cannot be read.
pub(crate) const SMALL: f32 = 0.05;

/// Of letters that are blurred as much, in pixels, nothing is left to read.
const BLUR: f32 = 8.0;

/// Lines as low as this, in pixels, show nothing of their letters.
const LEAST_LINE: f32 = 2.0;

/// Words for how much room there is.
const ROOM: &[&str] = &[
    "auto",
    "none",
    "min-content",
    "max-content",
    "fit-content",
    "stretch",
    "-webkit-fill-available",
    "-webkit-fit-content",
    "-webkit-max-content",
    "-webkit-min-content",
    "intrinsic",
];
