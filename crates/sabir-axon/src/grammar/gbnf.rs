//! GBNF, the dialect that llama.cpp reads.
//!
//! It has no lexer and cannot subtract, so a word that must not be one of a list is spelled out
//! letter by letter. A rule ends at its line, unless the line ends in a bar. Rule names have no
//! underscore.

use std::collections::BTreeMap;

use super::print::{self, Bars, Dialect, Piece};
use super::rule::{Class, Except, Expr, Table, many, one_of, opt};

pub(super) fn print(table: &Table) -> String {
    let gbnf = Gbnf { start: table.rules.first().map(|rule| rule.name.as_str()) };
    let mut out = print::comment(INTRODUCTION, "# ", "");
    for rule in &table.rules {
        out.push('\n');
        if let Some(comment) = rule.comment {
            out.push_str(&print::comment(comment, "# ", ""));
        }
        let head = format!("{} ::=", gbnf.name(&rule.name));
        let body = match &rule.body {
            // Spelled out it is long, and only a choice is spread over lines.
            Expr::Except(except) => &spell_out(except),
            body => body,
        };
        out.push_str(&print::render_rule(&gbnf, body, &head, "", Bars::Trailing));
        out.push('\n');
    }
    out
}

struct Gbnf<'t> {
    start: Option<&'t str>,
}

impl Gbnf<'_> {
    fn name(&self, name: &str) -> String {
        if self.start == Some(name) { "root".to_owned() } else { name.replace('_', "-") }
    }
}

impl Dialect for Gbnf<'_> {
    fn literal(&self, text: &str) -> Piece {
        Piece::atom(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
    }

    fn class(&self, class: &Class) -> Piece {
        let sign = if class.negated { "^" } else { "" };
        let ranges: String = class.ranges.iter().map(|&range| span(range)).collect();
        Piece::atom(format!("[{sign}{ranges}]"))
    }

    fn reference(&self, name: &str) -> Piece {
        Piece::atom(self.name(name))
    }

    fn except(&self, except: &Except) -> Piece {
        print::render(self, &spell_out(except))
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

fn spell_out(except: &Except) -> Expr {
    one_of(other_words(&except.words, &except.first, &except.rest))
}

/// The non-empty strings of `next rest*` that are none of `words`: those that leave the words at
/// this letter, then for every letter that goes on with some word those that leave it later.
fn other_words(words: &[&str], next: &Class, rest: &Class) -> Vec<Expr> {
    let mut tails: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    for word in words {
        let mut letters = word.chars();
        if let Some(letter) = letters.next() {
            tails.entry(letter).or_default().push(letters.as_str());
        }
    }
    let letters: Vec<char> = tails.keys().copied().collect();
    let leaving = Expr::Class(next.without(&letters));
    let mut parts = vec![Expr::Sequence(vec![leaving, many(Expr::Class(rest.clone()))])];
    for (letter, tails) in tails {
        let onward = one_of(other_words(&tails, rest, rest));
        // Stopping here is fine, unless a word stops here too.
        let onward = if tails.contains(&"") { onward } else { opt(onward) };
        parts.push(Expr::Sequence(vec![Expr::Literal(letter.to_string()), onward]));
    }
    parts
}

fn span((low, high): (char, char)) -> String {
    let end = |c: char| match c {
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\n' => "\\n".to_owned(),
        c if c.is_control() => format!("\\x{:02X}", u32::from(c)),
        '\\' | '[' | ']' | '"' => format!("\\{c}"),
        c => c.to_string(),
    };
    if low == high { end(low) } else { format!("{}-{}", end(low), end(high)) }
}

const INTRODUCTION: &str = "AXON for llama.cpp. Comments are not part of it.";
