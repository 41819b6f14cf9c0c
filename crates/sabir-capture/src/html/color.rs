//! Colours as CSS names them, as far as it takes to tell letters from what is behind them.

use super::css::{function, share, turn};

/// Red, green, blue, and how much of it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color([u8; 4]);

/// What a value says about a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Color(Color),
    /// A colour, but which one cannot be said.
    Unknown,
}

impl Color {
    pub(crate) const WHITE: Self = Self([255, 255, 255, 255]);

    /// Reads a colour in lower case; nothing where it is none.
    pub(crate) fn read(value: &str) -> Option<Named> {
        let value = value.trim();
        if let Some(hex) = value.strip_prefix('#') {
            return Self::read_hex(hex).map(Named::Color);
        }
        if let Some((name, inner)) = function(value) {
            return Self::read_function(name, inner);
        }
        match value {
            "transparent" => return Some(Named::Color(Self([0, 0, 0, 0]))),
            "canvas" => return Some(Named::Color(Self::WHITE)),
            "canvastext" => return Some(Named::Color(Self([0, 0, 0, 255]))),
            _ if SYSTEM.contains(&value) => return Some(Named::Unknown),
            _ => {}
        }
        let (_, code) = NAMES.iter().find(|(name, _)| *name == value)?;
        let [_, red, green, blue] = code.to_be_bytes();
        Some(Named::Color(Self([red, green, blue, 255])))
    }

    fn read_function(name: &str, inner: &str) -> Option<Named> {
        let words: Vec<&str> =
            inner.split([',', ' ', '/', '\t', '\n']).filter(|word| !word.is_empty()).collect();
        if words.contains(&"from") || words.iter().any(|word| word.contains('(')) {
            return Some(Named::Unknown);
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
        let [red, green, blue] = match name {
            "rgb" | "rgba" => [whole(0, 255.0)?, whole(1, 255.0)?, whole(2, 255.0)?],
            "color" => [at(1)?, at(2)?, at(3)?],
            "hsl" | "hsla" => from_hsl(hue(words.first()?)?, whole(1, 100.0)?, whole(2, 100.0)?),
            "hwb" => {
                let (white, black) = (whole(1, 100.0)?, whole(2, 100.0)?);
                let pure = from_hsl(hue(words.first()?)?, 1.0, 0.5);
                match white + black {
                    sum if sum >= 1.0 => [white / sum; 3],
                    sum => pure.map(|part| part * (1.0 - sum) + white),
                }
            }
            "lab" | "lch" | "oklab" | "oklch" => {
                let light = whole(0, if name.starts_with("ok") { 1.0 } else { 100.0 })?;
                match light {
                    light if light >= 0.99 => [1.0; 3],
                    light if light <= 0.01 => [0.0; 3],
                    _ if alpha <= 0.03 => [0.0; 3],
                    _ => return Some(Named::Unknown),
                }
            }
            "color-mix" | "light-dark" | "contrast-color" | "device-cmyk" => {
                return Some(Named::Unknown);
            }
            _ => return None,
        };
        // A cast saturates, so that a wild number becomes the nearest colour.
        Some(Named::Color(Self([red, green, blue, alpha].map(|part| (part * 255.0).round() as u8))))
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

    /// Whether text in this colour cannot be told from that background.
    pub(crate) fn vanishes_on(self, background: Self) -> bool {
        self.0.iter().zip(background.0).take(3).all(|(a, b)| a.abs_diff(b) <= 8)
    }
}

/// A part of the circle.
fn hue(word: &str) -> Option<f32> {
    if word == "none" { Some(0.0) } else { turn(word) }
}

fn from_hsl(hue: f32, saturation: f32, light: f32) -> [f32; 3] {
    let (saturation, light) = (saturation.clamp(0.0, 1.0), light.clamp(0.0, 1.0));
    let reach = saturation * light.min(1.0 - light);
    [0.0_f32, 8.0, 4.0].map(|place| {
        let at = (place + hue * 12.0).rem_euclid(12.0);
        light - reach * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0)
    })
}

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
