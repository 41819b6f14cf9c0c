//! Lark, in the dialect that llguidance reads.
//!
//! Terminals are matched longest first and never given back, and white space is never ignored on
//! the side; the table is written for both.

use std::collections::HashSet;

use super::print::{self, Bars, Dialect, Piece};
use super::rule::{Class, Except, RuleKind, Table};

pub(super) fn print(table: &Table) -> String {
    let tokens = table.rules.iter().filter(|rule| rule.kind == RuleKind::Token);
    let lark = Lark {
        start: table.rules.first().map(|rule| rule.name.as_str()),
        tokens: tokens.map(|rule| rule.name.as_str()).collect(),
    };
    let mut out = print::comment(INTRODUCTION, "// ", "");
    for rule in &table.rules {
        out.push('\n');
        if let Some(comment) = rule.comment {
            out.push_str(&print::comment(comment, "// ", ""));
        }
        let head = format!("{}:", lark.name(&rule.name));
        out.push_str(&print::render_rule(&lark, &rule.body, &head, "", Bars::Leading));
        out.push('\n');
    }
    out
}

struct Lark<'t> {
    start: Option<&'t str>,
    tokens: HashSet<&'t str>,
}

impl Lark<'_> {
    /// Case tells terminals from rules.
    fn name(&self, name: &str) -> String {
        if self.start == Some(name) {
            "start".to_owned()
        } else if self.tokens.contains(name) {
            name.to_ascii_uppercase()
        } else {
            name.to_owned()
        }
    }
}

impl Dialect for Lark<'_> {
    fn literal(&self, text: &str) -> Piece {
        Piece::atom(quote(text))
    }

    fn class(&self, class: &Class) -> Piece {
        let sign = if class.negated { "^" } else { "" };
        let ranges: String = class.ranges.iter().map(|&range| span(range)).collect();
        Piece::atom(format!("/[{sign}{ranges}]/"))
    }

    fn reference(&self, name: &str) -> Piece {
        Piece::atom(self.name(name))
    }

    fn except(&self, except: &Except) -> Piece {
        let words: Vec<String> = except.words.iter().map(|word| quote(word)).collect();
        Piece::choice(format!("{} & ~({})", self.name(except.base), words.join(" | ")))
    }

    fn optional(&self, inner: Piece) -> Piece {
        Piece::atom(format!("{}?", inner.grouped()))
    }

    fn many(&self, inner: Piece) -> Piece {
        Piece::atom(format!("{}*", inner.grouped()))
    }

    fn some(&self, inner: Piece) -> Piece {
        Piece::atom(format!("{}+", inner.grouped()))
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn span((low, high): (char, char)) -> String {
    let end = |c: char| match c {
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\n' => "\\n".to_owned(),
        c if c.is_control() => format!("\\x{:02X}", u32::from(c)),
        '\\' | '/' | '[' | ']' | '^' | '-' | '&' | '~' => format!("\\{c}"),
        c => c.to_string(),
    };
    if low == high { end(low) } else { format!("{}-{}", end(low), end(high)) }
}

const INTRODUCTION: &str = "AXON for llguidance. Comments are not part of it. White space is explicit: do not add %ignore.";
