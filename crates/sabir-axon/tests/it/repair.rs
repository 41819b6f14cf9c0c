//! Repair: every kind of mistake that models make, with every word kept.

use expect_test::{Expect, expect};
use sabir_axon::{parse, repair};
use sabir_testkit::{cases, shared_corpus};

fn check(text: &str, expected: Expect) {
    let repaired = repair(text);
    assert!(repaired.is_valid(), "{text} -> {}: {:?}", repaired.text, repaired.diagnostics);
    assert!(keeps_content(text, &repaired.text), "{text} -> {}", repaired.text);
    expected.assert_eq(&repaired.text);
}

/// Whether every letter and digit of `before` stands in `after`, in the same order. Case is not
/// content: `inf` becomes `INF`. Nor is the language of a code fence.
fn keeps_content(before: &str, after: &str) -> bool {
    let mut rest = after.chars().filter(|c| c.is_alphanumeric());
    let lines = before.lines().filter(|line| !line.starts_with("```"));
    lines
        .flat_map(str::chars)
        .filter(|c| c.is_alphanumeric())
        .all(|c| rest.any(|kept| kept.eq_ignore_ascii_case(&c)))
}

#[test]
fn records_glued_to_names_calls_and_variables() {
    check("INF(@a>@b): alert{level:3}", expect!["INF(@a>@b): #alert{level:3}"]);
    check("INF(@a>@b): status(@s){up:T}", expect!["INF(@a>@b): status(@s,{up:T})"]);
    check("INF(@a>@b): status(){up:T}", expect!["INF(@a>@b): status({up:T})"]);
    check("CMD(@a>@b): run($range{from:0})", expect!["CMD(@a>@b): run($range={from:0})"]);
}

