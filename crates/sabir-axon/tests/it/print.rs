//! The printer's laws over random documents, and what it writes, case by case.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::disallowed_methods, reason = "test data lies in files")]

use std::path::Path;

use expect_test::{expect, expect_file};
use proptest::prelude::*;
use sabir_axon::{MAX_DEPTH, Style, parse, print, same};

use crate::generate::{commented_document, config, plain_document, token_soup, trapping_document};

fn wire(text: &str) -> String {
    print(&parse(text).tree, Style::Wire)
}

fn pretty(text: &str) -> String {
    print(&parse(text).tree, Style::Pretty)
}

fn comments(text: &str) -> Vec<&str> {
    let spans = parse(text).tree.comments();
    spans.into_iter().map(|span| &text[span.range()]).collect()
}

fn assert_laws(text: &str) {
    let before = parse(text);
    assert!(!before.has_errors(), "{text}\n{:?}", before.diagnostics);
    for style in [Style::Wire, Style::Pretty] {
        let printed = print(&before.tree, style);
        let after = parse(&printed);
        assert_eq!(after.diagnostics, vec![], "{style:?} of {text:?}:\n{printed}");
        assert!(same(&before.tree, &after.tree), "{style:?} of {text:?}:\n{printed}");
        assert_eq!(comments(&printed), comments(text), "{style:?} of {text:?}:\n{printed}");
        assert_eq!(print(&after.tree, style), printed, "{style:?} of {text:?}");
        assert!(!printed.contains(" \n") || text.contains(" \n"), "trailing space: {printed}");
        assert!(printed.is_empty() || printed.ends_with('\n'));
    }
    assert_eq!(wire(&pretty(text)), wire(text), "{text:?}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn laws_hold_without_comments(text in plain_document()) {
        assert_laws(&text);
    }

    /// AX-R28.
    #[test]
    fn laws_hold_with_comments(text in commented_document()) {
        assert_laws(&text);
    }

    #[test]
    fn laws_hold_with_comments_that_look_like_routing(text in trapping_document()) {
        if !parse(&text).has_errors() {
            assert_laws(&text);
        }
    }

    #[test]
    fn laws_hold_where_nobody_looked(text in token_soup()) {
        if !parse(&text).has_errors() {
            assert_laws(&text);
        }
    }

    #[test]
    fn printing_is_total(text in "(INF\\(@a>@b\\): )?[\\(\\)\\[\\]{}@#$a-c0-9,:;~<>=!&|.*\"\\\\ \n-]{0,60}") {
        let parsed = parse(&text);
        print(&parsed.tree, Style::Wire);
        print(&parsed.tree, Style::Pretty);
    }
}

/// One file a case: `NNNN_name.axon` is printed as `.wire` and `.pretty` beside it.
#[test]
fn data() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/print");
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut cases: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "axon"));
    cases.sort();
    assert!(!cases.is_empty());
    for case in cases {
        let text = std::fs::read_to_string(&case).unwrap();
        assert_laws(&text);
        expect_file![case.with_extension("wire")].assert_eq(&wire(&text));
        expect_file![case.with_extension("pretty")].assert_eq(&pretty(&text));
    }
}

#[test]
fn laws_hold_for_what_the_parser_accepts() {
    for case in sabir_testkit::cases("tests/data/ok") {
        assert_laws(&case.text);
    }
}

/// The content of a message on the wire, and the laws on the way.
fn content(text: &str) -> String {
    let text = format!("INF(@a>@b): {text}");
    assert_laws(&text);
    wire(&text).strip_prefix("INF(@a>@b): ").unwrap().trim_end().to_owned()
}

