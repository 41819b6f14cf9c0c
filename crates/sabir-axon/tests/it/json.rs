//! The JSON encoding: its laws over random documents, its forms, its errors, its schema.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;
use sabir_axon::json::{decode, encode, encoding, schema};
use sabir_axon::{Style, parse, print, same};
use serde_json::{Value, json};

use crate::generate::{commented_document, config, plain_document, token_soup};

fn encoded(text: &str) -> Value {
    let parsed = parse(text);
    assert!(!parsed.has_errors(), "{text}\n{:?}", parsed.diagnostics);
    encode(&parsed.tree).unwrap()
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema()).unwrap()
}

fn assert_laws(text: &str) {
    let json = encoded(text);
    let back = decode(&json.to_string()).unwrap_or_else(|error| panic!("{error}\n{text}\n{json}"));
    let before = parse(text);
    assert!(same(&parse(&back).tree, &before.tree), "{text}\n{json}\n{back}");
    assert_eq!(encoded(&back), json);
    assert_streams(text);
    // The decoder writes what the printer writes.
    assert_eq!(print(&parse(&back).tree, Style::Wire), back);
    if before.tree.comments().is_empty() {
        assert_eq!(print(&before.tree, Style::Wire), back);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn axon_survives_json(text in plain_document()) {
        assert_laws(&text);
    }

    #[test]
    fn comments_are_not_encoded(text in commented_document()) {
        assert_laws(&text);
    }

    #[test]
    fn axon_that_nobody_looked_at_survives_json(text in token_soup()) {
        if !parse(&text).has_errors() {
            assert_laws(&text);
        }
    }

    #[test]
    fn decoding_is_total(text in "[\\[\\]{}:,\"a-d0-9 \\\\]{0,40}") {
        let _ = decode(&text);
    }

    /// The reader must take what `serde_json` takes.
    #[test]
    fn decoding_reads_all_strings(value in ".*") {
        let json = json!({"performative": "INF", "from": "*", "to": "a", "content": value});
        let text = decode(&json.to_string()).unwrap();
        let again = &encoded(&text)["messages"][0]["content"];
        assert_eq!(again.as_str(), Some(value.as_str()));
    }
}

#[test]
fn what_the_parser_accepts_survives_json() {
    for case in sabir_testkit::cases("tests/data/ok") {
        assert_laws(&case.text);
    }
}

#[test]
fn every_encoding_fits_the_schema() {
    let validator = validator();
    let mut runner = proptest::test_runner::TestRunner::new(config());
    runner
        .run(&plain_document(), |text| {
            let json = encoded(&text);
            if let Err(error) = validator.validate(&json) {
                panic!("{error}\n{text}\n{json}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_committed_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/schema/axon.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    expect_file![path].assert_eq(&text);
}

/// The content of a message, encoded; and the laws on the way.
fn content(text: &str) -> Value {
    let text = format!("INF(@a>@b): {text}");
    assert_laws(&text);
    assert!(validator().is_valid(&encoded(&text)), "{text}");
    encoded(&text)["messages"][0]["content"].take()
}

#[test]
fn forms() {
    for (text, json) in [
        (r#""a\n\u{41}""#, json!("a\nA")),
        ("1.50", json!({"num": "1.50"})),
        ("-99.7%", json!({"num": "-99.7", "unit": "%"})),
        ("[T,F,_]", json!([true, false, null])),
        ("{a:1,\"b c\":{}}", json!({"record": {"a": {"num": "1"}, "b c": {"record": {}}}})),
        ("{\"^\":T,\"%%\":F}", json!({"record": {"^": true, "%%": false}})),
        (
            "[@a.b,$v,x.T,ACC]",
            json!([{"ref": "a.b"}, {"var": "v"}, {"name": "x.T"}, {"name": "ACC"}]),
        ),
        ("[#t,#t{}]", json!([{"tag": "t"}, {"tag": "t", "record": {}}])),
        ("T()", json!({"call": "T", "args": []})),
        ("f(T,_:F)", json!({"call": "f", "args": [true, {"arg": "_", "value": false}]})),
        ("~T", json!({"approx": true})),
        ("~(~ ~T)", json!({"approx": true, "times": 3})),
        ("(T->F)->_", json!({"op": "->", "args": [true, false, null]})),
        ("T->(F->_)", json!({"op": "->", "args": [true, {"op": "->", "args": [false, null]}]})),
        ("T<-(F<-_)", json!({"op": "<-", "args": [true, false, null]})),
        ("(T<-F)<-_", json!({"op": "<-", "args": [{"op": "<-", "args": [true, false]}, null]})),
        ("T|F&_", json!({"op": "&", "args": [{"op": "|", "args": [true, false]}, null]})),
        ("T<=F", json!({"op": "<=", "args": [true, false]})),
        ("_..T", json!({"op": "..", "args": [null, true]})),
        (
            "ACC((@x)>T)",
            json!({"call": "ACC", "args": [{"op": ">", "args": [{"ref": "x"}, true]}]}),
        ),
        (
            "T->(X.a.b([@x]>*): _)",
            json!({"op": "->", "args": [
                true,
                {"performative": "X.a.b", "from": ["@x"], "to": "*", "content": null},
            ]}),
        ),
    ] {
        assert_eq!(content(text), json, "{text}");
    }
    let with_meta = encoded(r#"[id:"m1",%%:1,^:2]QRY(@a>@b): _"#);
    let meta = json!({"id": "m1", "%%": {"num": "1"}, "^": {"num": "2"}});
    assert_eq!(
        with_meta,
        json!({"axon": 1, "messages": [
            {"meta": meta, "performative": "QRY", "from": "@a", "to": "@b", "content": null},
        ]})
    );
    assert!(validator().is_valid(&with_meta));
    assert_eq!(encoded(""), json!({"axon": 1, "messages": []}));
}

#[test]
fn decoding_takes_what_models_write() {
    let message = r#"{"performative":"INF","from":"a","to":["b","@c"],"content":[1,-2.50]}"#;
    let wire = "INF(@a>[@b,@c]): [1,-2.50]\n";
    assert_eq!(decode(message).unwrap(), wire);
    assert_eq!(decode(&format!("[{message}]")).unwrap(), wire);
    let escaped =
        r#"{"performative":"\u0049NF","from":"*","to":"*","content":"\ud83d\ude00\u007f"}"#;
    assert_eq!(decode(escaped).unwrap(), "INF(*>*): \"\u{1f600}\\u{7f}\"\n");
}

/// Decodes a message with this content and shows what is wrong with it.
fn check_error(content: &str, expected: &Expect) {
    let message = format!(r#"{{"performative":"INF","from":"@a","to":"@b","content":{content}}}"#);
    show_error(&message, expected);
}

fn show_error(json: &str, expected: &Expect) {
    let error = decode(json).unwrap_err();
    let help = error.help.as_deref().map(|help| format!("\nhelp: {help}"));
    expected.assert_eq(&format!("{error}{}", help.unwrap_or_default()));
}

#[test]
fn errors_name_the_place_and_the_way_out() {
    check_error(
        "1e5",
        &expect![[r#"
        at /content: AXON has no exponents: 1e5
        help: write {"num":"..."} with all digits"#]],
    );
    check_error(
        r#"{"num":"1."}"#,
        &expect![[r#"
        at /content/num: "1." is not a number
        help: digits, with `-` before and a fraction behind if need be: "-1.50""#]],
    );
    check_error(r#"{"num":1}"#, &expect!["at /content/num: expected a string, found a number"]);
    check_error(
        r#"{"num":"1","unit":"kb"}"#,
        &expect![[r#"
        at /content/unit: "kb" is not a unit
        help: units: % ms s min h d B KB MB GB tok usd eur"#]],
    );
    check_error(
        r#"{"a":1}"#,
        &expect![[r#"
        at /content: this object says nothing that AXON knows
        help: an expression is a string, true, false, null, an array, or an object with one of: num, record, ref, var, name, tag, call, approx, op, performative; key-value pairs are written {"record":{...}}"#]],
    );
    check_error(
        r#"{"name":"T"}"#,
        &expect![[r#"
        at /content/name: "T" is not a name
        help: write true"#]],
    );
    check_error(
        r#"[{"name":"a b"}]"#,
        &expect![[r#"
        at /content/0/name: "a b" is not a name
        help: a name is ASCII letters, digits, `-` and `_`, starts with a letter, and may have parts divided by dots"#]],
    );
    check_error(
        r#"{"ref":"@a"}"#,
        &expect![[r#"
        at /content/ref: "@a" is not a name
        help: leave out the `@`; a name is ASCII letters, digits, `-` and `_`, starts with a letter, and may have parts divided by dots"#]],
    );
    check_error(
        r#"{"ref":"a","x/y":1}"#,
        &expect![[r#"
        at /content/x~1y: the key "x/y" does not belong here
        help: keys here: ref"#]],
    );
    check_error(
        r#"{"op":"==","args":[1,2]}"#,
        &expect![[r#"
        at /content/op: AXON has no operator "=="
        help: operators: -> <- & | < > <= >= != = .."#]],
    );
    check_error(
        r#"{"op":"<","args":[1,2,3]}"#,
        &expect!["at /content/args: `<` takes exactly two operands"],
    );
    check_error(
        r#"{"op":"&","args":[1]}"#,
        &expect!["at /content/args: `&` takes two or more operands"],
    );
    check_error(r#"{"op":"&"}"#, &expect![[r#"at /content: an operation needs the key "args""#]]);
    check_error(
        r#"{"approx":1,"times":0}"#,
        &expect!["at /content/times: `times` is a whole number from 1 to 1048576"],
    );
    check_error(
        r#"{"call":"f","args":[{"arg":"a.b","value":1}]}"#,
        &expect![[r#"
        at /content/args/0/arg: "a.b" is not a name
        help: the name of an argument is one identifier"#]],
    );
    check_error(
        r#"{"call":"f","args":[{"arg":"a","value":1},{"arg":"\u0061","value":1}]}"#,
        &expect![[r#"at /content/args/1/arg: two arguments have the name "a""#]],
    );
    check_error(
        r#"{"record":{"a":1,"\u0061":2}}"#,
        &expect![[r#"
        at /content/record/a: the key "a" stands twice
        help: give every key once"#]],
    );
    check_error(
        r#""\ud800""#,
        &expect![[r#"at /content: "\ud800" holds an escape that names no character"#]],
    );
    check_error(
        r#"{"meta":{"id":"x"},"performative":"INF","from":"@a","to":"@b","content":1}"#,
        &expect![[r#"
            at /content/meta: the key "meta" does not belong here
            help: keys here: performative, from, to, content"#]],
    );
    show_error("", &expect!["not JSON: EOF while parsing a value at line 1 column 0"]);
    show_error(
        "3",
        &expect![[r#"
        expected a document, found a number
        help: write {"axon":1,"messages":[...]}, a list of messages or one message"#]],
    );
    show_error(
        r#"{"axon":2,"messages":[]}"#,
        &expect![[r#"
        at /axon: this version of the encoding is 1
        help: write "axon":1"#]],
    );
    show_error(r#"{"messages":[]}"#, &expect![[r#"a document needs the key "axon""#]]);
    show_error(
        r#"[{"performative":"inform"}]"#,
        &expect![[r#"
        at /0/performative: "inform" is not a performative
        help: write INF, QRY, REQ or another core word, or X.domain.NAME"#]],
    );
    show_error(
        r#"[{"performative":"INF","from":[],"to":"*","content":1}]"#,
        &expect![[r#"
        at /0/from: a list of agents is empty
        help: name at least one agent, or write "*" for anyone"#]],
    );
    show_error(
        r#"[{"performative":"INF","from":["*"],"to":"*","content":1}]"#,
        &expect![[r#"
        at /0/from/0: "*" is not an agent
        help: write "@name""#]],
    );
    show_error(
        r#"[{"meta":{},"performative":"INF","from":"*","to":"*","content":1}]"#,
        &expect![[r#"
        at /0/meta: metadata is empty
        help: leave `meta` out"#]],
    );
    show_error(
        r#"[{"meta":{"a b":1},"performative":"INF","from":"*","to":"*","content":1}]"#,
        &expect![[r#"
            at /0/meta/a b: "a b" cannot be a key of metadata
            help: keys of metadata are identifiers, `^` and `%%`"#]],
    );
}

/// The pointer leads to the first bracket that is too many.
#[test]
fn depth_is_bounded() {
    for (levels, steps, message) in [
        (129, 129, "brackets and nested messages go deeper than 128 levels"),
        (5_000, 2_064, "deeper than 2064 levels of JSON"),
    ] {
        let content = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let error = decode(&format!(
            r#"{{"performative":"INF","from":"@a","to":"@b","content":{content}}}"#
        ))
        .unwrap_err();
        assert_eq!(error.message, message);
        assert_eq!(error.pointer.matches('/').count(), steps);
    }
}

/// What is counted in JSON must not become more AXON than anybody can hold.
#[test]
fn approximations_are_bounded() {
    let content = [r#"{"approx":true,"times":1048576}"#; 3].join(",");
    let json = format!(r#"{{"performative":"INF","from":"@a","to":"@b","content":[{content}]}}"#);
    let error = decode(&json).unwrap_err();
    assert_eq!(error.pointer, "/content/1");
    assert_eq!(error.message, "the document holds more than 1048576 approximations");
    for (times, is_encoded) in [(70_000, true), (1 << 20, true), ((1 << 20) + 1, false)] {
        let text = format!("INF(@a>@b): {}x", "~ ".repeat(times));
        let parsed = parse(&text);
        assert!(!parsed.has_errors());
        assert_eq!(encode(&parsed.tree).is_ok(), is_encoded, "{times}");
        if let Ok(json) = encode(&parsed.tree) {
            assert!(same(&parsed.tree, &parse(&decode(&json.to_string()).unwrap()).tree));
        }
    }
}

#[test]
fn what_decoding_refuses_the_schema_refuses() {
    let validator = validator();
    for content in [
        json!(1),
        json!({"num": "1e5"}),
        json!({"num": "1", "unit": "kb"}),
        json!({"a": 1}),
        json!({"name": "T"}),
        json!({"name": "a b"}),
        json!({"ref": "@a"}),
        json!({"ref": "a", "extra": null}),
        json!({"op": "==", "args": [null, null]}),
        json!({"op": "<", "args": [null, null, null]}),
        json!({"op": "&", "args": [null]}),
        json!({"approx": null, "times": 0}),
        json!({"call": "f"}),
        json!({"call": "f", "args": [{"arg": "a.b", "value": null}]}),
        json!({"meta": {"id": "x"}, "performative": "INF", "from": "@a", "to": "@b", "content": null}),
        json!({"performative": "inform", "from": "@a", "to": "@b", "content": null}),
        json!({"performative": "INF", "from": [], "to": "@b", "content": null}),
        json!({"performative": "INF", "from": "@a", "content": null}),
    ] {
        let message = json!({"performative": "INF", "from": "@a", "to": "@b", "content": content});
        let document = json!({"axon": 1, "messages": [message]});
        assert!(!validator.is_valid(&document), "{content}");
        // Plain numbers are the one thing that the decoder takes and the schema does not offer.
        assert_eq!(decode(&document.to_string()).is_ok(), content == json!(1), "{content}");
    }
}

/// The error names the first part that cannot be encoded.
#[test]
fn documents_with_errors_have_no_encoding() {
    let long = |last: &str| {
        let fields: String = (0..40).map(|at| format!("k{at}:_,")).collect();
        format!("INF(@a>@b): {{{fields}{last}}}")
    };
    for (text, part) in [
        ("INF(@a>@b): {a:1,a:2}", "a:2"),
        ("INF(@a>@b): {a:{b:1,b:2},a:3}", "b:2"),
        ("INF(@a>@b): {a:1,\"\\u{61}\":2}", "\"\\u{61}\":2"),
        ("[id:\"x\",id:\"y\"]INF(@a>@b): {a:1,a:2}", "id:\"y\""),
        (&long("k7:T"), "k7:T"),
        (&long("k39:T"), "k39:T"),
        ("INF(@a>@b): {1}", "1"),
        ("INF(@a>@b): [T,f(k:(a,b))]", "(a,b)"),
        ("INF(@a>@b): ~()", "()"),
        ("INF(@a>@b): 2025-03-01", "2025-03-01"),
        ("hello", "hello"),
    ] {
        let parsed = parse(text);
        assert!(parsed.has_errors());
        let error = encode(&parsed.tree).unwrap_err();
        assert_eq!(&text[error.span.range()], part, "{text}");
        assert_eq!(encoding(&parsed.tree).unwrap_err(), error, "{text}");
    }
}

/// Keeps nothing but the count of what it is given.
#[derive(Default)]
struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_chain_of_a_million_is_written_from_the_tree() {
    const MANY: usize = 1_000_000;
    for op in ["->", "<-", "&", "|"] {
        let text = format!("INF(@a>@b): _{}", format!("{op}_").repeat(MANY - 1));
        let parsed = parse(&text);
        let mut counter = Counter::default();
        serde_json::to_writer(&mut counter, &encoding(&parsed.tree).unwrap()).unwrap();
        let around = format!(
            r#"{{"axon":1,"messages":[{{"performative":"INF","from":"@a","to":"@b","content":{{"op":"{op}","args":[]}}}}]}}"#
        );
        assert_eq!(counter.0, around.len() + MANY * "null,".len() - 1);
    }
}

/// What is streamed is what the value says.
fn assert_streams(text: &str) {
    let parsed = parse(text);
    let (value, encoding) = (encode(&parsed.tree).unwrap(), encoding(&parsed.tree).unwrap());
    assert_eq!(serde_json::to_string(&encoding).unwrap(), value.to_string());
    assert_eq!(
        serde_json::to_string_pretty(&encoding).unwrap(),
        serde_json::to_string_pretty(&value).unwrap()
    );
}

#[test]
fn the_deepest_document_survives() {
    for (open, close) in [
        ("[", "]"),
        ("{k:", "}"),
        ("f(k:", ")"),
        ("a->REQ(@x>@y): ", ""),
        ("(1<-2->3&4|5<6..~", ")"),
        ("f(k:1<-2->3&4|5<6..~", ")"),
        ("#t{k:1<-2->3&4|5<6..~", "}"),
    ] {
        assert_laws(&format!("INF(@a>@b): {}z{}", open.repeat(128), close.repeat(128)));
    }
    let nested = format!("{}1{}", r#"{"op":"->","args":["#.repeat(900), ",2]}".repeat(900));
    let text =
        decode(&format!(r#"{{"performative":"INF","from":"*","to":"*","content":{nested}}}"#));
    assert_eq!(text.unwrap().matches("->").count(), 900);
}
