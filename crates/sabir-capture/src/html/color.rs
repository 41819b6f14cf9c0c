//! Colours as CSS names them, as far as it takes to tell letters from what is behind them.

use super::css::{function, split_outside, words};
use super::length::{share, turn};
use super::space;

/// Red, green, blue, and how much of it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color([u8; 4]);

/// What a value says about a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Color(Color),
    /// A colour, but which one cannot be said. The same words are the same colour.
    Unknown(Unknown),
}

/// What stands for the words of a colour that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unknown(u32);

impl Unknown {
    pub(crate) fn of(value: &str) -> Self {
        let letters = value.bytes().filter(|byte| !byte.is_ascii_whitespace());
        Self(
            letters
                .fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)),
        )
    }
}

impl Color {
    pub(crate) const WHITE: Self = Self([255, 255, 255, 255]);

    /// Reads a colour in lower case; nothing where it is none.
    pub(crate) fn read(value: &str) -> Option<Named> {
        Self::read_at(value, 0)
    }

    fn read_at(value: &str, depth: u8) -> Option<Named> {
        let value = value.trim();
        if depth > MOST_DEPTH {
            return Some(Named::Unknown(Unknown::of(value)));
        }
        if let Some(hex) = value.strip_prefix('#') {
            return Self::read_hex(hex).map(Named::Color);
        }
        if let Some((name, inner)) = function(value) {
            return Self::read_function(name, inner, depth)
                .map(|color| color.map_or(Named::Unknown(Unknown::of(value)), Named::Color));
        }
        match value {
            "transparent" => return Some(Named::Color(Self([0, 0, 0, 0]))),
            "canvas" => return Some(Named::Color(Self::WHITE)),
            "canvastext" => return Some(Named::Color(Self([0, 0, 0, 255]))),
            _ if SYSTEM.contains(&value) => return Some(Named::Unknown(Unknown::of(value))),
            _ => {}
        }
        let (_, code) = NAMES.iter().find(|(name, _)| *name == value)?;
        let [_, red, green, blue] = code.to_be_bytes();
        Some(Named::Color(Self([red, green, blue, 255])))
    }

    /// A colour where it is known; nothing at all where the value is none.
    fn read_function(name: &str, inner: &str, depth: u8) -> Option<Option<Self>> {
        match name {
            "color-mix" => return Self::mixed(inner, depth),
            // The page is read by day.
            "light-dark" => {
                let day = split_outside(inner, |c| c == ',').next()?;
                return Some(Self::read_at(day, depth + 1)?.known());
            }
            "contrast-color" | "device-cmyk" => return Some(None),
            _ => {}
        }
        let words: Vec<&str> =
            split_outside(inner, |c| matches!(c, ',' | '/') || c.is_ascii_whitespace())
                .filter(|word| !word.is_empty())
                .collect();
        if words.first() == Some(&"from") {
            return Self::derived(name, &words[1..], depth);
        }
        // `none` is nothing of it.
        let at = |place: usize| match words.get(place) {
            Some(&"none") => Some(0.0),
            Some(word) => share(word),
            None => None,
        };
        let places = if name == "color" { 1..4 } else { 0..3 };
        let alpha = match words.get(places.end) {
            Some(_) => at(places.end)?,
            None => 1.0,
        };
        let whole = |place: usize, most: f32| {
            let is_part = words.get(place).is_some_and(|word| word.ends_with('%'));
            at(place).map(|value| if is_part { value } else { value / most })
        };
        let color = match name {
            "rgb" | "rgba" => [whole(0, 255.0)?, whole(1, 255.0)?, whole(2, 255.0)?],
            "color" => {
                let parts = [at(1)?, at(2)?, at(3)?];
                match *words.first()? {
                    "srgb" | "display-p3" | "a98-rgb" | "prophoto-rgb" | "rec2020" => parts,
                    "srgb-linear" => parts.map(space::bent),
                    "xyz" | "xyz-d65" | "xyz-d50" => space::from_xyz(parts),
                    _ => return None,
                }
            }
            "hsl" | "hsla" => {
                space::from_hsl(hue(words.first()?)?, whole(1, 100.0)?, whole(2, 100.0)?)
            }
            "hwb" => {
                let (white, black) = (whole(1, 100.0)?, whole(2, 100.0)?);
                let pure = space::from_hsl(hue(words.first()?)?, 1.0, 0.5);
                match white + black {
                    sum if sum >= 1.0 => [white / sum; 3],
                    sum => pure.map(|part| part * (1.0 - sum) + white),
                }
            }
            "oklab" => {
                space::from_oklab(whole(0, 1.0)?, scaled(&words, 1, 0.4)?, scaled(&words, 2, 0.4)?)
            }
            "lab" => space::from_lab(
                whole(0, 100.0)?,
                scaled(&words, 1, 125.0)?,
                scaled(&words, 2, 125.0)?,
            ),
            "oklch" => {
                let (sin, cos) = (hue(words.get(2)?)? * std::f32::consts::TAU).sin_cos();
                let chroma = scaled(&words, 1, 0.4)?;
                space::from_oklab(whole(0, 1.0)?, chroma * cos, chroma * sin)
            }
            "lch" => {
                let (sin, cos) = (hue(words.get(2)?)? * std::f32::consts::TAU).sin_cos();
                let chroma = scaled(&words, 1, 150.0)?;
                space::from_lab(whole(0, 100.0)?, chroma * cos, chroma * sin)
            }
            _ => return None,
        };
        Some(Some(Self::of(color, alpha)))
    }

