//! Text to tree: the folders of cases, precedence on trees, and laws that hold for every text.

use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;
use sabir_axon::{Kind, MAX_DEPTH, Node, parse};
use sabir_base::{Diagnostic, apply_edits};
use sabir_testkit::{cases, shared_corpus};

use crate::dump;

/// AX-R3, AX-R14, AX-R16, AX-R22.
#[test]
fn what_is_valid_is_silent_and_has_this_tree() {
    for case in cases(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ok")) {
        let parsed = parse(&case.text);
        let findings = dump::findings(&case.text, &parsed.diagnostics);
        assert_eq!(findings, "", "{} speaks", case.name);
        expect_file![case.out_path()].assert_eq(&dump::tree(&parsed.tree));
    }
}

/// AX-R14, AX-R16, AX-R18, AX-R21.
#[test]
fn what_is_invalid_speaks() {
    for case in cases(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/err")) {
        let parsed = parse(&case.text);
        assert!(parsed.has_errors(), "{} is silent", case.name);
        let repaired = sabir_axon::repair(&case.text);
        let findings = dump::findings(&case.text, &parsed.diagnostics);
        expect_file![case.out_path()]
            .assert_eq(&format!("{findings}--- repaired\n{}", repaired.text));
    }
}

fn errors(diagnostics: &[Diagnostic]) -> usize {
    diagnostics.iter().filter(|found| found.is_error()).count()
}

