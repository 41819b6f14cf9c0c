//! The words of CSS: comments, strings, escapes, lengths. It knows no property and no selector.

use std::borrow::Cow;

/// A text of CSS without comments, with escapes read. What stands in strings, in addresses or behind
/// a backslash cannot be taken for a mark any more: such characters are moved to a place where no
/// mark is; [`real`] brings them back.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '"', '\'', '(', '*', '\0']) && !text.contains("--") {
        return Cow::Borrowed(text);
    }
    let mut reader = Plain { out: String::with_capacity(text.len()), rest: text };
    while let Some(c) = reader.next() {
        match c {
            '"' | '\'' => reader.string(c),
            '\\' => reader.escape(),
            '/' if reader.rest.starts_with('*') => {
                let end = reader.rest[1..].find("*/").map_or(reader.rest.len(), |at| at + 3);
                reader.rest = &reader.rest[end..];
                reader.out.push(' ');
            }
            '<' if reader.rest.starts_with("!--") => reader.rest = &reader.rest[3..],
            '-' if reader.rest.starts_with("->") && !reader.is_in_name() => {
                reader.rest = &reader.rest[2..];
            }
            '(' if reader.follows_url() => {
                reader.out.push('(');
                reader.address();
            }
            c => reader.out.push(c),
        }
    }
    Cow::Owned(reader.out)
}

struct Plain<'a> {
    out: String,
    rest: &'a str,
}

impl Plain<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn is_in_name(&self) -> bool {
        self.out.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'))
    }

    fn follows_url(&self) -> bool {
        let start = self.out.len().saturating_sub(3);
        let is_url = self.out.get(start..).is_some_and(|end| end.eq_ignore_ascii_case("url"));
        is_url && !self.rest.trim_start().starts_with(['"', '\''])
    }

    fn string(&mut self, quote: char) {
        self.out.push('"');
        while let Some(c) = self.next() {
            match c {
                c if c == quote => break,
                '\n' => break,
                '\\' if self.rest.starts_with('\n') => self.rest = &self.rest[1..],
                '\\' => {
                    let escaped = self.escaped();
                    self.out.extend(escaped.map(moved));
                }
                c => self.out.push(moved(c)),
            }
        }
        self.out.push('"');
    }

    /// An address without quotes, up to its parenthesis.
    fn address(&mut self) {
        while let Some(c) = self.next() {
            match c {
                ')' => {
                    self.out.push(')');
                    return;
                }
                '\\' => {
                    let escaped = self.escaped();
                    self.out.extend(escaped.map(moved));
                }
                c => self.out.push(moved(c)),
            }
        }
    }

    /// A letter behind a backslash is one of a name; everything else is no mark and no number.
    fn escape(&mut self) {
        let in_name = self.out.ends_with(|c: char| c.is_alphabetic() || matches!(c, '-' | '_'));
        let after_digit = self.out.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let Some(c) = self.escaped() else { return };
        let is_plain = (c.is_alphabetic() && !after_digit) || (in_name && matches!(c, '-' | '_'));
        self.out.push(if is_plain { c } else { moved(c) });
    }

    fn escaped(&mut self) -> Option<char> {
        let digits = self.rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            return self.next().filter(|c| *c != '\n');
        }
        let code = u32::from_str_radix(&self.rest[..digits], 16).unwrap_or_default();
        self.rest = &self.rest[digits..];
        if self.rest.starts_with([' ', '\t', '\n', '\r', '\x0c']) {
            self.rest = &self.rest[1..];
        }
        Some(char::from_u32(code).filter(|c| *c != '\0').unwrap_or('\u{FFFD}'))
    }
}

/// Marks, digits and white space go to a place of their own.
fn moved(c: char) -> char {
    match c {
        c if c.is_ascii() && !c.is_ascii_alphabetic() => {
            char::from_u32(PLACE + u32::from(c)).unwrap_or(c)
        }
        c => c,
    }
}

/// The text as it was meant, for comparing it with what the page has.
pub(crate) fn real(text: &str) -> String {
    let back = |c: char| match u32::from(c) {
        code @ PLACE..=PLACE_END => char::from_u32(code - PLACE).unwrap_or(c),
        _ => c,
    };
    text.chars().map(back).collect()
}

const PLACE: u32 = 0xF_0000;
const PLACE_END: u32 = PLACE + 127;

/// An angle, as a part of the whole turn.
pub(crate) fn turn(word: &str) -> Option<f32> {
    let part = |unit: &str, whole: f32| {
        word.strip_suffix(unit).and_then(|number| number.parse::<f32>().ok()).map(|it| it / whole)
    };
    part("deg", 360.0)
        .or_else(|| part("grad", 400.0))
        .or_else(|| part("rad", std::f32::consts::TAU))
        .or_else(|| part("turn", 1.0))
        .or_else(|| part("", 360.0))
}

/// The parts between marks that stand in no parentheses and no brackets.
pub(crate) fn split_outside(
    text: &str,
    is_mark: impl Fn(char) -> bool,
) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0_u32;
        for (at, c) in text.char_indices() {
            match c {
                c if depth == 0 && is_mark(c) => {
                    rest = Some(&text[at + c.len_utf8()..]);
                    return Some(&text[..at]);
                }
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        rest = None;
        Some(text)
    })
}