    fn of([red, green, blue]: [f32; 3], alpha: f32) -> Self {
        // A cast saturates, so that a wild number becomes the nearest colour.
        Self([red, green, blue, alpha].map(|part| (part * 255.0).round() as u8))
    }

    /// `rgb(from white r g b / 50%)`, where the parts are taken as they are.
    fn derived(name: &str, words: &[&str], depth: u8) -> Option<Option<Self>> {
        let from = Self::read_at(words.first()?, depth + 1)?.known();
        let same: &[&str] = match name {
            "rgb" | "rgba" => &["r", "g", "b"],
            "hsl" | "hsla" => &["h", "s", "l"],
            "hwb" => &["h", "w", "b"],
            "lab" | "oklab" => &["l", "a", "b"],
            "lch" | "oklch" => &["l", "c", "h"],
            _ => return Some(None),
        };
        let alpha = match words.get(4) {
            None | Some(&"alpha") => Some(None),
            Some(word) => share(word).map(Some),
        };
        let (Some(from), Some(alpha)) = (from, alpha) else { return Some(None) };
        let [red, green, blue, held] = from.0;
        let alpha = alpha.map_or(held, |alpha| (alpha * 255.0).round() as u8);
        let is_clear = Self([red, green, blue, alpha]).is_clear();
        let is_same = words.get(1..4) == Some(same) || is_clear;
        Some(is_same.then_some(Self([red, green, blue, alpha])))
    }

    /// `in oklab, red 20%, blue`.
    fn mixed(inner: &str, depth: u8) -> Option<Option<Self>> {
        let parts: Vec<&str> = split_outside(inner, |c| c == ',').map(str::trim).collect();
        let (way, parts) = match *parts.as_slice() {
            [way, one, other] => (way.strip_prefix("in ")?.trim(), [one, other]),
            [one, other] => ("oklab", [one, other]),
            _ => return None,
        };
        let read = |part: &str| {
            let percent = words(part).find(|word| word.ends_with('%') || word.starts_with("calc("));
            let color = words(part).find_map(|word| Self::read_at(word, depth + 1))?;
            Some((color.known(), percent.and_then(share)))
        };
        let ((one, first), (other, second)) = (read(parts[0])?, read(parts[1])?);
        let (first, second) = match (first, second) {
            (None, None) => (0.5, 0.5),
            (Some(first), None) => (first, 1.0 - first),
            (None, Some(second)) => (1.0 - second, second),
            (Some(first), Some(second)) => (first, second),
        };
        let sum = first + second;
        if sum <= 0.0 || !sum.is_finite() {
            return None;
        }
        // What is missing to a whole is clear.
        let (share, rest) = (second / sum, sum.min(1.0));
        let mix = match (one, other) {
            (Some(one), _) if share <= 0.0 => one,
            (_, Some(other)) if share >= 1.0 => other,
            (Some(one), Some(other)) => space::mix(one.0, other.0, share, way).map(Self)?,
            // Nearly nothing of what is known may still be nearly everything that is seen.
            _ => return Some(None),
        };
        let [red, green, blue, alpha] = mix.0;
        Some(Some(Self([red, green, blue, (f32::from(alpha) * rest).round() as u8])))
    }

