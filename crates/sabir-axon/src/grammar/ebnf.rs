//! EBNF in the style of the AXON specification, with ISO's `-` for "except" and `? ?` for what has
//! no other name.

use super::print::{self, Bars, Dialect, Piece};
use super::rule::{Class, Except, Table};

pub(super) fn print(table: &Table) -> String {
    let mut out = print::comment(INTRODUCTION, "(* ", " *)");
    for rule in &table.rules {
        out.push('\n');
        if let Some(comment) = rule.comment {
            out.push_str(&print::comment(comment, "(* ", " *)"));
        }
        let head = format!("{} =", rule.name);
        out.push_str(&print::render_rule(&Ebnf, &rule.body, &head, " ;", Bars::Leading));
        out.push('\n');
    }
    out
}

struct Ebnf;

impl Dialect for Ebnf {
    fn literal(&self, text: &str) -> Piece {
        Piece::atom(quote(text))
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

    fn reference(&self, name: &str) -> Piece {
        Piece::atom(name)
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

fn quote(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    if out.contains('"') { format!("'{out}'") } else { format!("\"{out}\"") }
}

fn span((low, high): (char, char)) -> String {
    let end = |c: char| match c {
        '\t' | '\r' | '\n' => quote(&c.to_string()),
        c if c.is_control() => format!("? U+{:04X} ?", u32::from(c)),
        c => quote(&c.to_string()),
    };
    if low == high { end(low) } else { format!("{}..{}", end(low), end(high)) }
}

const INTRODUCTION: &str = "AXON, without comments. White space is written out (ws, space): \
    where neither stands, none is allowed.";
