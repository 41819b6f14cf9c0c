//! The words of the language: white space, names, numbers, strings.
//!
//! A lexer that takes the longest match and never backs out must be able to read the tokens here.
//! So a token ends where a dot or a dash may start something else (`1..2`, `a->b`), and names and
//! numbers are put together by phrases.

use sabir_grammar::{
    Class, Except, Expr, Table, choice, class, lit, many, one_of, opt, rule, seq, some,
};

use crate::performative::Performative;
use crate::unit::Unit;

pub(super) fn add(table: &mut Table) {
    add_names(table);
    add_numbers(table);
    add_strings(table);
    table.phrase("ws", opt(rule("space")));
    table.token("space", some(class(&[(' ', ' '), ('\t', '\t'), ('\r', '\r'), ('\n', '\n')])));
}

fn add_names(table: &mut Table) {
    table.phrase("name", seq([rule("segment"), many(seq([lit("."), rule("segment")]))]));
    table.because(
        "What follows a sigil. There, after a dot and as a key, a lone _ is an identifier.",
    );
    table.phrase("segment", choice([rule("identifier"), lit("_")]));
    table.phrase("identifier", seq([rule("word"), many(seq([lit("-"), opt(rule("word_tail"))]))]));

    // `-` belongs to a name unless `>` follows. No dialect can look ahead, so names that end in a
    // dash are kept apart, and what follows them may not start with `>`.
    table.phrase(
        "path_solid",
        choice([rule("identifier_solid"), seq([rule("qualifier"), rule("segment_solid")])]),
    );
    table.because(
        "The dash of -> never belongs to a name. So names that end in a dash (dashed) are kept \
         apart from those that do not (solid): only a space may part the former from a >.",
    );
    table.phrase("path_dashed", seq([opt(rule("qualifier")), rule("identifier_dashed")]));
    table.phrase(
        "qualifier",
        seq([rule("identifier"), lit("."), many(seq([rule("segment"), lit(".")]))]),
    );
    table
        .phrase("name_solid", seq([many(seq([rule("segment"), lit(".")])), rule("segment_solid")]));
    table.phrase(
        "name_dashed",
        seq([many(seq([rule("segment"), lit(".")])), rule("identifier_dashed")]),
    );
    table.phrase("segment_solid", choice([rule("identifier_solid"), lit("_")]));
    table.phrase(
        "identifier_solid",
        seq([rule("word"), many(seq([some(lit("-")), rule("word_tail")]))]),
    );
    table.phrase("identifier_dashed", seq([rule("identifier_solid"), some(lit("-"))]));

    table.phrase(
        "callee",
        choice([
            rule("word_plain"),
            seq([rule("word"), some(seq([lit("-"), opt(rule("word_tail"))]))]),
            seq([rule("identifier"), some(seq([lit("."), rule("segment")]))]),
        ]),
    );
    table.because("The name of a call, unless it is the word of a performative.");
    table.token(
        "word_plain",
        Expr::Except(Except {
            base: "word".to_owned(),
            first: letter(),
            rest: word_part(),
            words: Performative::ALL.iter().map(|it| it.word().to_owned()).collect(),
        }),
    );
    table.token("word", seq([Expr::Class(letter()), many(Expr::Class(word_part()))]));
    table.token("word_tail", some(Expr::Class(word_part())));
}

fn add_numbers(table: &mut Table) {
    table.phrase("negative", seq([lit("-"), rule("number")]));
    table.phrase(
        "number",
        seq([rule("digits"), opt(seq([lit("."), rule("digits")])), opt(rule("unit"))]),
    );
    table.token("unit", one_of(Unit::ALL.iter().map(|unit| lit(unit.text())).collect()));
    table.token("digits", some(class(&[('0', '9')])));
}

fn add_strings(table: &mut Table) {
    let part = || choice([rule("char"), rule("escape")]);
    table.token("string", seq([lit("\""), many(part()), lit("\"")]));
    table.token("text", seq([lit("\""), some(part()), lit("\"")]));
    table.because("A string that is not empty.");
    let quoted = [('"', '"'), ('\\', '\\'), ('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')];
    table.token("char", Expr::Class(Class::all_but(&quoted)));
    table.token(
        "escape",
        seq([
            lit("\\"),
            choice([
                class(&[('"', '"'), ('\\', '\\'), ('n', 'n'), ('t', 't')]),
                seq([lit("u{"), rule("scalar"), lit("}")]),
            ]),
        ]),
    );
    let digit = || rule("hex_digit");
    let nonzero = || class(&[('1', '9'), ('A', 'F'), ('a', 'f')]);
    let four = || seq([digit(), digit(), digit(), digit()]);
    table.token(
        "scalar",
        choice([
            seq([digit(), opt(seq([digit(), opt(digit())]))]),
            seq([opt(seq([lit("0"), opt(lit("0"))])), rule("scalar_low")]),
            seq([opt(lit("0")), nonzero(), four()]),
            seq([lit("10"), four()]),
        ]),
    );
    table
        .because("One to six hex digits that name a character: no surrogate, nothing past 10FFFF.");
    table.token(
        "scalar_low",
        choice([
            seq([class(&[('0', '9'), ('A', 'C'), ('E', 'F'), ('a', 'c'), ('e', 'f')]), three()]),
            seq([class(&[('D', 'D'), ('d', 'd')]), class(&[('0', '7')]), digit(), digit()]),
        ]),
    );
    table.token("hex_digit", class(&[('0', '9'), ('A', 'F'), ('a', 'f')]));
}

fn three() -> Expr {
    seq([rule("hex_digit"), rule("hex_digit"), rule("hex_digit")])
}

fn letter() -> Class {
    Class::of(&[('A', 'Z'), ('a', 'z')])
}

fn word_part() -> Class {
    Class::of(&[('A', 'Z'), ('a', 'z'), ('0', '9'), ('_', '_')])
}
