//! EBNF in the style of specifications, with ISO's `-` for "except" and `? ?` for what has no other
//! name.

use crate::print::{self, Bars, Dialect, Layout, Piece};
use crate::{Class, Except, Table};

pub(crate) fn print(table: &Table) -> String {
    print::table(&Ebnf, table.introduction.ebnf, table)
}

struct Ebnf;

impl Dialect for Ebnf {
    const LAYOUT: Layout =
        Layout { comment: ("(* ", " *)"), defines: " =", ends: " ;", bars: Bars::Leading };

    fn name(&self, rule: &str) -> String {
        rule.to_owned()
    }

    fn literal(&self, text: &str) -> String {
        quote(text)
    }

    fn class(&self, class: &Class) -> Piece {
        let ranges: Vec<String> = class.ranges.iter().map(|&range| span(range)).collect();
        let text = ranges.join(" | ");
        match (class.negated, ranges.len()) {
            (true, _) => Piece::sequence(format!("? any character ? - ( {text} )")),
            (false, 1) => Piece::atom(text),
            (false, _) => Piece::choice(text),
        }
    }

    fn except(&self, except: &Except) -> Piece {
        let words: Vec<String> = except.words.iter().map(|word| quote(word)).collect();
        Piece::sequence(format!("{} - ( {} )", except.base, words.join(" | ")))
    }

    fn optional(&self, inner: Piece) -> Piece {
        Piece::atom(format!("[ {} ]", inner.text))
    }

    fn many(&self, inner: Piece) -> Piece {
        Piece::atom(format!("{{ {} }}", inner.text))
    }

    fn some(&self, inner: Piece) -> Piece {
        let repeated = format!("{{ {} }}", inner.text);
        Piece::sequence(format!("{} {repeated}", inner.grouped()))
    }
}

/// In the quotes that need no escape, if there are such.
fn quote(text: &str) -> String {
    if !text.contains('"') || text.contains('\'') {
        return print::quote(text);
    }
    let inner: String = text.chars().map(|c| print::escape(c, "\\")).collect();
    format!("'{inner}'")
}

fn span((low, high): (char, char)) -> String {
    let end = |c: char| match c {
        '\t' | '\r' | '\n' => quote(&c.to_string()),
        c if c.is_control() => format!("? U+{:04X} ?", u32::from(c)),
        c => quote(&c.to_string()),
    };
    if low == high { end(low) } else { format!("{}..{}", end(low), end(high)) }
}
