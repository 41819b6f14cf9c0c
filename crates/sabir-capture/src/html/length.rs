//! Lengths, shares, angles and times of CSS, and the sums that are written in their place. What a
//! number is for it does not know.

use super::css::{function, split_outside, words};

/// A length, as a sum of parts that are not known before the page is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Length {
    /// Without what is measured by the letters around.
    pixels: f32,
    pub(crate) percent: f32,
    /// Hundredths of the screen.
    pub(crate) screen: f32,
    /// Heights of the letters around.
    pub(crate) letters: f32,
    kind: Kind,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Length,
    /// Nothing, which only zero may.
    Bare,
    /// Turns, in the place of pixels.
    Turn,
    /// Seconds, in the place of pixels.
    Time,
}

impl Length {
    pub(crate) fn read(word: &str) -> Option<Self> {
        Self::measure(word).filter(|length| matches!(length.kind, Kind::Length | Kind::Bare))
    }

    fn measure(word: &str) -> Option<Self> {
        match function(word) {
            Some((name, inner)) => read_function(name, inner, 0),
            None => Self::plain(word),
        }
    }

    fn plain(word: &str) -> Option<Self> {
        let (number, unit) = number(word)?;
        let length = Self::default();
        let of = |kind, pixels| Self { pixels, kind, ..length };
        Some(match unit {
            "" => of(Kind::Bare, number),
            "%" => Self { percent: number, ..length },
            "em" => Self { letters: number, ..length },
            "deg" => of(Kind::Turn, number / 360.0),
            "grad" => of(Kind::Turn, number / 400.0),
            "rad" => of(Kind::Turn, number / std::f32::consts::TAU),
            "turn" => of(Kind::Turn, number),
            "s" => of(Kind::Time, number),
            "ms" => of(Kind::Time, number / 1_000.0),
            unit if is_of_screen(unit) => Self { screen: number, ..length },
            unit => of(Kind::Length, number * pixels(unit)?),
        })
    }

    /// In pixels, where letters have their usual height; without what the page or the screen says.
    pub(crate) fn pixels(self) -> f32 {
        self.pixels + self.letters * LETTER
    }

    /// In pixels, without what is measured by anything else.
    pub(crate) fn own_pixels(self) -> f32 {
        self.pixels
    }

    /// A number without a unit, which only zero may be.
    pub(crate) fn is_bare(self) -> bool {
        self.kind == Kind::Bare
    }

    pub(crate) fn scaled(self, by: f32) -> Self {
        Self {
            pixels: self.pixels * by,
            percent: self.percent * by,
            screen: self.screen * by,
            letters: self.letters * by,
            kind: self.kind,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            pixels: self.pixels + other.pixels,
            percent: self.percent + other.percent,
            screen: self.screen + other.screen,
            letters: self.letters + other.letters,
            kind: if self.is_bare() { other.kind } else { self.kind },
        }
    }

    fn number(number: f32) -> Self {
        Self { pixels: number, kind: Kind::Bare, ..Self::default() }
    }

    /// A guess at how long it is on a screen.
    pub(crate) fn guess(self) -> f32 {
        self.pixels() + self.percent * 8.0 + self.screen * 10.0
    }
}

/// The usual height of letters in pixels.
pub(crate) const LETTER: f32 = 16.0;

/// `vw` and its like: of the small, the large or the changing screen.
fn is_of_screen(unit: &str) -> bool {
    let side = unit.strip_prefix(['s', 'l', 'd']).unwrap_or(unit);
    matches!(side, "vw" | "vh" | "vi" | "vb" | "vmin" | "vmax")
}

/// How many pixels a unit has, with letters of the usual size.
fn pixels(unit: &str) -> Option<f32> {
    Some(match unit {
        "px" => 1.0,
        "pt" => 4.0 / 3.0,
        "pc" | "rem" | "ric" | "ic" => LETTER,
        "lh" | "rlh" => 20.0,
        "ch" | "ex" | "rch" | "rex" | "cap" | "rcap" => 8.0,
        "cm" => 37.8,
        "mm" => 3.78,
        "q" => 0.945,
        "in" => 96.0,
        "cqw" | "cqh" | "cqi" | "cqb" | "cqmin" | "cqmax" => 8.0,
        _ => return None,
    })
}