#[test]
fn parentheses_are_the_fewest() {
    for (written, printed) in [
        ("((a))", "a"),
        ("(a -> b) -> c", "a->b->c"),
        ("a -> (b -> c)", "a->(b->c)"),
        ("a <- (b <- c)", "a<-b<-c"),
        ("(a <- b) <- c", "(a<-b)<-c"),
        ("((a & b) & c) & (d & e)", "a&b&c&(d&e)"),
        ("(a | b) & c | (d & e)", "a|b&c|(d&e)"),
        ("(a | b) & (c | d)", "a|b&c|d"),
        ("(a & b) | c", "(a&b)|c"),
        ("(a < b) = (c > d)", "(a<b)=(c>d)"),
        ("(a..b) < c", "a..b<c"),
        ("(1..2)..3", "(1..2)..3"),
        ("(~1)..(~2)", "~1..~2"),
        ("~(1..2)", "~(1..2)"),
        ("~(~x)", "~ ~x"),
        ("~(~ ~(x))", "~ ~ ~x"),
        ("~(a & b)", "~(a&b)"),
        ("(f)", "f"),
        ("[(a), (b -> c)]", "[a,b->c]"),
        ("{k:(a -> b)}", "{k:a->b}"),
    ] {
        assert_eq!(content(written), printed, "{written}");
    }
}

/// AX-R20.
#[test]
fn a_nested_message_that_is_an_operand_is_wrapped() {
    for (written, printed) in [
        ("REQ(*>@t): x <- y", "REQ(*>@t): x<-y"),
        ("(REQ(*>@t): x) <- y", "(REQ(*>@t): x)<-y"),
        ("a -> REQ(@x>@y): z", "a->(REQ(@x>@y): z)"),
        ("~REQ(@x>@y): z", "~(REQ(@x>@y): z)"),
        ("1..REQ(@x>@y): z & w", "1..(REQ(@x>@y): z&w)"),
        ("a < (REQ(@x>@y): z)", "a<(REQ(@x>@y): z)"),
        ("[(REQ(@x>@y): z), 1]", "[REQ(@x>@y): z,1]"),
        ("{k:(X.a.b(@x>@y): z)}", "{k:X.a.b(@x>@y): z}"),
        ("f(n:(REQ(@x>@y): z))", "f(n:REQ(@x>@y): z)"),
    ] {
        assert_eq!(content(written), printed, "{written}");
    }
}

/// AX-R28.
#[test]
fn tokens_that_would_merge_are_kept_apart() {
    for (written, printed) in [
        ("x < -5", "x< -5"),
        ("x <- -5", "x<--5"),
        ("x <= -5", "x<=-5"),
        ("x < (*c*) -5", "x<(*c*)-5"),
        ("a- > b", "a- >b"),
        ("a- >= b", "a- >=b"),
        ("a- -> b", "a-->b"),
        ("x._ -> b", "x._->b"),
        ("_ -> _", "_->_"),
        ("1 .. 2", "1..2"),
        ("a.b .. c", "a.b..c"),
    ] {
        assert_eq!(content(written), printed, "{written}");
    }
    assert_laws("INF(@a- >@b-): [@a- > 1]");
    assert_eq!(wire("INF([@a-] > @b): x"), "INF([@a-]>@b): x\n");
    assert_eq!(wire("INF( @a- > * ): x"), "INF(@a- >*): x\n");
}

/// `ACC(@x>` starts a message; a call that compares an agent must not look like one.
#[test]
fn a_call_does_not_turn_into_routing() {
    for (written, printed) in [
        ("ACC((@x > @y))", "ACC((@x)>@y)"),
        ("ACC((@x) > f(1))", "ACC((@x)>f(1))"),
        ("ACC((@x > @y) & b <- c, d)", "ACC((@x)>@y&b<-c,d)"),
        ("ACC(([@x,@y]) > 1)", "ACC(([@x,@y])>1)"),
        ("ACC((@x >= @y))", "ACC(@x>=@y)"),
        ("ACC((@x > @y) .. 3)", "ACC((@x>@y)..3)"),
        ("ACC(n:(@x > @y))", "ACC(n:@x>@y)"),
        ("ACC(1, (@x > @y))", "ACC(1,@x>@y)"),
        ("X.a.b((@x > @y))", "X.a.b(@x>@y)"),
        ("ACC((*c*) (@x) > @y)", "ACC((*c*)(@x)>@y)"),
    ] {
        assert_eq!(content(written), printed, "{written}");
    }
}

