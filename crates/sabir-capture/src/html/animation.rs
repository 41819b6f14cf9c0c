//! Where animations end up: what an element looks like to somebody who reads the page, some seconds
//! after it was opened. How it looks on the way it does not know.

use std::collections::HashMap;

use super::css::{real, split_outside, words};
use super::length::{seconds, share};
use super::style::{Look, Property, Says};

/// What `animation` sets at once, in this order.
pub(super) const PARTS: &[Property] = &[
    Property::AnimationName,
    Property::AnimationDuration,
    Property::AnimationDelay,
    Property::AnimationCount,
    Property::AnimationDirection,
    Property::AnimationFill,
    Property::AnimationState,
    Property::AnimationTimeline,
];

/// The part of the value of `animation` that is for one of [`PARTS`].
pub(super) fn part(value: &str, place: usize) -> String {
    let parts: Vec<String> =
        split_outside(value, |c| c == ',').map(|one| part_of_one(one, place)).collect();
    parts.join(",")
}

fn part_of_one(value: &str, place: usize) -> String {
    let mut found: [Option<&str>; 8] = [None; 8];
    for word in words(value) {
        let place = match word {
            _ if seconds(word).is_some() => usize::from(found[1].is_some()) + 1,
            "infinite" => 3,
            _ if share(word).is_some() => 3,
            "normal" | "reverse" | "alternate" | "alternate-reverse" => 4,
            "forwards" | "backwards" | "both" if found[5].is_none() => 5,
            "running" | "paused" if found[6].is_none() => 6,
            _ if is_timing(word) => continue,
            "auto" | "none" if found[0].is_some() => 5,
            _ => 0,
        };
        found[place].get_or_insert(word);
    }
    let usual = ["none", "0s", "0s", "1", "normal", "none", "running", "auto"];
    found.get(place).copied().flatten().or(usual.get(place).copied()).unwrap_or_default().to_owned()
}

fn is_timing(word: &str) -> bool {
    matches!(
        word,
        "linear" | "ease" | "ease-in" | "ease-out" | "ease-in-out" | "step-start" | "step-end"
    ) || ["cubic-bezier(", "steps(", "linear("].iter().any(|start| word.starts_with(start))
}

/// A name, with quotes or without.
fn animation_name(text: &str) -> String {
    real(text.trim().trim_matches('"')).to_ascii_lowercase()
}

/// The `@keyframes` of a page, by name.
#[derive(Debug, Default)]
pub(crate) struct Keyframes {
    /// The frames with their places, from zero to one; nothing where they were too many.
    by_name: HashMap<String, Option<Vec<(f32, Look)>>>,
    count: usize,
}

impl Keyframes {
    /// A later `@keyframes` with the same name replaces an earlier one.
    pub(crate) fn open(&mut self, name: &str) -> String {
        let name = animation_name(name);
        self.by_name.insert(name.clone(), Some(Vec::new()));
        name
    }

    /// Adds a frame for all places in its head: `from, 50%`. Whether there was room for it.
    pub(crate) fn add(&mut self, name: &str, head: &str, look: &Look) -> bool {
        let Some(frames) = self.by_name.get_mut(name) else { return true };
        for place in head.split(',') {
            let place = match place.trim().to_ascii_lowercase().as_str() {
                "from" => 0.0,
                "to" => 1.0,
                place => match share(words(place).last().unwrap_or_default()) {
                    Some(share) if (0.0..=1.0).contains(&share) => share,
                    _ => continue,
                },
            };
            self.count += 1;
            match frames {
                Some(frames) if self.count <= MOST_FRAMES => frames.push((place, look.clone())),
                frames => {
                    *frames = None;
                    return false;
                }
            }
        }
        true
    }

    /// Whether some animation may hide something.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

/// One animation of an element.
struct Animation<'a> {
    name: &'a str,
    duration: f32,
    delay: f32,
    count: f32,
    direction: &'a str,
    fill: &'a str,
    is_paused: bool,
    by_scrolling: bool,
}

/// What an animation does to an element in the end.
enum Outcome {
    /// Nothing any more.
    Over,
    /// It stays at this place.
    At(f32),
    /// It goes on and on, or is moved by whoever scrolls.
    Everywhere,
}

