//! How `transform`, `rotate` and `scale` place what is seen, as far as it takes to tell whether
//! anything is left of it. How large a page or a box is it does not know.

use super::css::{functions, split_outside, words};
use super::length::{Length, share, turn};

/// What becomes of directions: the columns of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turned([[f32; 3]; 3]);

impl Turned {
    pub(crate) const NONE: Self = Self([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);

    fn scale(x: f32, y: f32, z: f32) -> Self {
        Self([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]])
    }

    /// Around an axis, by a part of the whole turn.
    fn rotate(axis: [f32; 3], part: f32) -> Self {
        let length = axis.iter().map(|it| it * it).sum::<f32>().sqrt();
        if length == 0.0 {
            return Self::NONE;
        }
        let [x, y, z] = axis.map(|it| it / length);
        let (sin, cos) = (part * std::f32::consts::TAU).sin_cos();
        let rest = 1.0 - cos;
        Self([
            [cos + x * x * rest, y * x * rest + z * sin, z * x * rest - y * sin],
            [x * y * rest - z * sin, cos + y * y * rest, z * y * rest + x * sin],
            [x * z * rest + y * sin, y * z * rest - x * sin, cos + z * z * rest],
        ])
    }

    fn skew(x: f32, y: f32) -> Self {
        let tan = |part: f32| (part * std::f32::consts::TAU).tan();
        Self([[1.0, tan(y), 0.0], [tan(x), 1.0, 0.0], [0.0, 0.0, 1.0]])
    }

    /// First the other one, then this one.
    pub(crate) fn after(self, first: Self) -> Self {
        let place = |at: [f32; 3]| {
            let row = |row: usize| (0..3).map(|it| self.0[it][row] * at[it]).sum();
            [row(0), row(1), row(2)]
        };
        Self(first.0.map(place))
    }

    /// As it is painted: without depth.
    pub(crate) fn flat(self) -> Self {
        let [[a, b, _], [c, d, _], _] = self.0;
        Self([[a, b, 0.0], [c, d, 0.0], [0.0, 0.0, 1.0]])
    }

    /// How much is left of the side that is left least of.
    pub(crate) fn least(self) -> f32 {
        let [[a, b, _], [c, d, _], _] = self.0;
        let (sum, area) = (a * a + b * b + c * c + d * d, (a * d - b * c).abs());
        if sum == 0.0 || !sum.is_finite() {
            return 0.0;
        }
        // The smaller of the two sides of what a square becomes.
        area / ((sum + (sum * sum - 4.0 * area * area).max(0.0).sqrt()) / 2.0).sqrt()
    }
}

/// What a list of functions does: to directions, and to a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transform {
    pub(super) turned: Turned,
    x: Length,
    y: Length,
    /// How near it comes, and from where it is seen.
    depth: f32,
    eye: Option<f32>,
}

impl Transform {
    /// Reads the value of `transform`; nothing where it is none.
    pub(super) fn read(value: &str) -> Option<Self> {
        let mut whole = Self {
            turned: Turned::NONE,
            x: Length::default(),
            y: Length::default(),
            depth: 0.0,
            eye: None,
        };
        if value == "none" {
            return Some(whole);
        }
        for (name, inner) in functions(value)? {
            whole.add(name, inner)?;
        }
        Some(whole)
    }

    fn add(&mut self, name: &str, inner: &str) -> Option<()> {
        let words: Vec<&str> = split_outside(inner, |c| c == ',').map(str::trim).collect();
        let shares = || words.iter().map(|word| share(word)).collect::<Option<Vec<_>>>();
        let turns = || words.iter().map(|word| turn(word)).collect::<Option<Vec<_>>>();
        let step = match name {
            "translate" | "translatex" | "translatey" | "translate3d" | "translatez" => {
                let lengths =
                    words.iter().map(|word| Length::read(word)).collect::<Option<Vec<_>>>()?;
                let none = Length::default();
                match (name, lengths.as_slice()) {
                    ("translate", [x]) | ("translatex", [x]) => self.shift(*x, none, 0.0),
                    ("translatey", [y]) => self.shift(none, *y, 0.0),
                    ("translatez", [z]) => self.shift(none, none, z.pixels()),
                    ("translate", [x, y]) => self.shift(*x, *y, 0.0),
                    ("translate3d", [x, y, z]) => self.shift(*x, *y, z.pixels()),
                    _ => return None,
                }
                return Some(());
            }
            "perspective" => {
                if inner != "none" {
                    self.eye = Some(Length::read(inner)?.pixels().max(1.0));
                }
                return Some(());
            }
            "scale" | "scalex" | "scaley" | "scalez" | "scale3d" => {
                match (name, shares()?.as_slice()) {
                    ("scale", [all]) => Turned::scale(*all, *all, 1.0),
                    ("scale", [x, y]) => Turned::scale(*x, *y, 1.0),
                    ("scalex", [x]) => Turned::scale(*x, 1.0, 1.0),
                    ("scaley", [y]) => Turned::scale(1.0, *y, 1.0),
                    ("scalez", [z]) => Turned::scale(1.0, 1.0, *z),
                    ("scale3d", [x, y, z]) => Turned::scale(*x, *y, *z),
                    _ => return None,
                }
            }
            "rotatex" => Turned::rotate([1.0, 0.0, 0.0], turn(inner)?),
            "rotatey" => Turned::rotate([0.0, 1.0, 0.0], turn(inner)?),
            "rotate" | "rotatez" => Turned::rotate([0.0, 0.0, 1.0], turn(inner)?),
            "rotate3d" => {
                let [x, y, z, angle] = *words.as_slice() else { return None };
                Turned::rotate([share(x)?, share(y)?, share(z)?], turn(angle)?)
            }
            "skew" | "skewx" | "skewy" => match (name, turns()?.as_slice()) {
                ("skew" | "skewx", [x]) => Turned::skew(*x, 0.0),
                ("skewy", [y]) => Turned::skew(0.0, *y),
                ("skew", [x, y]) => Turned::skew(*x, *y),
                _ => return None,
            },
            "matrix" => {
                let [a, b, c, d, x, y] = *shares()?.as_slice() else { return None };
                self.shift_pixels(x, y, 0.0);
                Turned([[a, b, 0.0], [c, d, 0.0], [0.0, 0.0, 1.0]])
            }
            "matrix3d" => {
                let [a, b, c, _, d, e, f, _, g, h, i, _, x, y, z, whole] = *shares()?.as_slice()
                else {
                    return None;
                };
                self.shift_pixels(x, y, z);
                // Everything is divided by the last number; behind the eye is nothing.
                let by = if whole > 0.0 { 1.0 / whole } else { 0.0 };
                Turned([[a, b, c], [d, e, f], [g, h, i]].map(|column| column.map(|it| it * by)))
            }
            _ => return None,
        };
        self.turned = self.turned.after(step);
        Some(())
    }

