//! Which declarations of CSS make text invisible. It reads the few properties that can, and believes
//! them as a browser would; layout it does not know.

/// One declaration that matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    pub(crate) property: Property,
    /// In lower case, without `!important`.
    pub(crate) value: String,
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
    /// `left`, `top`, `right` and `bottom`.
    Offset,
    Margin,
    Transform,
    Clip,
    Overflow,
    Width,
    Height,
    Color,
    Background,
    BackgroundClip,
}

/// The declarations of a `style` attribute or of a rule that matter here.
pub(crate) fn declarations(text: &str) -> Vec<Declaration> {
    split_outside_parentheses(text, ';').filter_map(declaration).collect()
}

fn declaration(text: &str) -> Option<Declaration> {
    let (name, value) = text.split_once(':')?;
    let property = property(&name.trim().to_ascii_lowercase())?;
    let value = without_comments(value).trim().to_ascii_lowercase();
    let (value, important) = match value.rsplit_once('!') {
        Some((value, mark)) if mark.trim() == "important" => (value.trim().to_owned(), true),
        _ => (value, false),
    };
    Some(Declaration { property, value, important })
}

fn property(name: &str) -> Option<Property> {
    Some(match without_comments(name).trim() {
        "display" => Property::Display,
        "visibility" => Property::Visibility,
        "content-visibility" => Property::ContentVisibility,
        "opacity" => Property::Opacity,
        "filter" => Property::Filter,
        "font-size" => Property::FontSize,
        // The shorthand has the size somewhere among its words; see `font_size`.
        "font" => Property::FontSize,
        "text-indent" => Property::TextIndent,
        "position" => Property::Position,
        "left" | "top" | "right" | "bottom" | "inset" | "inset-inline-start" => Property::Offset,
        "margin" | "margin-left" | "margin-top" => Property::Margin,
        "transform" | "scale" | "zoom" => Property::Transform,
        "clip" | "clip-path" => Property::Clip,
        "overflow" | "overflow-x" | "overflow-y" => Property::Overflow,
        "width" | "max-width" => Property::Width,
        "height" | "max-height" => Property::Height,
        "color" | "-webkit-text-fill-color" => Property::Color,
        "background" | "background-color" | "background-image" => Property::Background,
        "background-clip" | "-webkit-background-clip" => Property::BackgroundClip,
        _ => return None,
    })
}

/// Whether a `style` attribute alone hides its element.
pub(crate) fn hides(style: &str) -> bool {
    let declarations = declarations(style);
    let look = Look::of(&declarations);
    look.is_hidden() || look.size() == Some(Size::Tiny) || look.color() == TextColor::Clear
}

/// What a list of declarations amounts to, the last of each property winning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look<'a> {
    last: [Option<&'a Declaration>; COUNT],
    /// Offsets do not replace each other: `left` says nothing about `top`.
    away: bool,
    /// Neither do width and height.
    flat: bool,
    /// Nor a picture and a colour behind the text.
    has_picture: bool,
}

const COUNT: usize = Property::BackgroundClip as usize + 1;

impl<'a> Look<'a> {
    pub(crate) fn of(declarations: &'a [Declaration]) -> Self {
        let mut look = Self::default();
        for declaration in declarations {
            look.add(declaration);
        }
        look
    }

    /// Adds a declaration that comes later, or is stronger, than those before it.
    pub(crate) fn add(&mut self, declaration: &'a Declaration) {
        match declaration.property {
            Property::Offset => self.away |= is_off_screen(&declaration.value),
            Property::Width | Property::Height => self.flat |= is_nothing(&declaration.value),
            Property::Background => {
                let value = &declaration.value;
                self.has_picture |= value.contains("url(") || value.contains("gradient(");
            }
            _ => {}
        }
        let place = &mut self.last[declaration.property as usize];
        if !place.is_some_and(|held| held.important && !declaration.important) {
            *place = Some(declaration);
        }
    }