    fn read_hex(hex: &str) -> Option<Self> {
        let digits: Vec<u8> = hex
            .chars()
            .take(9)
            .map(|c| c.to_digit(16).map(|digit| digit as u8))
            .collect::<Option<_>>()?;
        Some(Self(match *digits.as_slice() {
            [r, g, b] => [r * 17, g * 17, b * 17, 255],
            [r, g, b, a] => [r * 17, g * 17, b * 17, a * 17],
            [r, s, g, h, b, c] => [r * 16 + s, g * 16 + h, b * 16 + c, 255],
            [r, s, g, h, b, c, a, d] => [r * 16 + s, g * 16 + h, b * 16 + c, a * 16 + d],
            _ => return None,
        }))
    }

    pub(crate) fn is_clear(self) -> bool {
        self.0[3] < 10
    }

    /// As it looks on a background where only a `share` of it is seen.
    fn on(self, background: Self, share: f32) -> Self {
        let share = share * f32::from(self.0[3]) / 255.0;
        let mut mixed = background.0;
        for (part, own) in mixed.iter_mut().zip(self.0).take(3) {
            *part = (f32::from(*part) * (1.0 - share) + f32::from(own) * share).round() as u8;
        }
        Self(mixed)
    }

    /// Whether it covers what is behind it only in part.
    pub(crate) fn is_thin(self) -> bool {
        self.0[3] < 255
    }

    /// As it looks on what is behind it.
    pub(crate) fn laid_on(self, background: Self) -> Self {
        self.on(background, 1.0)
    }

    /// Whether text in this colour, of which a `share` is seen, cannot be told from that background.
    pub(crate) fn vanishes_on(self, background: Self, share: f32) -> bool {
        let seen = self.on(background, share);
        seen.0.iter().zip(background.0).take(3).all(|(a, b)| a.abs_diff(b) <= NEAR)
    }
}

impl Named {
    fn known(self) -> Option<Color> {
        match self {
            Self::Color(color) => Some(color),
            Self::Unknown(_) => None,
        }
    }
}

/// A part of the circle.
fn hue(word: &str) -> Option<f32> {
    if word == "none" { Some(0.0) } else { turn(word) }
}

/// A number, or a part of a hundred of `most`.
fn scaled(words: &[&str], place: usize, most: f32) -> Option<f32> {
    match *words.get(place)? {
        "none" => Some(0.0),
        word if word.ends_with('%') => share(word).map(|part| part * most),
        word => share(word),
    }
}

/// Colours as near as this look the same.
const NEAR: u8 = 8;

const MOST_DEPTH: u8 = 6;

/// What the system of the reader decides.
const SYSTEM: &[&str] = &[
    "accentcolor",
    "accentcolortext",
    "activetext",
    "buttonborder",
    "buttonface",
    "buttontext",
    "field",
    "fieldtext",
    "graytext",
    "highlight",
    "highlighttext",
    "linktext",
    "mark",
    "marktext",
    "selecteditem",
    "selecteditemtext",
    "visitedtext",
    "windowtext",
    "-webkit-link",
];