impl Animation<'_> {
    fn outcome(&self) -> Outcome {
        if self.by_scrolling {
            return Outcome::Everywhere;
        }
        let time = if self.is_paused { -self.delay } else { SOME_TIME - self.delay };
        let ends_back = match (self.direction, self.count) {
            ("reverse", _) => true,
            ("alternate", count) => (count.round() as i64) % 2 == 0,
            ("alternate-reverse", count) => (count.round() as i64) % 2 == 1,
            _ => false,
        };
        let is_turned = self.direction.ends_with("reverse");
        let start = if is_turned { 1.0 } else { 0.0 };
        if time < 0.0 {
            return match self.fill {
                "backwards" | "both" => Outcome::At(start),
                _ => Outcome::Over,
            };
        }
        let whole = self.duration * self.count;
        if time >= whole {
            return match self.fill {
                "forwards" | "both" => Outcome::At(if ends_back { 0.0 } else { 1.0 }),
                _ => Outcome::Over,
            };
        }
        let passed = time / self.duration;
        if passed < 1.0 {
            // Long ones have hardly begun.
            return Outcome::At(if is_turned { 1.0 - passed } else { passed });
        }
        Outcome::Everywhere
    }
}

impl Look {
    /// What it looks like when its animations have done what they do.
    pub(crate) fn settled(self, keyframes: &Keyframes) -> Self {
        if keyframes.is_empty() || self.says(Property::AnimationName).is_none() {
            return self;
        }
        let text = |property| match self.says(property) {
            Some(Says::Words(words)) => words.to_string(),
            _ => String::new(),
        };
        let texts: Vec<String> = PARTS.iter().map(|property| text(*property)).collect();
        let mut look = self.clone();
        let names = split_outside(&texts[0], |c| c == ',').map(str::trim).enumerate();
        for (at, name) in names.take(MOST_ANIMATIONS) {
            // Shorter lists are repeated.
            let of = |place: usize| {
                let list: Vec<&str> =
                    split_outside(&texts[place], |c| c == ',').map(str::trim).collect();
                list.get(at % list.len().max(1)).copied().unwrap_or_default()
            };
            let animation = Animation {
                name: &animation_name(name),
                duration: seconds(of(1)).unwrap_or(0.0).max(0.0),
                delay: seconds(of(2)).unwrap_or(0.0),
                count: match of(3) {
                    "infinite" => f32::INFINITY,
                    count => share(count).unwrap_or(1.0).max(0.0),
                },
                direction: of(4),
                fill: of(5),
                is_paused: of(6) == "paused",
                by_scrolling: !matches!(of(7), "" | "auto" | "none"),
            };
            look.run(&animation, keyframes);
        }
        look
    }

    fn run(&mut self, animation: &Animation<'_>, keyframes: &Keyframes) {
        let frames = match keyframes.by_name.get(animation.name) {
            None => return,
            Some(None) => {
                self.hide();
                return;
            }
            Some(Some(frames)) => frames,
        };
        match animation.outcome() {
            Outcome::Over => {}
            Outcome::At(place) => {
                let before = place_before(frames, place);
                let after = place_after(frames, place);
                // Near one frame it looks like that one; halfway it may look like either.
                let places = match (place - before) / (after - before) {
                    way if way > 0.9 => vec![after],
                    way if way > 0.1 => vec![before, after],
                    _ => vec![before],
                };
                let looks: Vec<Look> =
                    places.into_iter().map(|place| self.at(frames, place)).collect();
                self.take_seen(looks.into_iter());
            }
            Outcome::Everywhere => {
                let mut places: Vec<f32> = frames.iter().map(|(place, _)| *place).collect();
                places.extend([0.0, 1.0]);
                places.sort_by(f32::total_cmp);
                places.dedup();
                let looks: Vec<Look> = places.iter().map(|place| self.at(frames, *place)).collect();
                self.take_seen(looks.into_iter());
            }
        }
    }

    /// It looks as at one of these places; as at one where it is seen, if there is any.
    fn take_seen(&mut self, looks: impl Iterator<Item = Look>) {
        let mut looks = looks.peekable();
        let Some(first) = looks.peek().cloned() else { return };
        *self = looks.find(|look| !look.hides_alone()).unwrap_or(first);
    }

    /// With what the frames at one place say. What nothing is said about there is as it was.
    fn at(&self, frames: &[(f32, Look)], place: f32) -> Self {
        let mut look = self.clone();
        for (_, frame) in frames.iter().filter(|(at, _)| (at - place).abs() < 1e-4) {
            let declarations = frame.declarations().filter(|declaration| !declaration.important);
            declarations.for_each(|declaration| look.add(declaration));
        }
        look
    }
}

fn place_before(frames: &[(f32, Look)], place: f32) -> f32 {
    frames.iter().map(|(at, _)| *at).filter(|at| *at <= place + 1e-4).fold(0.0, f32::max)
}

fn place_after(frames: &[(f32, Look)], place: f32) -> f32 {
    frames.iter().map(|(at, _)| *at).filter(|at| *at >= place - 1e-4).fold(1.0, f32::min)
}

/// After so many seconds somebody reads.
const SOME_TIME: f32 = 10.0;

const MOST_ANIMATIONS: usize = 16;
const MOST_FRAMES: usize = 2_000;
