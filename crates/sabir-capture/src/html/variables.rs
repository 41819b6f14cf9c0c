//! What a page has given names to, and other values that stand for values: `var()`, `env()`, `attr()`,
//! `if()`. Who sets one where is not known, so that a value that hides counts wherever it was set.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::css::{lowered, split_outside};
use super::style::LONGEST_VALUE;

/// Names and what they may stand for.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    values: HashMap<String, Vec<String>>,
    /// Attributes whose values a sheet asks for, and what they are.
    attributes: HashMap<String, Vec<String>>,
    /// Whether there were too many.
    pub(crate) is_cut: bool,
}

impl Variables {
    /// Adds what a text that [`plain`](super::css::plain) has read sets.
    pub(crate) fn read(&mut self, text: &str) {
        if !text.contains("--") {
            return;
        }
        // `@property --x { initial-value: none }`
        let mut property = None;
        for piece in text.split_inclusive(['{', '}', ';']) {
            let part = piece.trim_end_matches(['{', '}', ';']).trim();
            if piece.ends_with('{')
                && let Some((at, name)) = part.split_once(|c: char| c.is_ascii_whitespace())
            {
                property = at.eq_ignore_ascii_case("@property").then(|| name.trim());
            }
            if let Some((name, value)) = part.split_once(':') {
                match (name.trim(), property) {
                    (name, _) if name.starts_with("--") => self.set(name, value),
                    (name, Some(property)) if name.eq_ignore_ascii_case("initial-value") => {
                        self.set(property, value);
                    }
                    _ => {}
                }
            }
            if piece.ends_with('}') {
                property = None;
            }
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if self.values.len() >= MOST_VARIABLES || value.len() > LONGEST_VALUE {
            self.is_cut |= self.values.len() >= MOST_VARIABLES;
            return;
        }
        // Values are read in lower case, names in them included.
        let values = self.values.entry(name.to_ascii_lowercase()).or_default();
        let value = lowered(value);
        if values.contains(&value) {
            return;
        }
        match values.len() < MOST_VALUES {
            true => values.push(value),
            false => self.is_cut = true,
        }
    }

    /// The attributes that a text of CSS asks for.
    pub(crate) fn attributes_in(text: &str, names: &mut HashSet<String>) {
        for (at, start) in text.match_indices("attr(") {
            let name = text[at + start.len()..].trim_start();
            let end = name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')));
            if names.len() < MOST_VARIABLES {
                names.insert(name[..end.unwrap_or(name.len())].to_ascii_lowercase());
            }
        }
    }

    /// Adds a value that such an attribute has somewhere.
    pub(crate) fn add_attribute(&mut self, name: &str, value: &str) {
        let values = self.attributes.entry(name.to_owned()).or_default();
        let value = value.trim().to_ascii_lowercase();
        if value.len() > LONGEST_VALUE || values.contains(&value) {
            return;
        }
        match values.len() < MOST_VALUES {
            true => values.push(value),
            false => self.is_cut = true,
        }
    }

    /// The values that a value can have, each once; nothing where it stands for itself.
    pub(crate) fn values_of(&self, value: &str) -> Option<Vec<String>> {
        first_call(value)?;
        let mut done: Vec<String> = Vec::new();
        let mut open = vec![value.to_owned()];
        let mut steps = 0;
        while let Some(value) = open.pop() {
            steps += 1;
            let Some((start, name)) = first_call(&value) else {
                if !done.contains(&value) {
                    done.push(value);
                }
                continue;
            };
            if steps > MOST_VALUES * 8 || value.len() > LONGEST_VALUE * 2 {
                continue;
            }
            let rest = &value[start + name.len()..];
            let inner = split_outside(rest, |c| c == ')').next().unwrap_or_default();
            let after = rest.get(inner.len() + 1..).unwrap_or_default();
            let with = |candidate: &str| format!("{}{candidate}{after}", &value[..start]);
            open.extend(self.candidates(name, inner).iter().map(|it| with(it)));
        }
        Some(done)
    }

    /// What a call may stand for.
    fn candidates<'a>(&'a self, name: &str, inner: &'a str) -> Vec<Cow<'a, str>> {
        let mut arguments = split_outside(inner, |c| c == ',');
        let first = arguments.next().unwrap_or_default();
        let fallback = inner.get(first.len() + 1..).map(|value| Cow::Borrowed(value.trim()));
        let (first, kind) = match first.trim().split_once(|c: char| c.is_ascii_whitespace()) {
            Some((first, kind)) => (first, kind.trim()),
            None => (first.trim(), ""),
        };
        match name {
            "if(" => split_outside(inner, |c| c == ';')
                .filter_map(|branch| {
                    let condition = split_outside(branch, |c| c == ':').next()?;
                    branch.get(condition.len() + 1..).map(|value| Cow::Borrowed(value.trim()))
                })
                .collect(),
            "env(" if is_of_device(first) => vec![Cow::Borrowed("0px")],
            "env(" => fallback.into_iter().collect(),
            // Without a kind it is a string, and that is no value of anything here.
            "attr(" if kind.is_empty() => fallback.into_iter().collect(),
            "attr(" => {
                let known = self.attributes.get(first).into_iter().flatten();
                let unit = if kind.contains('(') || kind == "number" { "" } else { kind };
                known.map(|value| Cow::Owned(format!("{value}{unit}"))).chain(fallback).collect()
            }
            _ => {
                let known = self.values.get(first).into_iter().flatten();
                known.map(|value| Cow::Borrowed(value.as_str())).chain(fallback).collect()
            }
        }
    }
}

/// What a phone has at its edges, and an ordinary screen has not.
fn is_of_device(name: &str) -> bool {
    ["safe-area-", "keyboard-inset-", "titlebar-area-", "viewport-segment-"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Where the first call of something that stands for a value is.
fn first_call(value: &str) -> Option<(usize, &'static str)> {
    let is_start =
        |at: usize| !value[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
    ["var(", "env(", "attr(", "if("]
        .into_iter()
        .filter_map(|name| {
            let at = value.match_indices(name).map(|(at, _)| at).find(|at| is_start(*at))?;
            Some((at, name))
        })
        .min()
}

/// More than any sheet that people write.
const MOST_VARIABLES: usize = 5_000;
const MOST_VALUES: usize = 8;