#[test]
fn times_dates_and_clock_ranges() {
    check("PRO(@a>@b): {w:02:00..04:00}", expect![[r#"PRO(@a>@b): {w:"02:00..04:00"}"#]]);
    check("PRO(@a>@b): by(2025-03-01)", expect![[r#"PRO(@a>@b): by("2025-03-01")"#]]);
    check("INF(@a>@b): 2025-03-01T10:00:00Z", expect![[r#"INF(@a>@b): "2025-03-01T10:00:00Z""#]]);
}

#[test]
fn several_receivers() {
    check("REQ(@p>@w1, @w2): go", expect!["REQ(@p>[@w1, @w2]): go"]);
    check("REQ(@p>@w1 & @w2): go", expect!["REQ(@p>[@w1 , @w2]): go"]);
    check("PUB(@p>@*): go", expect!["PUB(@p>*): go"]);
}

#[test]
fn empty_routing() {
    check("INF(): p", expect!["INF(*>*): p"]);
    check("INF( ): p", expect!["INF(*>* ): p"]);
    check("INF(@a>): p", expect!["INF(@a>*): p"]);
    check("INF(>): p", expect!["INF(*>*): p"]);
}

/// What was quoted in one look is not read as messages in the next.
#[test]
fn messages_inside_of_quoted_text_stay_there() {
    check(
        "INF(: \u{10}2b): f(\"b): REJ(@a>@b): p\nACK(@a>@b): p\nSYN(f(\"x\"@a>@b):1) p",
        expect![[
            r#"INF(*>*): "\u{10}2b): f(\"b): REJ(@a>@b): p\nACK(@a>@b): p\nSYN(f(\"x\"@a>@b):1) p""#
        ]],
    );
}

#[test]
fn trailing_clauses() {
    check("REQ(@a>@b): run(#x) soon", expect!["REQ(@a>@b): run(#x) & soon"]);
    check(
        "REQ(@a>@b): run(#x) window:02:00..04:00 why:\"load\"",
        expect![[r#"REQ(@a>@b): run(#x) & {window:"02:00..04:00", why:"load"}"#]],
    );
    check("REQ(@a>@b): run(#x) @ 02:00", expect![[r#"REQ(@a>@b): run(#x) & "@ 02:00""#]]);
    check("INF(@a>@b): please look at this", expect![[r#"INF(@a>@b): "please look at this""#]]);
}

#[test]
fn keyless_records() {
    check("INF(@a>@b): #timeout{60s}", expect!["INF(@a>@b): #timeout{_:60s}"]);
    check(
        "INF(@a>@b): {#Cell{n:1}, 5, k:2, 6}",
        expect![[r#"INF(@a>@b): {Cell:#Cell{n:1}, "2":5, k:2, "4":6}"#]],
    );
}

#[test]
fn fences_and_prose_become_comments() {
    check(
        "Sure, here it is:\n\n```axon\nINF(@a>@b): x\n```\nHope that helps (really)!\n",
        expect![[r#"
            (* Sure, here it is: *)
            INF(@a>@b): x
            (* Hope that helps (really)! *)
        "#]],
    );
    check("The message: INF(@a>@b): x", expect!["(* The message: *) INF(@a>@b): x"]);
}

#[test]
fn operators_of_other_languages() {
    check("INF(@a>@b): a == b && c || d", expect!["INF(@a>@b): a = b & c | d"]);
    check("INF(@a>@b): !ready(@x) => wait()", expect!["INF(@a>@b): ready(@x)=F -> wait()"]);
    check("INF(@a>@b): !a = b", expect!["INF(@a>@b): (a=F) = b"]);
    check("INF(@a>@b): {n:$a + 1 - $b}", expect![[r#"INF(@a>@b): {n:"$a + 1 - $b"}"#]]);
    check("INF(@a>@b): {late:>2s,p:^3}", expect![[r#"INF(@a>@b): {late:">2s",p:"^3"}"#]]);
    check("INF(@a>@b): xs[0].y", expect![[r#"INF(@a>@b): "xs[0].y""#]]);
}

#[test]
fn units_and_money() {
    check(
        "CTR(@a>@b): {n:10000.units,r:2.15gbps,p:2.20usd/unit}",
        expect![[r#"CTR(@a>@b): {n:"10000.units",r:"2.15gbps",p:"2.20usd/unit"}"#]],
    );
    check("CTR(@a>@b): {p:$2.20usd,q:$5}", expect![[r#"CTR(@a>@b): {p:2.20usd,q:"$5"}"#]]);
    check("INF(@a>@b): wait(5 s)", expect!["INF(@a>@b): wait(5s)"]);
}

#[test]
fn routing_and_performatives() {
    check("INF: #spec{a:1}", expect!["INF(*>*): #spec{a:1}"]);
    check("INF(@a): x", expect!["INF(@a>*): x"]);
    check("INF(@a->@b): x", expect!["INF(@a>@b): x"]);
    check("INF @a>@b: x", expect!["INF(@a>@b): x"]);
    check("INF(a>b): x", expect!["INF(@a>@b): x"]);
    check("SAY(@a>@b): x", expect!["X.local.SAY(@a>@b): x"]);
    check("INF(@a>@b)", expect!["INF(@a>@b): _"]);
}

#[test]
fn brackets_quotes_and_commas() {
    check("INF(@a>@b): {a:[1,2", expect!["INF(@a>@b): {a:[1,2]}"]);
    check("INF(@a>@b): [a,b)", expect!["INF(@a>@b): [a,b]"]);
    check("INF(@a>@b): f(x))", expect!["INF(@a>@b): f(x)"]);
    check("INF(@a>@b): {a:\"open}", expect![[r#"INF(@a>@b): {a:"open"}"#]]);
    check("INF(@a>@b): {a:'x',b:“y”,}", expect![[r#"INF(@a>@b): {a:"x",b:"y"}"#]]);
    check("INF(@a>@b): {a=1 b:2; c:3}", expect!["INF(@a>@b): {a:1, b:2, c:3}"]);
    check(
        "{\"id\":\"m1\",\"%%\":1}\nINF(@a>@b): x",
        expect![[r#"
        [id:"m1",%%:1]
        INF(@a>@b): x"#]],
    );
}

#[test]
fn a_text_without_a_message_is_kept_and_reported() {
    let repaired = repair("hello (*) world");
    assert!(!repaired.is_valid());
    assert!(!parse(&repaired.text).has_errors());
    expect!["(* hello ( * ) world *)"].assert_eq(&repaired.text);
}

/// AX-R30.
#[test]
fn changes_say_where_in_the_original() {
    let text = "INF(@a>@b): {a:x{y:!z}, b:5sec}";
    let changes: Vec<_> = repair(text)
        .changes
        .into_iter()
        .map(|change| {
            format!("{} {:?} {:?}", change.code, &text[change.span.range()], change.after)
        })
        .collect();
    expect![[r##"
        [
            "AX112 \"\" \"#\"",
            "AX121 \"!z\" \"z=F\"",
            "AX007 \"5sec\" \"\\\"5sec\\\"\"",
        ]
    "##]]
    .assert_debug_eq(&changes);
}

/// AX-R30.
#[test]
fn valid_text_is_left_alone() {
    for case in cases("tests/data/ok") {
        let repaired = repair(&case.text);
        assert_eq!(repaired.text, case.text, "{}", case.name);
        assert!(repaired.changes.is_empty(), "{}", case.name);
    }
}

/// Whatever is wrong, the result parses and every word of it is still there.
/// AX-R29.
#[test]
fn every_mistake_in_the_folder_is_repaired() {
    for case in cases("tests/data/err") {
        let repaired = repair(&case.text);
        assert!(!parse(&repaired.text).has_errors(), "{}: {}", case.name, repaired.text);
        assert!(keeps_content(&case.text, &repaired.text), "{}: {}", case.name, repaired.text);
    }
}

/// At least 95% of what models wrote and the reference refuses; the collection is not part of the
/// repository.
#[test]
fn messages_written_by_models_that_the_reference_refuses() {
    let Some(lines) = shared_corpus("axon-llm-written.jsonl") else { return };
    let (mut mended, mut total) = (0, 0);
    for line in lines.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = row["text"].as_str().unwrap();
        if row["reference_accepts"] == true {
            continue;
        }
        total += 1;
        let repaired = repair(text);
        if repaired.is_valid() && keeps_content(text, &repaired.text) {
            mended += 1;
        } else {
            println!("not mended: {text}\n{:?}", repaired.diagnostics);
        }
    }
    println!("{mended} of {total} repaired");
    assert!(total > 20 && mended * 100 >= total * 95, "{mended} of {total}");
}
