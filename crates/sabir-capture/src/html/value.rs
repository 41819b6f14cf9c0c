//! What the value of one property means for whoever looks at the text. A value that a browser would
//! not take means nothing, and does not replace one that it takes.

use super::color::Color;
use super::css::{Length, function, functions, share, split_outside, turn, words};
use super::style::{Property, Says};

/// What a value in lower case says; nothing where it is none of this property.
pub(super) fn says(property: Property, value: &str) -> Option<Says> {
    if matches!(value, "inherit" | "initial" | "unset" | "revert" | "revert-layer") {
        return Some(if value == "inherit" { Says::Inherits } else { Says::Plain });
    }
    match property {
        Property::Display => display(value),
        Property::Visibility => one_of(value, &["hidden", "collapse"], &["visible"]),
        Property::ContentVisibility => one_of(value, &["hidden"], &["visible", "auto"]),
        Property::Opacity => share(value).map(Says::Share),
        Property::Filter => filter(value),
        Property::FontSize => font_size(value),
        Property::TextIndent => lengths(value, &["hanging", "each-line"], |length| {
            // Lines are indented a little, and not to the left.
            hides(length.is_beyond([100.0, 90.0]))
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
        Property::Transform => transform(value),
        Property::Translate => lengths(value, &["none"], |length| hides(length.is_far())),
        Property::Scale => {
            if value == "none" {
                return Some(Says::Plain);
            }
            let shares = words(value).map(share).collect::<Option<Vec<_>>>()?;
            Some(hides(shares.iter().take(2).any(|share| share.abs() <= SMALL)))
        }
        Property::Zoom => match value {
            "normal" | "reset" => Some(Says::Plain),
            value => share(value).map(|share| hides(share <= SMALL)),
        },
        Property::Clip => clip(value),
        Property::ClipPath => clip_path(value),
        Property::OverflowX | Property::OverflowY => {
            match one_of(value, &["hidden", "clip", "auto", "scroll", "overlay"], &["visible"])? {
                Says::Hides => Some(Says::CutsOff),
                says => Some(says),
            }
        }
        Property::Width | Property::MaxWidth | Property::Height | Property::MaxHeight => {
            lengths(value, ROOM, |length| match length.is_nothing() {
                true => Says::Flat,
                false => Says::Plain,
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
    }
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
    if value == "none" || value.starts_with("url(") {
        return Some(Says::Plain);
    }
    let mut seen = 1.0;
    for (name, inner) in functions(value)? {
        match name {
            "opacity" if inner.is_empty() => {}
            "opacity" => seen *= share(inner)?,
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
            .find(|length| !length.is_bare || length.pixels == 0.0)
            .map(size_of_length)
            .or_else(|| words(font).find_map(size_of_word));
    }
    size_of_word(value).or_else(|| {
        let length = Length::read(value)?;
        (!length.is_bare || length.pixels == 0.0).then(|| size_of_length_or_part(value, length))
    })
}

/// A part of what is around is tiny if that is.
fn size_of_length_or_part(value: &str, length: Length) -> Says {
    match size_of_length(length) {
        Says::Plain if value.ends_with('%') => Says::Inherits,
        Says::Plain if value.ends_with("em") && !value.ends_with("rem") => Says::Inherits,
        says => says,
    }
}

fn size_of_length(length: Length) -> Says {
    let is_tiny = length.pixels <= 1.34 && length.percent <= 5.0 && length.screen <= 0.05;
    if is_tiny { Says::Tiny } else { Says::Plain }
}

fn size_of_word(word: &str) -> Option<Says> {
    match word {
        "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large"
        | "xxx-large" | "math" => Some(Says::Plain),
        "smaller" | "larger" => Some(Says::Inherits),
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
            Says::Plain if length.is_bare && length.pixels != 0.0 => return None,
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
        self.pixels <= back
            || self.pixels >= on
            || self.percent <= -percent
            || self.percent >= 300.0
            || self.screen <= -percent.min(100.0)
            || self.screen >= 200.0
    }

    /// Slides are moved by one width; what is hidden is moved by thousands.
    fn is_far(self) -> bool {
        self.pixels.abs() >= 900.0 || self.screen.abs() >= 150.0 || self.percent.abs() >= 400.0
    }

    /// So small that nothing of the text fits.
    fn is_nothing(self) -> bool {
        (0.0..=1.0).contains(&self.pixels)
            && (0.0..0.2).contains(&self.percent)
            && (0.0..0.2).contains(&self.screen)
    }
}

fn transform(value: &str) -> Option<Says> {
    if value == "none" {
        return Some(Says::Plain);
    }
    let mut is_away = false;
    for (name, inner) in functions(value)? {
        let arguments: Vec<&str> = split_outside(inner, |c| c == ',').map(str::trim).collect();
        let shares = || arguments.iter().map(|word| share(word)).collect::<Option<Vec<_>>>();
        is_away |= match name {
            "scale" | "scalex" | "scaley" | "scale3d" => {
                shares()?.iter().take(2).any(|share| share.abs() <= SMALL)
            }
            "translate" | "translatex" | "translatey" | "translate3d" => {
                let lengths =
                    arguments.iter().map(|word| Length::read(word)).collect::<Option<Vec<_>>>()?;
                lengths.iter().take(2).any(|length| length.is_far())
            }
            "matrix" => match *shares()?.as_slice() {
                [a, b, c, d, x, y] => flattens(a, b, c, d) || x.abs().max(y.abs()) >= 900.0,
                _ => return None,
            },
            "matrix3d" => match *shares()?.as_slice() {
                [a, b, _, _, c, d, _, _, _, _, _, _, x, y, _, _] => {
                    flattens(a, b, c, d) || x.abs().max(y.abs()) >= 900.0
                }
                _ => return None,
            },
            // Seen from the edge.
            "rotatex" | "rotatey" => (turn(inner)?.rem_euclid(0.5) - 0.25).abs() < 0.005,
            "rotate" | "rotatez" | "rotate3d" | "skew" | "skewx" | "skewy" | "perspective"
            | "translatez" | "scalez" => false,
            _ => return None,
        };
    }
    Some(hides(is_away))
}

/// Whether nothing is left of an area.
fn flattens(a: f32, b: f32, c: f32, d: f32) -> bool {
    (a * d - b * c).abs() <= SMALL * SMALL
}

fn clip(value: &str) -> Option<Says> {
    if value == "auto" {
        return Some(Says::Plain);
    }
    let (name, inner) = function(value)?;
    if name != "rect" {
        return None;
    }
    let edges: Vec<Option<Length>> =
        inner.split([' ', ',']).filter(|word| !word.is_empty()).map(Length::read).collect();
    let [top, right, bottom, left] = *edges.as_slice() else { return None };
    let is_closed = |start: Option<Length>, end: Option<Length>| match (start, end) {
        (Some(start), Some(end)) => end.pixels - start.pixels <= 1.0,
        // From the edge of the box to nowhere.
        (None, Some(end)) => end.pixels <= 1.0,
        _ => false,
    };
    Some(hides(is_closed(top, bottom) || is_closed(left, right)))
}

fn clip_path(value: &str) -> Option<Says> {
    let Some((shape, inner)) = words(value).find_map(function) else {
        let boxes = ["none", "border-box", "padding-box", "content-box", "margin-box", "fill-box"];
        return words(value).all(|word| boxes.contains(&word)).then_some(Says::Plain);
    };
    let numbers = |text: &str| -> Vec<Length> {
        split_outside(text, |c| c == ',' || c.is_ascii_whitespace())
            .filter(|word| !word.is_empty())
            .map_while(Length::read)
            .collect()
    };
    let before = |word: &str| inner.split(word).next().unwrap_or_default();
    let is_small = |length: &Length| length.pixels <= 1.0 && length.percent <= 1.0;
    let is_clipped = match shape {
        "inset" => match *numbers(before("round")).as_slice() {
            [all] => leaves_nothing(all, all),
            [y, x] => leaves_nothing(y, y) || leaves_nothing(x, x),
            [top, x, bottom] => leaves_nothing(top, bottom) || leaves_nothing(x, x),
            [top, right, bottom, left] => {
                leaves_nothing(top, bottom) || leaves_nothing(left, right)
            }
            _ => return None,
        },
        "circle" | "ellipse" => numbers(before("at")).iter().any(is_small),
        "xywh" => numbers(before("round")).iter().skip(2).any(is_small),
        "rect" => match *numbers(before("round")).as_slice() {
            [top, right, bottom, left] => is_span(&[top, bottom]) || is_span(&[left, right]),
            _ => false,
        },
        "polygon" => {
            let points = inner.trim_start_matches("evenodd").trim_start_matches("nonzero");
            let numbers = numbers(points);
            let (x, y): (Vec<_>, Vec<_>) =
                numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
            !x.is_empty() && (is_span(&x) || is_span(&y))
        }
        "path" | "shape" | "url" => false,
        _ => return None,
    };
    Some(hides(is_clipped))
}

/// Whether what is cut off from two sides is all there is.
fn leaves_nothing(one: Length, other: Length) -> bool {
    one.percent + other.percent >= 98.0
        || one.screen + other.screen >= 98.0
        || one.pixels + other.pixels >= 1_000.0
}

/// Whether all lie on one line.
fn is_span(places: &[Length]) -> bool {
    let width = |part: fn(&Length) -> f32| {
        let most = places.iter().map(part).fold(f32::MIN, f32::max);
        let least = places.iter().map(part).fold(f32::MAX, f32::min);
        most - least
    };
    width(|it| it.pixels) <= 1.0 && width(|it| it.percent) <= 1.0 && width(|it| it.screen) <= 1.0
}

fn background_color(value: &str) -> Option<Says> {
    if let Some(named) = Color::read(value) {
        return Some(named.into());
    }
    if value == "currentcolor" {
        return Some(Says::UnknownColor);
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
pub(crate) const FAINT: f32 = 0.03;

/// What is made as small cannot be read.
const SMALL: f32 = 0.05;

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
