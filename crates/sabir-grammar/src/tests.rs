//! One small table in three dialects, and what is awkward to write in each.

use expect_test::{Expect, expect};

use crate::{
    Class, Depth, Except, Expr, Format, Introduction, Table, choice, class, lit, many, one_of, opt,
    rule, separated, seq, some,
};

/// Nested lists of words; `nil` is no word.
fn lists(depth: Depth) -> Table {
    let mut table = Table::new(INTRODUCTION);
    table.phrase("text", rule(depth.name("list")));
    for depth in depth.levels() {
        let mut items = vec![rule("plain_word"), lit("\"\""), seq([lit("-"), rule("digits")])];
        items.extend(depth.deeper().map(|inner| rule(inner.name("list"))));
        table.phrase(
            depth.name("list"),
            seq([lit("["), opt(separated(one_of(items), some(rule("gap")))), lit("]")]),
        );
        table.because("Words, numbers and lists.");
    }
    table.token(
        "plain_word",
        Expr::Except(Except {
            base: "word".to_owned(),
            first: Class::of(&[('a', 'z')]),
            rest: Class::of(&[('a', 'z')]),
            words: vec!["nil".to_owned()],
        }),
    );
    table.token("word", some(class(&[('a', 'z')])));
    table.token("digits", some(class(&[('0', '9')])));
    table.token("gap", choice([lit(" "), lit("\n")]));
    table.phrase("unused", many(rule("unused_too")));
    table.phrase("unused_too", lit("x"));
    table.without_unreachable()
}