/// Reads `calc()` and its like.
fn read_function(name: &str, inner: &str, depth: u8) -> Option<Length> {
    if depth > MOST_DEPTH {
        return None;
    }
    let name = name.strip_prefix("-webkit-").unwrap_or(name);
    let is_way = |part: &&str| {
        name == "round" && matches!(part.trim(), "nearest" | "up" | "down" | "to-zero")
    };
    let parts = split_outside(inner, |c| c == ',').filter(|part| !is_way(part));
    let parts = parts.map(|part| sum(part, depth)).collect::<Option<Vec<_>>>()?;
    let least = |a: Length, b: Length| if b.guess() < a.guess() { b } else { a };
    let most = |a: Length, b: Length| if b.guess() > a.guess() { b } else { a };
    let of_number = |value: fn(f32) -> f32| match *parts.as_slice() {
        [one] if one.is_bare() => Some(Length::number(value(one.pixels))),
        _ => None,
    };
    // An angle, or a number of radians.
    let of_angle = |value: fn(f32) -> f32| match *parts.as_slice() {
        [one] if one.kind == Kind::Turn => {
            Some(Length::number(value(one.pixels * std::f32::consts::TAU)))
        }
        [one] if one.is_bare() => Some(Length::number(value(one.pixels))),
        _ => None,
    };
    match (name, parts.as_slice()) {
        ("" | "calc", [one]) => Some(*one),
        ("min", _) => parts.into_iter().reduce(least),
        ("max" | "hypot", _) => parts.into_iter().reduce(most),
        ("clamp", [from, wanted, to]) => Some(most(least(*wanted, *to), *from)),
        ("abs", [one]) => Some(if one.guess() < 0.0 { one.scaled(-1.0) } else { *one }),
        ("sign", [one]) => Some(Length::number(match one.guess() {
            0.0 => 0.0,
            guess => guess.signum(),
        })),
        ("round", [one, ..]) => Some(*one),
        ("mod" | "rem", [one, by]) if by.guess() != 0.0 => {
            Some(one.scaled((one.guess() % by.guess()) / one.guess().max(f32::MIN_POSITIVE)))
        }
        ("pow", [one, by]) if one.is_bare() && by.is_bare() => {
            Some(Length::number(one.pixels.powf(by.pixels)))
        }
        ("sqrt", _) => of_number(f32::sqrt),
        ("exp", _) => of_number(f32::exp),
        ("log", [_]) => of_number(f32::ln),
        ("sin", _) => of_angle(f32::sin),
        ("cos", _) => of_angle(f32::cos),
        ("tan", _) => of_angle(f32::tan),
        _ => None,
    }
}

/// Products, with ` + ` and ` - ` between them.
fn sum(text: &str, depth: u8) -> Option<Length> {
    let mut total: Option<Length> = None;
    let mut sign = 1.0;
    let mut product: Option<Length> = None;
    let mut operator = None;
    for word in words(text).flat_map(products) {
        match word {
            "+" | "-" if product.is_some() && operator.is_none() => {
                let done = product.take()?.scaled(sign);
                total = Some(total.map_or(done, |total| total.plus(done)));
                sign = if word == "-" { -1.0 } else { 1.0 };
            }
            "*" | "/" if product.is_some() && operator.is_none() => operator = Some(word),
            word => {
                let value = match word.split_once('(') {
                    Some((name, rest)) => {
                        read_function(name, rest.strip_suffix(')').unwrap_or(rest), depth + 1)?
                    }
                    None => constant(word).map(Length::number).or_else(|| Length::plain(word))?,
                };
                product = Some(match (product, operator.take()) {
                    (None, None) => value,
                    (Some(held), Some("*")) if value.is_bare() => held.scaled(value.pixels),
                    (Some(held), Some("*")) if held.is_bare() => value.scaled(held.pixels),
                    (Some(held), Some("/")) if value.is_bare() && value.pixels != 0.0 => {
                        held.scaled(1.0 / value.pixels)
                    }
                    _ => return None,
                });
            }
        }
    }
    let done = product.filter(|_| operator.is_none())?.scaled(sign);
    Some(total.map_or(done, |total| total.plus(done)))
}

