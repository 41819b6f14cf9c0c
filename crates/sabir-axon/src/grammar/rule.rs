//! The small notation in which the table is written, before any dialect.

use std::collections::HashMap;

/// All rules, the start rule first.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug)]
pub(super) struct Rule {
    /// In snake case; printers bend it to their dialect.
    pub(super) name: String,
    pub(super) kind: RuleKind,
    /// Why the rule is there, for whoever reads the export.
    pub(super) comment: Option<&'static str>,
    pub(super) body: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// May become one terminal of a lexer that always takes the longest match and never backs out.
    Token,
    Phrase,
}

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Literal(String),
    Class(Class),
    Rule(String),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Optional(Box<Expr>),
    /// Zero or more.
    Many(Box<Expr>),
    /// One or more.
    Some(Box<Expr>),
    Except(Except),
}

/// A set of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// Both ends belong to the set.
    pub(super) ranges: Vec<(char, char)>,
    /// The set is everything but the ranges.
    pub(super) negated: bool,
}

/// The strings of a rule of the shape `first rest*`, without some words.
#[derive(Clone, Debug)]
pub(super) struct Except {
    /// The name of that rule, for dialects that can subtract.
    pub(super) base: &'static str,
    pub(super) first: Class,
    pub(super) rest: Class,
    pub(super) words: Vec<&'static str>,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { rules: Vec::new() }
    }

    pub(super) fn token(&mut self, name: &str, body: Expr) {
        self.push(name, RuleKind::Token, None, body);
    }

    pub(super) fn phrase(&mut self, name: impl Into<String>, body: Expr) {
        self.push(name, RuleKind::Phrase, None, body);
    }

    /// Puts `comment` before the rule that was added last.
    pub(super) fn because(&mut self, comment: &'static str) {
        if let Some(rule) = self.rules.last_mut() {
            rule.comment = Some(comment);
        }
    }

    fn push(
        &mut self,
        name: impl Into<String>,
        kind: RuleKind,
        comment: Option<&'static str>,
        body: Expr,
    ) {
        self.rules.push(Rule { name: name.into(), kind, comment, body });
    }

    /// Drops the rules that the start rule does not reach: options leave some without a user.
    pub(super) fn without_unreachable(self) -> Self {
        let places: HashMap<&str, usize> =
            self.rules.iter().enumerate().map(|(at, rule)| (rule.name.as_str(), at)).collect();
        let mut reached = vec![false; self.rules.len()];
        let mut open = vec![0];
        while let Some(index) = open.pop() {
            let Some(rule) = self.rules.get(index) else { continue };
            if std::mem::replace(&mut reached[index], true) {
                continue;
            }
            rule.body.for_each_reference(&mut |name| {
                open.extend(places.get(name).copied());
            });
        }
        let rules = self.rules.into_iter().zip(reached).filter_map(|(r, keep)| keep.then_some(r));
        Self { rules: rules.collect() }
    }
}

impl Expr {
    fn for_each_reference(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Expr::Literal(_) | Expr::Class(_) => {}
            Expr::Rule(name) => visit(name),
            Expr::Except(except) => visit(except.base),
            Expr::Sequence(parts) | Expr::Choice(parts) => {
                parts.iter().for_each(|part| part.for_each_reference(visit));
            }
            Expr::Optional(inner) | Expr::Many(inner) | Expr::Some(inner) => {
                inner.for_each_reference(visit);
            }
        }
    }
}

impl Class {
    pub(super) fn of(ranges: &[(char, char)]) -> Self {
        Self { ranges: ranges.to_vec(), negated: false }
    }

    pub(super) fn all_but(ranges: &[(char, char)]) -> Self {
        Self { ranges: ranges.to_vec(), negated: true }
    }

    /// This set, which is not a negated one, without `characters`.
    pub(super) fn without(&self, characters: &[char]) -> Self {
        let mut ranges = self.ranges.clone();
        for &gone in characters {
            ranges = ranges
                .into_iter()
                .flat_map(|(low, high)| {
                    if gone < low || high < gone {
                        return vec![(low, high)];
                    }
                    let below = (low < gone).then(|| (low, previous(gone)));
                    let above = (gone < high).then(|| (next(gone), high));
                    below.into_iter().chain(above).collect()
                })
                .collect();
        }
        Self { ranges, negated: false }
    }
}

/// Only ASCII letters and digits are ever taken out of a class, so neither end wraps.
fn previous(c: char) -> char {
    char::from_u32(u32::from(c).saturating_sub(1)).unwrap_or(c)
}

fn next(c: char) -> char {
    char::from_u32(u32::from(c).saturating_add(1)).unwrap_or(c)
}

pub(super) fn lit(text: &str) -> Expr {
    Expr::Literal(text.to_owned())
}

pub(super) fn class(ranges: &[(char, char)]) -> Expr {
    Expr::Class(Class::of(ranges))
}

pub(super) fn rule(name: impl Into<String>) -> Expr {
    Expr::Rule(name.into())
}

pub(super) fn seq<const N: usize>(parts: [Expr; N]) -> Expr {
    Expr::Sequence(parts.into())
}

pub(super) fn choice<const N: usize>(parts: [Expr; N]) -> Expr {
    one_of(parts.into())
}

/// Like [`choice`], for parts that are known at run time only.
pub(super) fn one_of(mut parts: Vec<Expr>) -> Expr {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            Expr::Choice(parts)
        }
        (None, _) => Expr::Choice(parts),
    }
}

pub(super) fn opt(inner: Expr) -> Expr {
    Expr::Optional(Box::new(inner))
}

pub(super) fn many(inner: Expr) -> Expr {
    Expr::Many(Box::new(inner))
}

pub(super) fn some(inner: Expr) -> Expr {
    Expr::Some(Box::new(inner))
}

/// `item`, then more of them behind commas.
pub(super) fn comma_separated(item: Expr) -> Expr {
    followed_by_more(item.clone(), item)
}

/// `first`, then `item`s behind commas.
pub(super) fn followed_by_more(first: Expr, item: Expr) -> Expr {
    seq([first, many(seq([ws(), lit(","), ws(), item]))])
}

/// Optional white space.
pub(super) fn ws() -> Expr {
    rule("ws")
}