    fn value(&self, property: Property) -> Option<&'a str> {
        self.last[property as usize].map(|declaration| declaration.value.as_str())
    }

    pub(crate) fn is_hidden(&self) -> bool {
        let is = |property, test: fn(&str) -> bool| self.value(property).is_some_and(test);
        is(Property::Display, |value| value == "none")
            || is(Property::Visibility, |value| matches!(value, "hidden" | "collapse"))
            || is(Property::ContentVisibility, |value| value == "hidden")
            || is(Property::Opacity, is_faint)
            || is(Property::Filter, is_filtered_out)
            || is(Property::TextIndent, is_indented_away)
            || is(Property::Margin, is_pushed_away)
            || is(Property::Transform, is_transformed_away)
            || is(Property::Clip, is_clipped)
            || (self.away && !is(Property::Position, |value| value == "static"))
            || (self.flat
                && is(Property::Overflow, |value| {
                    value.split_ascii_whitespace().any(|word| matches!(word, "hidden" | "clip"))
                }))
    }

    /// What it says about the size of letters.
    pub(crate) fn size(&self) -> Option<Size> {
        let value = self.value(Property::FontSize)?;
        Some(match value {
            _ if is_tiny(value) => Size::Tiny,
            // A part of what is around.
            _ if value.ends_with('%') || (value.ends_with("em") && !value.ends_with("rem")) => {
                return None;
            }
            "inherit" | "smaller" | "larger" => return None,
            _ => Size::Seen,
        })
    }

    /// What it says about the colour of letters.
    pub(crate) fn color(&self) -> TextColor {
        match self.value(Property::Color) {
            None | Some("inherit" | "currentcolor") => TextColor::Inherited,
            Some(value) => match Color::read(value) {
                // The background shines through in the shape of the letters.
                Some(color) if color.is_clear() && self.clips_to_text() => TextColor::Unknown,
                Some(color) if color.is_clear() => TextColor::Clear,
                Some(color) => TextColor::Color(color),
                None => TextColor::Unknown,
            },
        }
    }

    fn clips_to_text(&self) -> bool {
        self.value(Property::BackgroundClip).is_some_and(|value| value.contains("text"))
    }

    /// What it says about the background.
    pub(crate) fn background(&self) -> Background {
        match self.value(Property::Background) {
            None | Some("none" | "inherit" | "initial" | "unset" | "transparent") => {
                Background::Inherited
            }
            // A picture may lie over the colour.
            Some(_) if self.has_picture => Background::Unknown,
            Some(value) => {
                let words = value.split_ascii_whitespace();
                match Color::read(value).or_else(|| words.into_iter().find_map(Color::read)) {
                    Some(color) if color.is_clear() => Background::Inherited,
                    Some(color) => Background::Color(color),
                    None => Background::Unknown,
                }
            }
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

/// Red, green, blue, and how much of it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color([u8; 4]);

impl Color {
    pub(crate) const WHITE: Self = Self([255, 255, 255, 255]);

    pub(crate) fn read(value: &str) -> Option<Self> {
        let value = value.trim();
        if let Some(hex) = value.strip_prefix('#') {
            return Self::read_hex(hex);
        }
        if let Some((name, rest)) = value.split_once('(') {
            if !matches!(name, "rgb" | "rgba") {
                return None;
            }
            let mut parts = [255_u8, 255, 255, 255];
            let numbers = rest.trim_end_matches(')').split([',', ' ', '/']);
            for (place, part) in numbers.filter(|part| !part.is_empty()).take(4).enumerate() {
                let whole = if place == 3 { 1.0 } else { 255.0 };
                let share = match part.strip_suffix('%') {
                    Some(part) => part.trim().parse::<f32>().ok()? / 100.0,
                    None => part.trim().parse::<f32>().ok()? / whole,
                };
                // A cast saturates, so that a wild number becomes the nearest colour.
                parts[place] = (share * 255.0) as u8;
            }
            return Some(Self(parts));
        }
        NAMES.iter().find(|(name, _)| *name == value).map(|(_, color)| Self(*color))
    }

    fn read_hex(hex: &str) -> Option<Self> {
        let digits: Vec<u8> =
            hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
        Some(Self(match *digits.as_slice() {
            [r, g, b] => [r * 17, g * 17, b * 17, 255],
            [r, g, b, a] => [r * 17, g * 17, b * 17, a * 17],
            [r, s, g, h, b, c] => [r * 16 + s, g * 16 + h, b * 16 + c, 255],
            [r, s, g, h, b, c, a, d] => [r * 16 + s, g * 16 + h, b * 16 + c, a * 16 + d],
            _ => return None,
        }))
    }

    fn is_clear(self) -> bool {
        self.0[3] < 10
    }

    /// Whether text in this colour cannot be told from that background.
    pub(crate) fn vanishes_on(self, background: Self) -> bool {
        self.0.iter().zip(background.0).take(3).all(|(a, b)| a.abs_diff(b) <= 8)
    }
}

fn is_faint(value: &str) -> bool {
    number(value).is_some_and(|(number, unit)| match unit {
        "%" => number <= 3.0,
        _ => number <= 0.03,
    })
}

fn is_filtered_out(value: &str) -> bool {
    value
        .split_once("opacity(")
        .is_some_and(|(_, rest)| is_faint(rest.split(')').next().unwrap_or_default().trim()))
}

fn is_tiny(value: &str) -> bool {
    // In the shorthand the size may carry the height of the line: `0/0 a`.
    value.split([' ', '/']).any(|word| {
        number(word).is_some_and(|(number, unit)| match unit {
            "px" | "pt" => number <= 1.0,
            "em" | "rem" | "ch" | "ex" | "vw" | "vh" | "cm" | "mm" | "in" | "pc" => number <= 0.05,
            "%" => number <= 5.0,
            // Without a unit only zero is a size; other numbers are weights and heights of lines.
            "" => number == 0.0,
            _ => false,
        })
    })
}

fn is_off_screen(value: &str) -> bool {
    is_beyond(value, [500.0, 30.0, 100.0])
}

/// Lines are indented a little, and not to the left.
fn is_indented_away(value: &str) -> bool {
    is_beyond(value, [100.0, 20.0, 90.0])
}

/// Columns and cards are pulled by a column's width.
fn is_pushed_away(value: &str) -> bool {
    is_beyond(value, [900.0, 60.0, 300.0])
}

/// Whether it is moved against the direction of reading by as much as this, in pixels, ems or parts
/// of a hundred; or along it by several screens.
fn is_beyond(value: &str, [pixels, ems, percent]: [f32; 3]) -> bool {
    value.split_ascii_whitespace().any(|word| {
        number(word).is_some_and(|(number, unit)| match unit {
            "px" | "pt" => number <= -pixels || number >= 4000.0,
            "em" | "rem" | "ch" | "ex" => number <= -ems || number >= 250.0,
            "cm" | "in" | "mm" | "pc" => number <= -100.0,
            "vw" | "vh" | "%" => number <= -percent || number >= 300.0,
            _ => false,
        })
    })
}

fn is_transformed_away(value: &str) -> bool {
    if let Some((number, _)) = number(value) {
        return number == 0.0;
    }
    let compact: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    compact.split(')').any(|part| match part.split_once('(') {
        Some((name, numbers)) if name.starts_with("scale") => {
            numbers.split(',').any(|word| number(word).is_some_and(|(number, _)| number == 0.0))
        }
        // Slides are moved by one width; what is hidden is moved by thousands.
        Some((name, numbers)) if name.starts_with("translate") => numbers.split(',').any(|word| {
            number(word).is_some_and(|(number, unit)| match unit {
                "px" => number.abs() >= 900.0,
                "em" | "rem" | "vw" | "vh" => number.abs() >= 150.0,
                "%" => number.abs() >= 400.0,
                _ => false,
            })
        }),
        _ => false,
    })
}

fn is_clipped(value: &str) -> bool {
    let Some((shape, rest)) = value.split_once('(') else { return false };
    let inner = rest.split(')').next().unwrap_or_default();
    let numbers: Vec<(f32, &str)> =
        inner.split([' ', ',']).filter(|word| !word.is_empty()).map_while(number).collect();
    match shape.trim() {
        "rect" => numbers.len() >= 4 && numbers.iter().all(|(number, _)| number.abs() <= 1.0),
        "inset" => numbers.iter().any(|(number, unit)| *unit == "%" && *number >= 50.0),
        "circle" | "ellipse" => numbers.first().is_some_and(|(number, _)| *number == 0.0),
        "polygon" => numbers.len() >= 2 && numbers.iter().all(|(number, _)| *number == 0.0),
        _ => false,
    }
}

/// So small that nothing of the text fits.
fn is_nothing(value: &str) -> bool {
    number(value).is_some_and(|(number, unit)| match unit {
        "px" => (0.0..=1.0).contains(&number),
        _ => (0.0..0.01).contains(&number),
    })
}

/// A number and its unit: `-9999px`, `.5em`, `0`.
fn number(word: &str) -> Option<(f32, &str)> {
    let word = word.trim();
    let end = word
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(word.len());
    let number = word[..end].parse().ok()?;
    Some((number, &word[end..]))
}

/// The parts between marks that stand in no parentheses and no quotes.
fn split_outside_parentheses(text: &str, mark: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0_u32;
        let mut quote = None;
        for (at, c) in text.char_indices() {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') => depth = depth.saturating_sub(1),
                (None, c) if c == mark && depth == 0 => {
                    rest = Some(&text[at + c.len_utf8()..]);
                    return Some(&text[..at]);
                }
                _ => {}
            }
        }
        rest = None;
        Some(text)
    })
}

