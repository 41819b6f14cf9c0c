//! The rules of a language, before any dialect.

use std::collections::HashMap;

use crate::{Expr, ebnf, gbnf, lark};

/// The dialect in which a grammar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// In the style of specifications: `=`, `;`, `{ }` and `[ ]`. For people.
    Ebnf,
    /// The dialect of Lark that llguidance reads.
    Lark,
    /// The dialect that llama.cpp reads.
    Gbnf,
}

/// The comment that opens a grammar, for each dialect: what language this is, what is left out of
/// it, and what the reader must know.
#[derive(Clone, Copy, Debug)]
pub struct Introduction {
    pub ebnf: &'static str,
    pub lark: &'static str,
    pub gbnf: &'static str,
}

/// All rules, the start rule first.
///
/// Names are in snake case, and each is given once; printers bend them to their dialect. There the
/// start rule is called `start` or `root`, so no other rule may be.
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) introduction: Introduction,
    pub(crate) rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) kind: RuleKind,
    /// Why the rule is there, for whoever reads the export.
    pub(crate) comment: Option<String>,
    pub(crate) body: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleKind {
    Token,
    Phrase,
}

impl Table {
    pub fn new(introduction: Introduction) -> Self {
        Self { introduction, rules: Vec::new() }
    }

    /// Adds a rule that may become one terminal of a lexer which always takes the longest match and
    /// never backs out. It refers to other tokens only.
    pub fn token(&mut self, name: impl Into<String>, body: Expr) {
        self.push(name.into(), RuleKind::Token, body);
    }

    /// Adds a rule that is put together from others.
    pub fn phrase(&mut self, name: impl Into<String>, body: Expr) {
        self.push(name.into(), RuleKind::Phrase, body);
    }

    /// Puts `comment` before the rule that was added last.
    pub fn because(&mut self, comment: impl Into<String>) {
        if let Some(rule) = self.rules.last_mut() {
            rule.comment = Some(comment.into());
        }
    }

    fn push(&mut self, name: String, kind: RuleKind, body: Expr) {
        self.rules.push(Rule { name, kind, comment: None, body });
    }

    /// Drops the rules that the start rule does not reach: options leave some without a user.
    #[must_use]
    pub fn without_unreachable(self) -> Self {
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
        Self { introduction: self.introduction, rules: rules.collect() }
    }

    /// The grammar in a dialect, with a line break at its end.
    pub fn print(&self, format: Format) -> String {
        match format {
            Format::Ebnf => ebnf::print(self),
            Format::Lark => lark::print(self),
            Format::Gbnf => gbnf::print(self),
        }
    }

    /// The name of the start rule, which dialects replace by their own.
    pub(crate) fn start(&self) -> Option<&str> {
        self.rules.first().map(|rule| rule.name.as_str())
    }
}