/// All names of colours: a name that is not here is no colour, and changes nothing.
#[rustfmt::skip]
const NAMES: &[(&str, u32)] = &[
    ("aliceblue", 0xf0f8ff), ("antiquewhite", 0xfaebd7), ("aqua", 0x00ffff),
    ("aquamarine", 0x7fffd4), ("azure", 0xf0ffff), ("beige", 0xf5f5dc), ("bisque", 0xffe4c4),
    ("black", 0x000000), ("blanchedalmond", 0xffebcd), ("blue", 0x0000ff), ("blueviolet", 0x8a2be2),
    ("brown", 0xa52a2a), ("burlywood", 0xdeb887), ("cadetblue", 0x5f9ea0), ("chartreuse", 0x7fff00),
    ("chocolate", 0xd2691e), ("coral", 0xff7f50), ("cornflowerblue", 0x6495ed),
    ("cornsilk", 0xfff8dc), ("crimson", 0xdc143c), ("cyan", 0x00ffff), ("darkblue", 0x00008b),
    ("darkcyan", 0x008b8b), ("darkgoldenrod", 0xb8860b), ("darkgray", 0xa9a9a9),
    ("darkgreen", 0x006400), ("darkgrey", 0xa9a9a9), ("darkkhaki", 0xbdb76b),
    ("darkmagenta", 0x8b008b), ("darkolivegreen", 0x556b2f), ("darkorange", 0xff8c00),
    ("darkorchid", 0x9932cc), ("darkred", 0x8b0000), ("darksalmon", 0xe9967a),
    ("darkseagreen", 0x8fbc8f), ("darkslateblue", 0x483d8b), ("darkslategray", 0x2f4f4f),
    ("darkslategrey", 0x2f4f4f), ("darkturquoise", 0x00ced1), ("darkviolet", 0x9400d3),
    ("deeppink", 0xff1493), ("deepskyblue", 0x00bfff), ("dimgray", 0x696969), ("dimgrey", 0x696969),
    ("dodgerblue", 0x1e90ff), ("firebrick", 0xb22222), ("floralwhite", 0xfffaf0),
    ("forestgreen", 0x228b22), ("fuchsia", 0xff00ff), ("gainsboro", 0xdcdcdc),
    ("ghostwhite", 0xf8f8ff), ("gold", 0xffd700), ("goldenrod", 0xdaa520), ("gray", 0x808080),
    ("green", 0x008000), ("greenyellow", 0xadff2f), ("grey", 0x808080), ("honeydew", 0xf0fff0),
    ("hotpink", 0xff69b4), ("indianred", 0xcd5c5c), ("indigo", 0x4b0082), ("ivory", 0xfffff0),
    ("khaki", 0xf0e68c), ("lavender", 0xe6e6fa), ("lavenderblush", 0xfff0f5),
    ("lawngreen", 0x7cfc00), ("lemonchiffon", 0xfffacd), ("lightblue", 0xadd8e6),
    ("lightcoral", 0xf08080), ("lightcyan", 0xe0ffff), ("lightgoldenrodyellow", 0xfafad2),
    ("lightgray", 0xd3d3d3), ("lightgreen", 0x90ee90), ("lightgrey", 0xd3d3d3),
    ("lightpink", 0xffb6c1), ("lightsalmon", 0xffa07a), ("lightseagreen", 0x20b2aa),
    ("lightskyblue", 0x87cefa), ("lightslategray", 0x778899), ("lightslategrey", 0x778899),
    ("lightsteelblue", 0xb0c4de), ("lightyellow", 0xffffe0), ("lime", 0x00ff00),
    ("limegreen", 0x32cd32), ("linen", 0xfaf0e6), ("magenta", 0xff00ff), ("maroon", 0x800000),
    ("mediumaquamarine", 0x66cdaa), ("mediumblue", 0x0000cd), ("mediumorchid", 0xba55d3),
    ("mediumpurple", 0x9370db), ("mediumseagreen", 0x3cb371), ("mediumslateblue", 0x7b68ee),
    ("mediumspringgreen", 0x00fa9a), ("mediumturquoise", 0x48d1cc), ("mediumvioletred", 0xc71585),
    ("midnightblue", 0x191970), ("mintcream", 0xf5fffa), ("mistyrose", 0xffe4e1),
    ("moccasin", 0xffe4b5), ("navajowhite", 0xffdead), ("navy", 0x000080), ("oldlace", 0xfdf5e6),
    ("olive", 0x808000), ("olivedrab", 0x6b8e23), ("orange", 0xffa500), ("orangered", 0xff4500),
    ("orchid", 0xda70d6), ("palegoldenrod", 0xeee8aa), ("palegreen", 0x98fb98),
    ("paleturquoise", 0xafeeee), ("palevioletred", 0xdb7093), ("papayawhip", 0xffefd5),
    ("peachpuff", 0xffdab9), ("peru", 0xcd853f), ("pink", 0xffc0cb), ("plum", 0xdda0dd),
    ("powderblue", 0xb0e0e6), ("purple", 0x800080), ("rebeccapurple", 0x663399), ("red", 0xff0000),
    ("rosybrown", 0xbc8f8f), ("royalblue", 0x4169e1), ("saddlebrown", 0x8b4513),
    ("salmon", 0xfa8072), ("sandybrown", 0xf4a460), ("seagreen", 0x2e8b57), ("seashell", 0xfff5ee),
    ("sienna", 0xa0522d), ("silver", 0xc0c0c0), ("skyblue", 0x87ceeb), ("slateblue", 0x6a5acd),
    ("slategray", 0x708090), ("slategrey", 0x708090), ("snow", 0xfffafa), ("springgreen", 0x00ff7f),
    ("steelblue", 0x4682b4), ("tan", 0xd2b48c), ("teal", 0x008080), ("thistle", 0xd8bfd8),
    ("tomato", 0xff6347), ("turquoise", 0x40e0d0), ("violet", 0xee82ee), ("wheat", 0xf5deb3),
    ("white", 0xffffff), ("whitesmoke", 0xf5f5f5), ("yellow", 0xffff00), ("yellowgreen", 0x9acd32),
];