#[test]
fn ebnf() {
    expect![[r#"
        (* Lists for people, and an introduction that is long enough to be broken into more lines than *)
        (* one. *)

        text = list ;

        (* Words, numbers and lists. *)
        list = "[" [ (plain_word | '""' | "-" digits | list) { gap { gap } (plain_word | '""' | "-" digits | list) } ] "]" ;

        plain_word = word - ( "nil" ) ;

        word = "a".."z" { "a".."z" } ;

        digits = "0".."9" { "0".."9" } ;

        gap = " " | "\n" ;
    "#]].assert_eq(&lists(Depth::Unbounded).print(Format::Ebnf));
}

#[test]
fn lark() {
    expect![[r#"
        // Lists for llguidance.

        start: list

        // Words, numbers and lists.
        list: "[" ((PLAIN_WORD | "\"\"" | "-" DIGITS | list) (GAP+ (PLAIN_WORD | "\"\"" | "-" DIGITS | list))*)? "]"

        PLAIN_WORD: WORD & ~("nil")

        WORD: /[a-z]/+

        DIGITS: /[0-9]/+

        GAP: " " | "\n"
    "#]].assert_eq(&lists(Depth::Unbounded).print(Format::Lark));
}

#[test]
fn gbnf() {
    expect![[r##"
        # Lists for llama.cpp.

        root ::= list

        # Words, numbers and lists.
        list ::= "[" ((plain-word | "\"\"" | "-" digits | list) (gap+ (plain-word | "\"\"" | "-" digits | list))*)? "]"

        plain-word ::= [a-mo-z] [a-z]* | "n" ([a-hj-z] [a-z]* | "i" ([a-km-z] [a-z]* | "l" [a-z] [a-z]*)?)?

        word ::= [a-z]+

        digits ::= [0-9]+

        gap ::= " " | "\n"
    "##]].assert_eq(&lists(Depth::Unbounded).print(Format::Gbnf));
}

#[test]
fn bounded_depth_is_one_copy_per_level() {
    expect![[r##"
        # Lists for llama.cpp.

        root ::= list-1

        # Words, numbers and lists.
        list-1 ::= "[" ((plain-word | "\"\"" | "-" digits | list-0) (gap+ (plain-word | "\"\"" | "-" digits | list-0))*)? "]"

        # Words, numbers and lists.
        list-0 ::= "[" ((plain-word | "\"\"" | "-" digits) (gap+ (plain-word | "\"\"" | "-" digits))*)? "]"

        plain-word ::= [a-mo-z] [a-z]* | "n" ([a-hj-z] [a-z]* | "i" ([a-km-z] [a-z]* | "l" [a-z] [a-z]*)?)?

        word ::= [a-z]+

        digits ::= [0-9]+

        gap ::= " " | "\n"
    "##]].assert_eq(&lists(Depth::Left(1)).print(Format::Gbnf));
}

/// The body of one rule in all dialects.
fn check(body: Expr, expected: &Expect) {
    let mut table = Table::new(INTRODUCTION);
    table.phrase("document", body);
    let texts = [Format::Ebnf, Format::Lark, Format::Gbnf].map(|format| table.print(format));
    let rules = texts.iter().filter_map(|text| text.split_once("\n\n"));
    expected.assert_eq(&rules.map(|(_, rule)| rule).collect::<String>());
}

#[test]
fn signs_of_a_dialect_are_escaped() {
    let signs = [('^', '^'), ('-', '-'), ('/', '/'), ('[', ']'), ('"', '"'), ('\u{7f}', '\u{9f}')];
    check(
        class(&signs),
        &expect![[r#"
        document = "^" | "-" | "/" | "[".."]" | '"' | ? U+007F ?..? U+009F ? ;
        start: /[\^\-\/\[-\]"\x7F-\x9F]/
        root ::= [\x5E\x2D/\[-\]\"\x7F-\x9F]
    "#]],
    );
    check(
        Expr::Class(Class::all_but(&[('\n', '\n'), ('\\', '\\')])),
        &expect![[r#"
        document = ? any character ? - ( "\n" | "\\" ) ;
        start: /[^\n\\]/
        root ::= [^\n\\]
    "#]],
    );
    check(
        lit("\\\"\n\0"),
        &expect![[r#"
        document = '\\"\n\x00' ;
        start: "\\\"\n\x00"
        root ::= "\\\"\n\x00"
    "#]],
    );
    check(
        lit("'\""),
        &expect![[r#"
        document = "'\"" ;
        start: "'\""
        root ::= "'\""
    "#]],
    );
}

#[test]
fn groups_stand_where_they_are_needed() {
    let (a, b, c) = (|| lit("a"), || lit("b"), || lit("c"));
    check(
        seq([choice([a(), b()]), seq([b(), c()]), many(c())]),
        &expect![[r#"
        document = ("a" | "b") "b" "c" { "c" } ;
        start: ("a" | "b") "b" "c" "c"*
        root ::= ("a" | "b") "b" "c" "c"*
    "#]],
    );
    check(
        choice([seq([a(), b()]), many(seq([b(), c()])), some(choice([a(), c()]))]),
        &expect![[r#"
            document = "a" "b" | { "b" "c" } | ("a" | "c") { "a" | "c" } ;
            start: "a" "b" | ("b" "c")* | ("a" | "c")+
            root ::= "a" "b" | ("b" "c")* | ("a" | "c")+
        "#]],
    );
    check(
        opt(some(a())),
        &expect![[r#"
        document = [ "a" { "a" } ] ;
        start: ("a"+)?
        root ::= ("a"+)?
    "#]],
    );
}

#[test]
fn a_long_choice_takes_several_lines() {
    let words = (0..12).map(|index| lit(&format!("alternative-{index}")));
    check(
        one_of(words.collect()),
        &expect![[r#"
        document = "alternative-0" | "alternative-1" | "alternative-2" | "alternative-3" | "alternative-4"
            | "alternative-5" | "alternative-6" | "alternative-7" | "alternative-8" | "alternative-9"
            | "alternative-10" | "alternative-11" ;
        start: "alternative-0" | "alternative-1" | "alternative-2" | "alternative-3" | "alternative-4"
            | "alternative-5" | "alternative-6" | "alternative-7" | "alternative-8" | "alternative-9"
            | "alternative-10" | "alternative-11"
        root ::= "alternative-0" | "alternative-1" | "alternative-2" | "alternative-3" | "alternative-4" |
            "alternative-5" | "alternative-6" | "alternative-7" | "alternative-8" | "alternative-9" |
            "alternative-10" | "alternative-11"
    "#]],
    );
}

const INTRODUCTION: Introduction = Introduction {
    ebnf: "Lists for people, and an introduction that is long enough to be broken into \
           more lines than one.",
    lark: "Lists for llguidance.",
    gbnf: "Lists for llama.cpp.",
};