    fn shift_pixels(&mut self, x: f32, y: f32, z: f32) {
        let unit = Length::read("1px").unwrap_or_default();
        self.shift(unit.scaled(x), unit.scaled(y), z);
    }

    /// Moves along directions that may have been turned before.
    fn shift(&mut self, x: Length, y: Length, z: f32) {
        let [[a, b, c], [d, e, f], [_, _, i]] = self.turned.0;
        self.x = self.x.plus(x.scaled(a)).plus(y.scaled(d));
        self.y = self.y.plus(x.scaled(b)).plus(y.scaled(e));
        self.depth += c * x.guess() + f * y.guess() + i * z;
    }

    /// Whether it is moved as far as what is hidden is: slides are moved by one width.
    pub(super) fn is_far(&self) -> bool {
        is_far(self.x) || is_far(self.y)
    }

    /// What is done to directions, the distance to the eye included.
    pub(super) fn seen(&self) -> Turned {
        let Some(eye) = self.eye else { return self.turned };
        let by = if self.depth < eye { eye / (eye - self.depth) } else { 0.0 };
        Turned::scale(by, by, 1.0).after(self.turned)
    }
}

/// Slides are moved by one width; what is hidden is moved by thousands.
pub(super) fn is_far(length: Length) -> bool {
    length.pixels().abs() >= 900.0 || length.screen.abs() >= 150.0 || length.percent.abs() >= 400.0
}

/// The value of `rotate`: an angle, with an axis before or behind it.
pub(super) fn rotation(value: &str) -> Option<Turned> {
    let words: Vec<&str> = words(value).collect();
    let axis = |name: &str| match name {
        "x" => Some([1.0, 0.0, 0.0]),
        "y" => Some([0.0, 1.0, 0.0]),
        "z" => Some([0.0, 0.0, 1.0]),
        _ => None,
    };
    match *words.as_slice() {
        ["none"] => Some(Turned::NONE),
        [angle] => Some(Turned::rotate([0.0, 0.0, 1.0], turn(angle)?)),
        [one, other] => match axis(one) {
            Some(axis) => Some(Turned::rotate(axis, turn(other)?)),
            None => Some(Turned::rotate(axis(other)?, turn(one)?)),
        },
        [x, y, z, angle] => match turn(angle).filter(|_| share(angle).is_none()) {
            Some(angle) => Some(Turned::rotate([share(x)?, share(y)?, share(z)?], angle)),
            None => Some(Turned::rotate([share(y)?, share(z)?, share(angle)?], turn(x)?)),
        },
        _ => None,
    }
}

/// The value of `scale`.
pub(super) fn scaling(value: &str) -> Option<Turned> {
    if value == "none" {
        return Some(Turned::NONE);
    }
    match *words(value).map(share).collect::<Option<Vec<_>>>()?.as_slice() {
        [all] => Some(Turned::scale(all, all, 1.0)),
        [x, y] => Some(Turned::scale(x, y, 1.0)),
        [x, y, z] => Some(Turned::scale(x, y, z)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_the_smaller_side() {
        for (value, least) in [
            ("none", 1.0),
            ("rotate(37deg)", 1.0),
            ("rotatex(90deg)", 0.0),
            ("rotatex(45deg) rotatex(45deg)", 0.0),
            ("rotate3d(1, 0, 0, 60deg)", 0.5),
            ("scale(.1) scale(.1, 1)", 0.01),
            ("skewx(90deg)", 0.0),
            ("matrix3d(1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,100)", 0.01),
            ("perspective(1px) translatez(-999px)", 0.001),
            ("perspective(1px) translatez(2px)", 0.0),
        ] {
            let found = Transform::read(value).unwrap().seen().least();
            assert!((found - least).abs() < 1e-4, "{value}: {found}");
        }
        assert!(Transform::read("scale(2) translatex(-450px)").unwrap().is_far());
        assert!(!Transform::read("translatex(-9999px) translatex(9999px)").unwrap().is_far());
        assert!(Transform::read("spin(1)").is_none());
        assert!(rotation("x 90deg").unwrap().least() < 1e-4);
        assert!(rotation("90deg 0 1 0").unwrap().least() < 1e-4);
    }
}