/// AX-R28: behind a comment that ends on another line, nothing stands on the message's line.
#[test]
fn comments_behind_a_comment_of_two_lines_stay_where_they_are_put() {
    let text = "INF(@a>@b): ((x (* two\nlines *)) (* more *))\n(* last *)";
    assert_laws(text);
    assert_eq!(wire(text), "INF(@a>@b): x(* two\nlines *)\n(* more *)(* last *)\n");
    assert_laws("INF(@a>@b): ((x (* two\nlines *)) (* more *))\nINF(@a>@b): y");
}

#[test]
fn comments_go_before_the_next_token() {
    for (written, printed) in [
        ("a (*c*) -> b", "a->(*c*)b"),
        ("f (*c*) (1)", "f((*c*)1)"),
        ("f(* c *)()", "f((* c *))"),
        ("[1 (*c*), 2 (*d*)]", "[1,(*c*)2(*d*)]"),
        ("((*c*)(a (*d*)))", "(*c*)a(*d*)"),
        ("#t(*c*){a(*d*):(*e*)1}", "#t{(*c*)a:(*d*)(*e*)1}"),
        ("a -> (*c*) (b <- (*d*) c)", "a->(*c*)(b<-(*d*)c)"),
        ("[((*c*) a) & b]", "[(*c*)a&b]"),
        // Directly behind the word it would be routing.
        ("[(ACC)(*>c*)]", "[(*>c*)ACC]"),
        ("[(ACC)(*b*)(* > c*)(*d*)]", "[(*b*)(* > c*)ACC(*d*)]"),
        ("(b <- (ACC))(*>c*)", "b<-(*>c*)ACC"),
        ("(#ACC)(*>c*)", "#ACC(*>c*)"),
    ] {
        assert_eq!(content(written), printed, "{written}");
    }
    assert_laws(
        "(* a *)[(* b *)id:(* c *)\"m\"(* d *)](* e *)INF((*f*)*(*g*)>(*h*)@b(*i*))(*j*):x(*k*)",
    );
    assert_laws("INF(@a>@b): (X.a.b)\n(*> c *)\n(* d *)\nINF(@a>@b): y");
    assert_eq!(wire(" (* a *) (* b *) "), "(* a *)(* b *)\n");
    assert_eq!(pretty(" (* a *) (* b *) "), "(* a *)\n(* b *)\n");
    assert_eq!(wire(" \n "), "");
    assert_eq!(pretty("\u{feff}"), "");
}

