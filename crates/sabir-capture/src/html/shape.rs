//! What `clip` and `clip-path` leave of an element. Shapes that are drawn elsewhere in the page are
//! not looked up.

use super::css::{function, real, split_outside, words};
use super::length::Length;

/// Whether nothing is left; nothing is said where the value is none.
pub(super) fn clip(value: &str) -> Option<bool> {
    if value == "auto" {
        return Some(false);
    }
    let (name, inner) = function(value)?;
    if name != "rect" {
        return None;
    }
    let edges: Vec<Option<Length>> =
        inner.split([' ', ',']).filter(|word| !word.is_empty()).map(Length::read).collect();
    let [top, right, bottom, left] = *edges.as_slice() else { return None };
    let is_closed = |start: Option<Length>, end: Option<Length>| match (start, end) {
        (Some(start), Some(end)) => end.pixels() - start.pixels() <= 1.0,
        // From the edge of the box to nowhere.
        (None, Some(end)) => end.pixels() <= 1.0,
        _ => false,
    };
    Some(is_closed(top, bottom) || is_closed(left, right))
}

pub(super) fn clip_path(value: &str) -> Option<bool> {
    let Some((shape, inner)) = words(value).find_map(function) else {
        let boxes = ["none", "border-box", "padding-box", "content-box", "margin-box", "fill-box"];
        return words(value).all(|word| boxes.contains(&word)).then_some(false);
    };
    let numbers = |text: &str| -> Vec<Length> {
        split_outside(text, |c| c == ',' || c.is_ascii_whitespace())
            .filter(|word| !word.is_empty())
            .map_while(Length::read)
            .collect()
    };
    let before = |word: &str| inner.split(word).next().unwrap_or_default();
    let is_small = |length: &Length| length.pixels() <= 1.0 && length.percent <= 1.0;
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
            !x.is_empty() && [x, y].iter().any(|side| is_span(side) || is_outside(side))
        }
        "path" => {
            // The quoted part; a rule for filling may stand before it.
            let path = inner.split('"').nth(1)?;
            is_empty_path(&real(path))?
        }
        "shape" => is_empty_shape(inner)?,
        "url" => false,
        _ => return None,
    };
    Some(is_clipped)
}

/// Whether what is cut off from two sides is all there is.
fn leaves_nothing(one: Length, other: Length) -> bool {
    one.percent + other.percent >= 98.0
        || one.screen + other.screen >= 98.0
        || one.pixels() + other.pixels() >= 1_000.0
}

/// Whether all lie before or behind the box.
fn is_outside(places: &[Length]) -> bool {
    places.iter().all(|it| it.pixels() <= 0.0 && it.percent <= 0.0 && it.screen <= 0.0)
        || places.iter().all(|it| it.pixels() >= 0.0 && it.percent >= 100.0)
}

/// Whether all lie on one line.
fn is_span(places: &[Length]) -> bool {
    let width = |part: fn(&Length) -> f32| {
        let most = places.iter().map(part).fold(f32::MIN, f32::max);
        let least = places.iter().map(part).fold(f32::MAX, f32::min);
        most - least
    };
    width(|it| it.pixels()) <= 1.0 && width(|it| it.percent) <= 1.0 && width(|it| it.screen) <= 1.0
}

/// Whether a path of SVG encloses nothing that could be seen: it has no breadth, or lies before the
/// corner of the box altogether.
fn is_empty_path(path: &str) -> Option<bool> {
    let mut pen = Pen::default();
    let mut command = None;
    let mut numbers: Vec<f32> = Vec::new();
    let mut rest = path.trim_start();
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E') {
            pen.draw(command, &numbers)?;
            numbers.clear();
            command = Some(c);
            rest = &rest[1..];
        } else if c == ',' || c.is_ascii_whitespace() {
            rest = &rest[1..];
        } else {
            let length = number_length(rest, command, numbers.len());
            numbers.push(rest.get(..length)?.parse().ok()?);
            rest = &rest[length..];
        }
        if numbers.len() > MOST_NUMBERS {
            return Some(false);
        }
    }
    pen.draw(command, &numbers)?;
    Some(pen.is_empty())
}

