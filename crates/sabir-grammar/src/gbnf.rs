//! GBNF, the dialect that llama.cpp reads.
//!
//! It has no lexer and cannot subtract, so a word that must not be one of a list is spelled out
//! letter by letter. A rule ends at its line, unless the line ends in a bar. Rule names have no
//! underscore.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::print::{self, Bars, Dialect, Layout, Piece};
use crate::{Class, Except, Expr, Table, many, one_of, opt, seq};

pub(crate) fn print(table: &Table) -> String {
    print::table(&Gbnf { start: table.start() }, table.introduction.gbnf, table)
}

struct Gbnf<'t> {
    start: Option<&'t str>,
}

impl Dialect for Gbnf<'_> {
    const LAYOUT: Layout =
        Layout { comment: ("# ", ""), defines: " ::=", ends: "", bars: Bars::Trailing };

    fn name(&self, rule: &str) -> String {
        if self.start == Some(rule) { "root".to_owned() } else { rule.replace('_', "-") }
    }

    fn literal(&self, text: &str) -> String {
        print::quote(text)
    }

    fn class(&self, class: &Class) -> Piece {
        Piece::atom(print::brackets(class, |c| match c {
            // A sign of the class itself, for which llama.cpp has no other escape.
            '^' | '-' => print::hex(c),
            c => print::escape(c, "\\[]\""),
        }))
    }

    fn except(&self, except: &Except) -> Piece {
        print::render(self, &spell_out(except))
    }

    /// Spelled out, an exception is long, and only a choice is spread over lines.
    fn body<'e>(&self, body: &'e Expr) -> Cow<'e, Expr> {
        match body {
            Expr::Except(except) => Cow::Owned(spell_out(except)),
            body => Cow::Borrowed(body),
        }
    }
}

fn spell_out(except: &Except) -> Expr {
    let words: Vec<&str> = except.words.iter().map(String::as_str).collect();
    one_of(other_words(&words, &except.first, &except.rest))
}

/// The non-empty strings of `next rest*` that are none of `words`: those that leave the words at
/// this letter, then for every letter that goes on with some word those that leave it later. Words
/// end, so there are always some.
fn other_words(words: &[&str], next: &Class, rest: &Class) -> Vec<Expr> {
    let mut tails: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    for word in words {
        let mut letters = word.chars();
        // A word with a letter outside of the class is none of the strings to begin with.
        if let Some(letter) = letters.next().filter(|&letter| next.contains(letter)) {
            tails.entry(letter).or_default().push(letters.as_str());
        }
    }
    let letters: Vec<char> = tails.keys().copied().collect();
    let leaving = next.without(&letters).map(Expr::Class);
    let leaving = leaving.map(|class| seq([class, many(Expr::Class(rest.clone()))]));
    let mut parts: Vec<Expr> = leaving.into_iter().collect();
    for (letter, tails) in tails {
        let onward = one_of(other_words(&tails, rest, rest));
        // Stopping here is fine, unless a word stops here too.
        let onward = if tails.contains(&"") { onward } else { opt(onward) };
        parts.push(seq([Expr::Literal(letter.to_string()), onward]));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: &str) {
        let ab = Class::of(&[('a', 'b')]);
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let except = Except { base: "word".to_owned(), first: ab.clone(), rest: ab, words };
        assert_eq!(print::render(&Gbnf { start: None }, &spell_out(&except)).text, expected);
    }

    #[test]
    fn words_are_spelled_out() {
        check(&["a"], r#"[b] [a-b]* | "a" [a-b] [a-b]*"#);
        check(&["a", "ab"], r#"[b] [a-b]* | "a" ([a] [a-b]* | "b" [a-b] [a-b]*)"#);
        check(&["ba"], r#"[a] [a-b]* | "b" ([b] [a-b]* | "a" [a-b] [a-b]*)?"#);
    }

    #[test]
    fn all_first_letters_may_go_on_with_a_word() {
        check(&["a", "b"], r#""a" [a-b] [a-b]* | "b" [a-b] [a-b]*"#);
    }

    #[test]
    fn words_outside_of_the_class_are_not_let_in() {
        check(&["", "x", "ax"], r#"[b] [a-b]* | "a" ([a-b] [a-b]*)?"#);
    }
}