/// AX-R17, AX-R21.
#[test]
fn strings_and_keys_are_canonical() {
    for (written, printed) in [
        ("\"a\tb\u{7f}\"", r#""a\tb\u{7f}""#),
        (r#""\u{41}\u{a}""#, r#""A\n""#),
        (r#"{"a":1,"_":2,"b c":3,"":4,"T":5,"a.b":6}"#, r#"{a:1,_:2,"b c":3,"":4,T:5,"a.b":6}"#),
        ("{a:1.50,b:007,c:-0}", "{a:1.50,b:007,c:-0}"),
    ] {
        let text = format!("INF(@a>@b): {written}");
        assert_eq!(wire(&text), format!("INF(@a>@b): {printed}\n"));
    }
    assert_eq!(wire("INF([@a]>@b): x"), "INF([@a]>@b): x\n");
}

/// A nested message in operand position costs one level more when it is wrapped.
#[test]
fn wrapping_never_goes_too_deep() {
    for levels in [60, 64, 65, usize::from(MAX_DEPTH)] {
        let text = format!("INF(@a>@b): {}z", "a->REQ(@x>@y): ".repeat(levels));
        assert_laws(&text);
        assert_eq!(wire(&text).contains("->("), levels <= 64, "{levels}");
    }
    assert_laws(&format!("INF(@a>@b): {}z{}", "(".repeat(128), ")".repeat(128)));
    assert_laws(&format!("INF(@a>@b): {}{}", "[".repeat(128), "]".repeat(128)));
    assert_laws(&format!("INF(@a>@b): {}1{}", "{k:".repeat(128), "}".repeat(128)));
}

#[test]
fn long_chains_need_no_stack() {
    for op in ["->", "<-", "&", "|"] {
        let text = format!("INF(@a>@b): x{}", format!("{op}y").repeat(200_000));
        let before = parse(&text);
        for style in [Style::Wire, Style::Pretty] {
            let printed = print(&before.tree, style);
            assert!(same(&before.tree, &parse(&printed).tree));
        }
    }
}

#[test]
fn sameness() {
    let is_same = |a: &str, b: &str| {
        let (a, b) = (format!("INF(@a>@b): {a}"), format!("INF(@a>@b): {b}"));
        same(&parse(&a).tree, &parse(&b).tree)
    };
    for (a, b) in [
        ("a->b->c", "(a->b)->c"),
        ("a<-b<-c", "a<-(b<-c)"),
        ("a|b|c|d", "((a|b)|c)|d"),
        ("~(~x)", "~ ~x"),
        ("{\"a\":1}", "{a:1}"),
        (r#""A""#, r#""\u{41}""#),
        ("#t {a : 1}", "#t{a:1}(* c *)"),
    ] {
        assert!(is_same(a, b), "{a} is {b}");
    }
    for (a, b) in [
        ("a->b->c", "a->(b->c)"),
        ("a<-b<-c", "(a<-b)<-c"),
        ("1.50", "1.5"),
        ("1s", "1ms"),
        ("{a:1,b:2}", "{b:2,a:1}"),
        ("~x", "~ ~x"),
        ("a<b", "a<=b"),
        ("f(1)", "f(a:1)"),
        ("f(1)", "f(1,2)"),
        ("f(1,2)", "f(1)"),
        ("#t", "#t{}"),
        ("[a]", "a"),
        ("T", "\"T\""),
    ] {
        assert!(!is_same(a, b), "{a} is not {b}");
    }
    assert!(!same(&parse("INF(@a>@b): x").tree, &parse("INF([@a]>@b): x").tree));
    assert!(!same(&parse("INF(@a>@b): x").tree, &parse("[id:1]INF(@a>@b): x").tree));
    assert!(!same(&parse("INF(@a>@b): x").tree, &parse("").tree));
}

#[test]
fn what_could_not_be_read_comes_out_as_written() {
    expect![[r#"
        INF(@a>@b): (a, b)
        INF(@a>@b): f(2025-03-01)
    "#]]
    .assert_eq(&wire("INF(@a>@b): (a, b)\nINF(@a>@b): f(2025-03-01)"));
}

#[test]
fn pretty_breaks_what_does_not_fit() {
    let text = r#"[id:"m1",%%:1]REQ(@orchestrator>@pipeline): fetch($url)->parse(#json)->store(@db,$result,retries:3)&notify(@ops)
        REQ(@planner>[@w1,@w2]): {task:#data-process,split:[0..1000,1001..2000],note:"a longer note that fills the line",when:x< -5}
        ERR(@service>@caller): {code:404,suggest:QRY(@caller>@registry): locate(@missing-item)}(* why *)"#;
    assert_laws(text);
    expect![[r#"
        [id:"m1", %%:1]
        REQ(@orchestrator>@pipeline): fetch($url)
          -> parse(#json)
          -> store(@db, $result, retries:3) & notify(@ops)

        REQ(@planner>[@w1, @w2]): {
          task:#data-process,
          split:[0..1000, 1001..2000],
          note:"a longer note that fills the line",
          when:x < -5
        }

        ERR(@service>@caller): {
          code:404,
          suggest:QRY(@caller>@registry): locate(@missing-item)
        } (* why *)
    "#]]
    .assert_eq(&pretty(text));
}