/// Names for numbers in a sum. What has no end is long enough for every purpose here, and nothing of
/// it is nothing.
fn constant(word: &str) -> Option<f32> {
    Some(match word {
        "pi" => std::f32::consts::PI,
        "e" => std::f32::consts::E,
        "infinity" => 1e15,
        "-infinity" => -1e15,
        "nan" => 0.0,
        _ => return None,
    })
}

/// Divides `2*3px` at its marks, which need no blanks around them.
fn products(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut depth = 0_u32;
    for (at, c) in word.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '*' | '/' if depth == 0 => {
                parts.extend([&word[from..at], &word[at..at + 1]]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&word[from..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// A number without a unit, or a part of a hundred as a part of one.
pub(crate) fn share(word: &str) -> Option<f32> {
    let length = Length::read(word)?;
    match length {
        length if length.is_bare() => Some(length.pixels),
        Length { pixels: 0.0, screen: 0.0, letters: 0.0, percent, .. } => Some(percent / 100.0),
        _ => None,
    }
}

/// An angle, as a part of the whole turn. A number without a unit counts degrees.
pub(crate) fn turn(word: &str) -> Option<f32> {
    let length = Length::measure(word)?;
    match length.kind {
        Kind::Turn => Some(length.pixels),
        Kind::Bare => Some(length.pixels / 360.0),
        Kind::Length | Kind::Time => None,
    }
}

/// A time in seconds.
pub(crate) fn seconds(word: &str) -> Option<f32> {
    Length::measure(word).filter(|length| length.kind == Kind::Time).map(|length| length.pixels)
}

/// A number and its unit: `-9999px`, `.5em`, `1e-9`, `0`.
fn number(word: &str) -> Option<(f32, &str)> {
    let word = word.trim();
    let bytes = word.as_bytes();
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let digits =
        |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    end += digits(end);
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if end + 1 + sign < bytes.len() && digits(end + 1 + sign) > 0 {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    let number = word[..end].parse().ok()?;
    Some((number, &word[end..]))
}

const MOST_DEPTH: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read() {
        for (word, pixels, percent) in [
            ("calc(0px)", 0.0, 0.0),
            ("-1e5px", -1e5, 0.0),
            ("1e-9em", 1.6e-8, 0.0),
            ("calc(100% - 2*5px)", -10.0, 100.0),
            ("calc((1px + 1px) * -3)", -6.0, 0.0),
            ("min(0px, 5em)", 0.0, 0.0),
            ("clamp(1px, 900px, 3px)", 3.0, 0.0),
            ("calc(-infinity * 1px)", -1e15, 0.0),
            ("calc(sin(90deg) * 2px)", 2.0, 0.0),
            ("abs(-3px)", 3.0, 0.0),
            ("round(up, 3px, 1px)", 3.0, 0.0),
        ] {
            let length = Length::read(word).unwrap();
            assert!((length.pixels() - pixels).abs() < 1e-3, "{word}: {length:?}");
            assert!((length.percent - percent).abs() < 1e-3, "{word}: {length:?}");
        }
        for word in ["", "x", "5foo", "1e", "calc(1px *)", "calc(1px / 0)", "calc()", "5deg", "5s"]
        {
            assert_eq!(Length::read(word), None, "{word}");
        }
    }

    #[test]
    fn angles_and_times_are_read() {
        for (word, part) in
            [("90deg", 0.25), ("0.5turn", 0.5), ("100grad", 0.25), ("calc(2 * 45deg)", 0.25)]
        {
            assert!((turn(word).unwrap() - part).abs() < 1e-6, "{word}");
        }
        assert_eq!(seconds("250ms"), Some(0.25));
        assert_eq!(seconds("5"), None);
        assert_eq!(turn("5px"), None);
    }
}