/// How long the number at the start is. The flags of an arc need nothing between them.
fn number_length(text: &str, command: Option<char>, at: usize) -> usize {
    if matches!(command, Some('a' | 'A')) && matches!(at % 7, 3 | 4) {
        return 1;
    }
    let mut has_dot = false;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let goes_on = match c {
            '0'..='9' => true,
            '.' => !std::mem::replace(&mut has_dot, true),
            '+' | '-' => at == 0 || matches!(before, 'e' | 'E'),
            'e' | 'E' => at > 0,
            _ => false,
        };
        if !goes_on {
            return at;
        }
        before = c;
    }
    text.len()
}

/// Where something was drawn.
#[derive(Default)]
struct Pen {
    at: [f32; 2],
    start: [f32; 2],
    seen: Vec<[f32; 2]>,
}

impl Pen {
    fn draw(&mut self, command: Option<char>, numbers: &[f32]) -> Option<()> {
        let Some(command) = command else { return numbers.is_empty().then_some(()) };
        let is_relative = command.is_ascii_lowercase();
        let take = match command.to_ascii_lowercase() {
            'z' => {
                self.at = self.start;
                return numbers.is_empty().then_some(());
            }
            'm' | 'l' | 't' => 2,
            'h' | 'v' => 1,
            'q' | 's' => 4,
            'c' => 6,
            'a' => 7,
            _ => return None,
        };
        if numbers.is_empty() || !numbers.len().is_multiple_of(take) {
            return None;
        }
        for (count, step) in numbers.chunks_exact(take).enumerate() {
            let from = if is_relative { self.at } else { [0.0, 0.0] };
            let place = |pair: &[f32]| [from[0] + pair[0], from[1] + pair[1]];
            match command.to_ascii_lowercase() {
                'h' => self.at[0] = from[0] + step[0],
                'v' => self.at[1] = from[1] + step[0],
                'a' => {
                    // It bulges by no more than twice its radius.
                    let [x, y] = self.at;
                    self.seen.extend([[x - step[0].abs() * 2.0, y - step[1].abs() * 2.0]]);
                    self.seen.extend([[x + step[0].abs() * 2.0, y + step[1].abs() * 2.0]]);
                    self.at = place(&step[5..]);
                }
                _ => {
                    self.seen.extend(step.chunks_exact(2).map(place));
                    self.at = place(&step[take - 2..]);
                }
            }
            if matches!(command, 'm' | 'M') && count == 0 {
                self.start = self.at;
                // A move alone draws nothing.
                self.seen.pop();
            }
            self.seen.push(self.at);
        }
        Some(())
    }

    fn is_empty(&self) -> bool {
        let side = |at: usize| {
            let places = || self.seen.iter().map(|place| place[at]);
            (places().fold(f32::MAX, f32::min), places().fold(f32::MIN, f32::max))
        };
        let is_thin = |(least, most): (f32, f32)| most - least <= 1.0 || most <= 1.0;
        self.seen.len() < 3 || is_thin(side(0)) || is_thin(side(1))
    }
}

/// `from 0 0, line to 10px 0, …`: whether all places that are named lie on one line.
fn is_empty_shape(inner: &str) -> Option<bool> {
    if inner.contains("by ") {
        return Some(false);
    }
    let mut places: (Vec<Length>, Vec<Length>) = Default::default();
    for step in split_outside(inner, |c| c == ',') {
        let numbers: Vec<Length> = words(step).filter_map(Length::read).collect();
        match *numbers.as_slice() {
            [] => {}
            [only] => {
                // Of one number nobody knows the side.
                places.0.push(only);
                places.1.push(only);
            }
            [x, y, ..] => {
                places.0.push(x);
                places.1.push(y);
            }
        }
    }
    Some(is_span(&places.0) || is_span(&places.1))
}

/// Longer paths draw something.
const MOST_NUMBERS: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_enclose_nothing() {
        for path in
            ["", "M0 0", "M 0 0 Z", "M5 5L5 5", "M0 0H100Z", "m0,0 v50z", "M-50-50h20v20h-20z"]
        {
            assert_eq!(is_empty_path(path), Some(true), "{path}");
        }
        for path in
            ["M0 0H100V100H0Z", "M0 0L50 0 50 50Z", "M10 10a5 5 0 1010 0z", "m0 0 20 0 0 20z"]
        {
            assert_eq!(is_empty_path(path), Some(false), "{path}");
        }
        assert_eq!(is_empty_path("M0 0L5"), None);
        assert_eq!(is_empty_path("x"), None);
    }
}