/// What the fixes of one error leave is that error less, and nothing new: a case with one error
/// becomes valid.
#[test]
fn every_fix_mends_its_error() {
    let (mut tried, mut wrong) = (0, String::new());
    for case in cases(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/err")) {
        let before = parse(&case.text).diagnostics;
        let fixable = |found: &&Diagnostic| found.is_error() && !found.fixes.is_empty();
        for found in before.iter().filter(fixable) {
            tried += 1;
            let mended = apply_edits(&case.text, &found.fixes);
            let after = parse(&mended).diagnostics;
            if errors(&after) >= errors(&before) {
                let findings = dump::findings(&mended, &after);
                wrong += &format!("{}: {} gives\n{mended}\n{findings}", case.name, found.code);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(tried > 150, "only {tried} fixes were tried");
}

fn check(content: &str, expected: Expect) {
    let text = format!("INF(@a>@b): {content}");
    let parsed = parse(&text);
    assert_eq!(dump::findings(&text, &parsed.diagnostics), "");
    let tree = dump::tree(&parsed.tree);
    expected.assert_eq(tree.trim_start_matches("INF @a > @b: ").trim_end());
}

/// AX-R19.
#[test]
fn operators_bind_by_level() {
    check(
        "a <- b -> c & d | e < f .. g",
        expect!["(name a <- (name b -> (name c & (name d | (name e < (name f .. name g))))))"],
    );
    check(
        "a .. b < c | d & e -> f <- g",
        expect!["((((((name a .. name b) < name c) | name d) & name e) -> name f) <- name g)"],
    );
    check("a & b | c", expect!["(name a & (name b | name c))"]);
    check("~1..5", expect!["((~1 1) .. 5)"]);
    check("~ ~x", expect!["(~2 name x)"]);
}

/// AX-R19.
#[test]
fn only_because_groups_to_the_right() {
    check("a <- b <- c", expect!["(name a <- (name b <- name c))"]);
    check("a -> b -> c", expect!["((name a -> name b) -> name c)"]);
    check("a & b & c", expect!["((name a & name b) & name c)"]);
    check("a | b | c", expect!["((name a | name b) | name c)"]);
    check("(a <- b) <- c", expect!["((name a <- name b) <- name c)"]);
    check("a -> (b -> c)", expect!["(name a -> (name b -> name c))"]);
}

/// AX-R20.
#[test]
fn a_nested_message_takes_everything_to_its_right() {
    check("REQ(*>@t): x <- y", expect!["message(REQ * > @t: (name x <- name y))"]);
    check("(REQ(*>@t): x) <- y", expect!["(message(REQ * > @t: name x) <- name y)"]);
    check("a -> REQ(@x>@y): z & w", expect!["(name a -> message(REQ @x > @y: (name z & name w)))"]);
}

/// AX-R8, AX-R9.
#[test]
fn arrows_win_over_names_and_signs() {
    check("a->b", expect!["(name a -> name b)"]);
    check("a-->b", expect!["(name a- -> name b)"]);
    check("a- >b", expect!["(name a- > name b)"]);
    check("x-5", expect!["name x-5"]);
    check("x<-5", expect!["(name x <- 5)"]);
    check("x < -5", expect!["(name x < -5)"]);
    check("_->_", expect!["(null -> null)"]);
    check("x._->y", expect!["(name x._ -> name y)"]);
}

/// Words that mean something elsewhere are names where nothing else fits.
/// AX-R10, AX-R11, AX-R12.
#[test]
fn keywords_are_names_in_their_places() {
    check("{T:1,F:2,_:3,INF:4}", expect![[r#"{"T": 1, "F": 2, "_": 3, "INF": 4}"#]]);
    check("f(T:1,INF:2)", expect![[r#"call f("T": 1, "INF": 2)"#]]);
    check("[T,F,_]", expect!["[true, false, null]"]);
    check(
        "[T.x,T(),x.T,x._,@_,#T,$F]",
        expect!["[name T.x, call T(), name x.T, name x._, ref _, tag T, var F]"],
    );
    check("INF.x & INF", expect!["(name INF.x & name INF)"]);
    check("ACC(\"ok\")", expect![[r#"call ACC("ok")"#]]);
    check("ACC(1>2)", expect!["call ACC((1 > 2))"]);
    check("ACC([@x],1)", expect!["call ACC([ref x], 1)"]);
    check("X.a.b(1) & X.a.b", expect!["(call X.a.b(1) & name X.a.b)"]);
    check("X.a.b(@x>@y)", expect!["call X.a.b((ref x > ref y))"]);
    check("X.a.b(@x>@y): 1", expect!["message(X.a.b @x > @y: 1)"]);
}

/// AX-R15.
#[test]
fn numbers_and_strings_keep_what_was_written() {
    check("[1.50,007,-0,5%]", expect!["[1.50, 007, -0, 5<%>]"]);
    check("123456789012345678901234567890", expect!["123456789012345678901234567890"]);
    check(r#""\u{41}\n\t\"\\""#, expect![[r#""A\n\t\"\\""#]]);
    check("1..10", expect!["(1 .. 10)"]);
    check("@a.b..c.d", expect!["(ref a.b .. name c.d)"]);
}

/// AX-R13.
#[test]
fn a_wildcard_is_not_a_comment() {
    for text in
        ["INF(*>@b): x", "INF( * > @b): x", "INF(* >@b): x", "INF(*\n>@b): x", "X.a.b(*>@b): x"]
    {
        let parsed = parse(text);
        assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
        let from = parsed.tree.messages().next().and_then(Node::as_message).map(|m| m.from.kind());
        assert_eq!(from, Some(Kind::Anyone), "{text}");
    }
    // Elsewhere the same characters open one.
    check("(*> c *) x", expect!["name x"]);
    check("f(*> c *)", expect!["name f"]);
}

/// AX-R5.
#[test]
fn depth_is_counted_in_brackets_calls_and_nested_messages() {
    let limit = usize::from(MAX_DEPTH);
    let shapes: [(&str, &str, &str); 6] = [
        ("(", "x", ")"),
        ("[", "", "]"),
        ("f(", "", ")"),
        ("{a:", "1", "}"),
        ("#t{a:", "1", "}"),
        ("REQ(@x>@y): ", "z", ""),
    ];
    for (open, middle, close) in shapes {
        let nested = |depth: usize| {
            format!("INF(@a>@b): {}{middle}{}", open.repeat(depth), close.repeat(depth))
        };
        assert!(!parse(&nested(limit)).has_errors(), "{open} at the limit");
        let text = nested(limit + 1);
        let deeper = parse(&text);
        let codes: Vec<_> = deeper.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [sabir_axon::codes::TOO_DEEP], "{open} beyond the limit");
    }
    // Operators and comments are no depth.
    for text in [
        format!("INF(@a>@b): {}x", "~ ".repeat(100_000)),
        format!("INF(@a>@b): x{}", "->x".repeat(100_000)),
        format!("INF(@a>@b): x{}", "<-x".repeat(100_000)),
        format!("{}{}INF(@a>@b): x", "(*".repeat(100_000), "*)".repeat(100_000)),
    ] {
        assert!(!parse(&text).has_errors());
    }
}

/// AX-R4.
#[test]
fn one_pass_reports_several_errors_and_keeps_the_good_messages() {
    let text = "INF(@a>@b): {x:==, y:alert{l:1}, z:[1,,2]}\nINF(@c>@d): fine\nINF(@e->@f): 5sec\n";
    let parsed = parse(text);
    expect![[r##"
        1:16 error AX120 this operator has no left side
            15..17 "==" -> "\"==\""
        1:27 error AX112 a record cannot be glued to this
            21..21 "" -> "#"
        1:39 error AX123 a comma with nothing before it
            38..39 "," -> ""
        3:7 error AX105 routing is written with `>`
            66..68 "->" -> ">"
        3:14 error AX007 `sec` is not a unit
            73..77 "5sec" -> "\"5sec\""
    "##]]
    .assert_eq(&dump::findings(text, &parsed.diagnostics));
    assert_eq!(parsed.tree.messages().count(), 3);
}

/// AX-R7, AX-R17.
#[test]
fn what_is_forgiven_is_a_warning() {
    for (text, code) in [
        ("\u{feff}INF(@a>@b): x", sabir_axon::codes::BYTE_ORDER_MARK),
        ("INF(@a>@b): \"a\nb\"", sabir_axon::codes::RAW_CONTROL),
        ("INF(@a>@b): \"a\tb\"", sabir_axon::codes::RAW_CONTROL),
        ("INF(@a>@b): \"a\0b\"", sabir_axon::codes::RAW_CONTROL),
    ] {
        let parsed = parse(text);
        let codes: Vec<_> = parsed.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [code], "{text:?}");
        assert!(!parsed.has_errors(), "{text:?}");
        let mended = apply_edits(text, &parsed.diagnostics[0].fixes);
        assert!(parse(&mended).diagnostics.is_empty(), "{mended:?}");
    }
}

/// What the reference parser accepts, we accept; the collection is not part of the repository.
#[test]
fn messages_written_by_models_that_the_reference_accepts() {
    let Some(lines) = shared_corpus("axon-llm-written.jsonl") else { return };
    let mut count = 0;
    for line in lines.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = row["text"].as_str().unwrap();
        if row["reference_accepts"] == true {
            let parsed = parse(text);
            assert!(!parsed.has_errors(), "{text}\n{}", dump::findings(text, &parsed.diagnostics));
            count += 1;
        }
    }
    assert!(count > 100, "only {count} messages: is the collection whole?");
}

/// Every child lies within its parent, and siblings follow each other.
fn assert_nested(node: Node<'_>) {
    let mut at = node.span().start;
    for child in node.children() {
        let span = child.span();
        assert!(at <= span.start && span.end <= node.span().end, "{child:?} in {node:?}");
        at = span.end;
        assert_nested(child);
    }
}

fn has_error_node(node: Node<'_>) -> bool {
    node.kind() == Kind::Error || node.children().any(has_error_node)
}

/// Text that is nearly AXON: its own pieces in any order.
fn nearly_axon() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "INF",
        "(@a>@b): ",
        "REQ(*>[@a,@b]): ",
        "[id:\"m\",%%:1]",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "a",
        "b.c",
        "T",
        "F",
        "_",
        "@x",
        "#t",
        "$v",
        "\"s\"",
        "\"",
        "\\",
        "5",
        "-1.5",
        "5s",
        "5sec",
        "2025-01-01",
        "02:00",
        ",",
        ":",
        "->",
        "<-",
        "&",
        "|",
        "<",
        ">",
        "<=",
        "!=",
        "=",
        "==",
        "..",
        "~",
        "!",
        "+",
        "-",
        "*",
        "^",
        "%%",
        ";",
        ".",
        "(*",
        "*)",
        " ",
        "\n",
        "\t",
        "é",
        "“",
        "”",
        "`",
        "\u{feff}",
        "\u{a0}",
        "\0",
        "X.a.B",
        "@",
        "$",
        "#",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// AX-R1, AX-R2.
    #[test]
    fn every_byte_is_in_exactly_one_token(text in prop_oneof![nearly_axon(), any::<String>()]) {
        let parsed = parse(&text);
        let joined: String = parsed.tree.tokens().map(|token| &text[token.span().range()]).collect();
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn nodes_nest_and_diagnostics_point_into_the_text(text in prop_oneof![nearly_axon(), any::<String>()]) {
        let parsed = parse(&text);
        assert_nested(parsed.tree.root());
        for found in &parsed.diagnostics {
            prop_assert!(text.get(found.span.range()).is_some(), "{:?}", found);
            for edit in &found.fixes {
                prop_assert!(text.get(edit.span.range()).is_some(), "{:?}", found);
            }
        }
        prop_assert!(!has_error_node(parsed.tree.root()) || parsed.has_errors());
    }

    #[test]
    fn repair_gives_valid_text(text in prop_oneof![nearly_axon(), any::<String>()]) {
        let repaired = sabir_axon::repair(&text);
        let parsed = parse(&repaired.text);
        prop_assert!(!parsed.has_errors(), "{:?} -> {:?}: {:?}", text, repaired.text, parsed.diagnostics);
    }
}
