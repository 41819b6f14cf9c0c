//! What the body of a rule is made of, and short functions that make it.

use crate::Class;

/// The body of a rule, or a part of it.
#[derive(Clone, Debug)]
pub enum Expr {
    Literal(String),
    Class(Class),
    /// A reference to the rule of that name.
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

/// The strings of a rule of the shape `first rest*`, without some words.
#[derive(Clone, Debug)]
pub struct Except {
    /// The name of that rule, for dialects that can subtract. In Lark only tokens can be subtracted
    /// from, and only within a token.
    pub base: String,
    /// Its shape, for dialects that spell the words out letter by letter.
    pub first: Class,
    pub rest: Class,
    pub words: Vec<String>,
}

impl Expr {
    pub(crate) fn for_each_reference(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Expr::Literal(_) | Expr::Class(_) => {}
            Expr::Rule(name) => visit(name),
            Expr::Except(except) => visit(&except.base),
            Expr::Sequence(parts) | Expr::Choice(parts) => {
                parts.iter().for_each(|part| part.for_each_reference(visit));
            }
            Expr::Optional(inner) | Expr::Many(inner) | Expr::Some(inner) => {
                inner.for_each_reference(visit);
            }
        }
    }
}

pub fn lit(text: &str) -> Expr {
    Expr::Literal(text.to_owned())
}

/// One character of at least one range, both ends included.
pub fn class(ranges: &[(char, char)]) -> Expr {
    Expr::Class(Class::of(ranges))
}

/// A reference to the rule `name`.
pub fn rule(name: impl Into<String>) -> Expr {
    Expr::Rule(name.into())
}

pub fn seq<const N: usize>(parts: [Expr; N]) -> Expr {
    Expr::Sequence(parts.into())
}

pub fn choice<const N: usize>(parts: [Expr; N]) -> Expr {
    one_of(parts.into())
}

/// Like [`choice`], for parts that are known at run time only.
pub fn one_of(mut parts: Vec<Expr>) -> Expr {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            Expr::Choice(parts)
        }
        (None, _) => Expr::Choice(parts),
    }
}

pub fn opt(inner: Expr) -> Expr {
    Expr::Optional(Box::new(inner))
}

/// Zero or more.
pub fn many(inner: Expr) -> Expr {
    Expr::Many(Box::new(inner))
}

/// One or more.
pub fn some(inner: Expr) -> Expr {
    Expr::Some(Box::new(inner))
}

/// One or more of `item`, with `separator` between them.
pub fn separated(item: Expr, separator: Expr) -> Expr {
    separated_after(item.clone(), item, separator)
}

/// `first`, then any number of `item`, with `separator` before each.
pub fn separated_after(first: Expr, item: Expr, separator: Expr) -> Expr {
    seq([first, many(seq([separator, item]))])
}