/// The words of a value; a function with what is in its parentheses is one word.
pub(crate) fn words(value: &str) -> impl Iterator<Item = &str> {
    split_outside(value, |c| c.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// The functions of a value: their names, and what is in their parentheses. Nothing if there is
/// anything else.
pub(crate) fn functions(value: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut depth = 0_u32;
    for (at, c) in value.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => {
                found.push(function(value[from..=at].trim())?);
                from = at + 1;
                depth = 0;
            }
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    // Whoever forgets the last parenthesis is forgiven.
    match value[from..].trim() {
        "" => {}
        rest => found.push(function(rest)?),
    }
    Some(found)
}

/// The name of a function, and what is in its parentheses.
pub(crate) fn function(word: &str) -> Option<(&str, &str)> {
    let (name, rest) = word.split_once('(')?;
    let inner = rest.strip_suffix(')').unwrap_or(rest);
    (!name.is_empty()).then_some((name.trim(), inner.trim()))
}

/// A length, as a sum of parts that are not known before the page is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Length {
    pub(crate) pixels: f32,
    pub(crate) percent: f32,
    /// Hundredths of the screen.
    pub(crate) screen: f32,
    /// A number without a unit, which only zero may be.
    pub(crate) is_bare: bool,
}

impl Length {
    pub(crate) fn read(word: &str) -> Option<Self> {
        if let Some((name, inner)) = function(word) {
            return Sum::read(name, inner, 0);
        }
        let (number, unit) = number(word)?;
        let length = Self::default();
        Some(match unit {
            "" => Self { pixels: number, is_bare: true, ..length },
            "%" => Self { percent: number, ..length },
            "vw" | "vh" | "vi" | "vb" | "vmin" | "vmax" | "svw" | "svh" | "lvw" | "lvh" | "dvw"
            | "dvh" => Self { screen: number, ..length },
            unit => Self { pixels: number * pixels(unit)?, ..length },
        })
    }

    fn scaled(self, by: f32) -> Self {
        Self {
            pixels: self.pixels * by,
            percent: self.percent * by,
            screen: self.screen * by,
            is_bare: self.is_bare,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            pixels: self.pixels + other.pixels,
            percent: self.percent + other.percent,
            screen: self.screen + other.screen,
            is_bare: self.is_bare && other.is_bare,
        }
    }

    /// A guess at how long it is on a screen.
    fn guess(self) -> f32 {
        self.pixels + self.percent * 8.0 + self.screen * 10.0
    }
}

/// How many pixels a unit has, with letters of the usual size.
fn pixels(unit: &str) -> Option<f32> {
    Some(match unit {
        "px" => 1.0,
        "pt" => 4.0 / 3.0,
        "pc" | "em" | "rem" | "ric" | "ic" => 16.0,
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
struct Sum;

impl Sum {
    fn read(name: &str, inner: &str, depth: u8) -> Option<Length> {
        if depth > 8 {
            return None;
        }
        let mut parts = split_outside(inner, |c| c == ',').map(|part| Self::sum(part, depth));
        match name {
            "" | "calc" | "-webkit-calc" => parts.next()?.filter(|_| parts.next().is_none()),
            "min" => parts
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .reduce(|a, b| if b.guess() < a.guess() { b } else { a }),
            "max" => parts
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .reduce(|a, b| if b.guess() > a.guess() { b } else { a }),
            "clamp" => {
                let (least, wanted, most) = (parts.next()??, parts.next()??, parts.next()??);
                let value = if wanted.guess() > most.guess() { most } else { wanted };
                Some(if value.guess() < least.guess() { least } else { value })
            }
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
                            Self::read(name, rest.strip_suffix(')').unwrap_or(rest), depth + 1)?
                        }
                        None => Length::read(word)?,
                    };
                    product = Some(match (product, operator.take()) {
                        (None, None) => value,
                        (Some(held), Some("*")) if value.is_bare => held.scaled(value.pixels),
                        (Some(held), Some("*")) if held.is_bare => value.scaled(held.pixels),
                        (Some(held), Some("/")) if value.is_bare && value.pixels != 0.0 => {
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
        Length { is_bare: true, .. } => Some(length.pixels),
        Length { pixels: 0.0, screen: 0.0, percent, .. } => Some(percent / 100.0),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_strings_and_behind_backslashes_are_none() {
        for (text, plain_text) in [
            ("d\\69splay:none", "display:none"),
            ("d\\000069 splay:none", "display:none"),
            ("a/* } */b", "a b"),
            ("<!-- a{} -->", " a{} "),
            ("--a:1", "--a:1"),
        ] {
            assert_eq!(plain(text), plain_text, "{text}");
        }
        for text in ["content:\"}\"", "content:'/*'", "url(a}b/*)", "content:\"\\\"}\"", "\\}"] {
            let read = plain(text);
            assert!(!read.contains('}') && !read.contains("/*"), "{text}: {read}");
        }
        assert_eq!(real(&plain("md\\:hidden")), "md:hidden");
    }

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
        ] {
            let length = Length::read(word).unwrap();
            assert!((length.pixels - pixels).abs() < 1e-3, "{word}: {length:?}");
            assert!((length.percent - percent).abs() < 1e-3, "{word}: {length:?}");
        }
        for word in ["", "x", "5foo", "1e", "calc(1px *)", "calc(1px / 0)", "calc()"] {
            assert_eq!(Length::read(word), None, "{word}");
        }
    }
}
