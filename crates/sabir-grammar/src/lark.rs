//! Lark, in the dialect that llguidance reads.
//!
//! Terminals are matched longest first and never given back, and white space is never ignored on
//! the side; tables are written for both.

use std::collections::HashSet;

use crate::print::{self, Bars, Dialect, Layout, Piece};
use crate::table::RuleKind;
use crate::{Class, Except, Table};

pub(crate) fn print(table: &Table) -> String {
    let tokens = table.rules.iter().filter(|rule| rule.kind == RuleKind::Token);
    let tokens = tokens.map(|rule| rule.name.as_str()).collect();
    print::table(&Lark { start: table.start(), tokens }, table.introduction.lark, table)
}

struct Lark<'t> {
    start: Option<&'t str>,
    tokens: HashSet<&'t str>,
}

impl Dialect for Lark<'_> {
    const LAYOUT: Layout =
        Layout { comment: ("// ", ""), defines: ":", ends: "", bars: Bars::Leading };

    /// Case tells terminals from rules.
    fn name(&self, rule: &str) -> String {
        if self.start == Some(rule) {
            "start".to_owned()
        } else if self.tokens.contains(rule) {
            rule.to_ascii_uppercase()
        } else {
            rule.to_owned()
        }
    }

    fn literal(&self, text: &str) -> String {
        print::quote(text)
    }

    fn class(&self, class: &Class) -> Piece {
        let set = print::brackets(class, |c| print::escape(c, r"\/[]^-&~"));
        Piece::atom(format!("/{set}/"))
    }

    fn except(&self, except: &Except) -> Piece {
        let words: Vec<String> = except.words.iter().map(|word| print::quote(word)).collect();
        Piece::choice(format!("{} & ~({})", self.name(&except.base), words.join(" | ")))
    }
}