/// Without `/* comments */`, which may stand between any two words.
pub(crate) fn without_comments(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("/*") {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        kept.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept.into()
}

/// The names that text is hidden with; the others are rare enough.
const NAMES: &[(&str, [u8; 4])] = &[
    ("transparent", [0, 0, 0, 0]),
    ("white", [255, 255, 255, 255]),
    ("snow", [255, 250, 250, 255]),
    ("ivory", [255, 255, 240, 255]),
    ("whitesmoke", [245, 245, 245, 255]),
    ("ghostwhite", [248, 248, 255, 255]),
    ("black", [0, 0, 0, 255]),
    ("red", [255, 0, 0, 255]),
    ("lime", [0, 255, 0, 255]),
    ("green", [0, 128, 0, 255]),
    ("blue", [0, 0, 255, 255]),
    ("navy", [0, 0, 128, 255]),
    ("yellow", [255, 255, 0, 255]),
    ("cyan", [0, 255, 255, 255]),
    ("aqua", [0, 255, 255, 255]),
    ("magenta", [255, 0, 255, 255]),
    ("fuchsia", [255, 0, 255, 255]),
    ("silver", [192, 192, 192, 255]),
    ("gray", [128, 128, 128, 255]),
    ("grey", [128, 128, 128, 255]),
    ("lightgray", [211, 211, 211, 255]),
    ("lightgrey", [211, 211, 211, 255]),
    ("darkgray", [169, 169, 169, 255]),
    ("darkgrey", [169, 169, 169, 255]),
    ("maroon", [128, 0, 0, 255]),
    ("purple", [128, 0, 128, 255]),
    ("teal", [0, 128, 128, 255]),
    ("olive", [128, 128, 0, 255]),
    ("orange", [255, 165, 0, 255]),
];
