//! Random LLMX documents, as text: every block, in and out of the strict form, but without errors.
//!
//! This file needs nothing but proptest, so that the tests of other crates can include it. A
//! document is generated with marks in its gaps, and the marks are filled with white space
//! afterwards.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// Where white space may stand.
const GAP: char = '\u{e000}';

/// The same 256 cases in every run; `PROPTEST_CASES` asks for more.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x5ab1_7001),
        ..ProptestConfig::default()
    }
}

/// Documents of at least one message in which nothing is an error, though much earns a warning.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let blank = select(vec!["", "", "", "", " ", "\n", "\t ", "\r\n  "]);
    let mark = select(vec!["", "", "", "", "\u{feff}"]);
    (mark, vec(message(), 1..4), vec(blank, 1..40)).prop_map(|(mark, messages, blanks)| {
        let mut choices = blanks.iter().cycle();
        let mut out = mark.to_owned();
        for c in messages.concat().chars() {
            match c {
                GAP => out.push_str(choices.next().copied().unwrap_or_default()),
                _ => out.push(c),
            }
        }
        out
    })
}

/// Pieces of the notation in no order: few are documents, and those nobody would think of.
pub(crate) fn token_soup() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "HEADER:{f:a,t:b,s:1}",
        "\nHEADER:{",
        "\nREQ:{",
        "\nPLAN:[",
        "PLAN:[(i:1,t:\"x\",s:P)]",
        "\nOBS:{s:ERR",
        "\nOBS:{s:OK,c:{}",
        "\nX_A:{",
        "\nCUSTOM:[",
        "x_a:",
        "req:{",
        "o:",
        "pr:1",
        "\"k\":",
        "K:",
        "7:",
        "a b:",
        "b?:",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ",",
        ":",
        "\"",
        "\"text\"",
        "\"\\",
        "\\u12",
        "'a'",
        "“a”",
        "word",
        "a/b.c",
        "P|I",
        "-",
        "08",
        "1e3",
        "true",
        "null",
        "é",
        "\u{0}",
        "\n",
        " ",
        "```",
    ]);
    vec(pieces, 0..20).prop_map(|pieces| pieces.concat())
}

/// Documents in which a few characters are lost or put in. Some are still without errors.
pub(crate) fn damaged_document() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "", "", "", "{", "}", "[", "]", "(", ")", ",", ":", "\"", "\\", "'", "|", "?", " ", "\n",
        "x", "X_", "1", "-", "é", "\u{0}", "null", "\nREQ:{", "a b",
    ]);
    let damage = (any::<prop::sample::Index>(), 0usize..3, piece);
    (document(), vec(damage, 1..4)).prop_map(|(text, damages)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, lost, piece) in damages {
            let at = at.index(chars.len() + 1);
            let end = (at + lost).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

fn message() -> impl Strategy<Value = String> {
    let between = select(vec!["\n", "\n", "\n", "\r\n", "", " ", "\n\n\t"]);
    (header(), vec((between, block()), 0..6)).prop_map(|(header, blocks)| {
        let blocks: String =
            blocks.into_iter().map(|(between, block)| format!("{between}{block}")).collect();
        format!("{header}{blocks}\n")
    })
}

fn header() -> BoxedStrategy<String> {
    let receiver = prop_oneof![
        3 => name(),
        1 => Just("ALL".to_owned()),
        1 => vec(name(), 1..4).prop_map(|names| bracket("[", &names, "]")),
    ];
    let sequence = select(vec!["0", "1", "42", "9007199254740991"]).prop_map(str::to_owned);
    let fields = [
        required("f", name()),
        required("t", receiver),
        required("s", sequence),
        optional("b", name()),
    ];
    object_block("HEADER", fields.to_vec())
}

fn block() -> impl Strategy<Value = String> {
    let ctx = [
        required("p", name()),
        optional("f", paths()),
        optional("st", object()),
        optional("issue", text()),
    ];
    let req = [
        required("o", text()),
        required("pr", select(vec!["1", "2", "5"]).prop_map(str::to_owned)),
        optional("d", texts()),
        optional("exp", texts()),
    ];
    let operation = prop_oneof![
        3 => select(vec!["read", "write", "edit", "shell", "search", "spawn", "\"read\""])
            .prop_map(str::to_owned),
        1 => name(),
    ];
    let act = [
        optional("i", name()),
        required("op", operation),
        required("tgt", path()),
        optional("args", object()),
    ];
    let ok = [
        optional("ai", name()),
        required("s", select(vec!["OK", "\"OK\"", "\"\\u004fK\""]).prop_map(str::to_owned)),
        required("c", object()),
        optional("e", text()),
    ];
    let failed = [
        optional("ai", name()),
        required("s", select(vec!["ERR", "\"ERR\""]).prop_map(str::to_owned)),
        optional("c", prop_oneof![Just("{}".to_owned()), object()]),
        optional("e", text()),
    ];
    let boolean = select(vec!["true", "false"]).prop_map(str::to_owned);
    let blk = [required("w", text()), required("a", texts()), optional("esc", boolean)];
    let ask = [required("q", text()), required("o", texts()), optional("def", text())];
    let end = [
        required("n", text()),
        optional("t", texts()),
        optional("r", texts()),
        required("del", paths()),
    ];
    let res = [required("o", text()), optional("msg", text())];
    prop_oneof![
        object_block("CTX", ctx.to_vec()),
        object_block("REQ", req.to_vec()),
        plan(),
        object_block("ACT", act.to_vec()),
        object_block("OBS", ok.to_vec()),
        object_block("OBS", failed.to_vec()),
        object_block("BLK", blk.to_vec()),
        object_block("ASK", ask.to_vec()),
        object_block("END", end.to_vec()),
        object_block("RES", res.to_vec()),
        foreign_block(),
    ]
}

fn plan() -> impl Strategy<Value = String> {
    let status = || select(vec!["P", "I", "C", "X", "\"P\""]).prop_map(str::to_owned);
    let step = |open: &'static str, close: &'static str| {
        let id = prop_oneof![number(), name()];
        let fields = vec![required("i", id), required("t", text()), required("s", status())];
        fields_of(fields).prop_map(move |fields| bracket(open, &fields, close))
    };
    let item = prop_oneof![
        6 => step("(", ")"),
        2 => step("{", "}"),
        1 => Just("null".to_owned()),
    ];
    vec(item, 0..5).prop_map(|steps| format!("PLAN{GAP}:{GAP}{}", bracket("[", &steps, "]")))
}

/// Extensions, and blocks that nobody knows.
fn foreign_block() -> impl Strategy<Value = String> {
    let word = select(vec!["X_METRICS", "X_A1", "X_REQ", "X__", "CUSTOM", "X", "REQUEST", "Q_1"]);
    let body = prop_oneof![
        verbatim_object(),
        vec(verbatim(), 0..4).prop_map(|items| bracket("[", &items, "]")),
    ];
    (word, body).prop_map(|(word, body)| format!("{word}{GAP}:{GAP}{body}"))
}

type Fields = Vec<(&'static str, BoxedStrategy<Option<String>>)>;
type FieldStrategy = (&'static str, BoxedStrategy<Option<String>>);

fn required(key: &'static str, value: impl Strategy<Value = String> + 'static) -> FieldStrategy {
    (key, value.prop_map(Some).boxed())
}

/// Absent, there, or `null`, which is absent too.
fn optional(key: &'static str, value: impl Strategy<Value = String> + 'static) -> FieldStrategy {
    let value = prop_oneof![
        4 => value.prop_map(Some),
        4 => Just(None),
        1 => Just(Some("null".to_owned())),
    ];
    (key, value.boxed())
}

fn object_block(word: &'static str, fields: Fields) -> BoxedStrategy<String> {
    fields_of(fields)
        .prop_map(move |fields| format!("{word}{GAP}:{GAP}{}", bracket("{", &fields, "}")))
        .boxed()
}

/// Known fields, extensions and unknown ones, in any order, with keys in any dress.
fn fields_of(fields: Fields) -> BoxedStrategy<Vec<String>> {
    let known: Vec<_> = fields
        .into_iter()
        .map(|(key, value)| {
            (dressed(key), value)
                .prop_map(|(key, value)| Some(format!("{key}{GAP}:{GAP}{}", value?)))
                .boxed()
        })
        .collect();
    let extension = |key: &'static str| {
        let written = select(vec![key.to_owned(), key.to_owned(), format!("\"{key}\"")]);
        option::weighted(0.1, (written, verbatim()))
            .prop_map(|field| field.map(|(key, value)| format!("{key}{GAP}:{GAP}{value}")))
    };
    let unknown = option::weighted(0.1, (dressed("zzz"), value()))
        .prop_map(|field| field.map(|(key, value)| format!("{key}{GAP}:{GAP}{value}")));
    let extra =
        (extension("x_v"), extension("x_re"), extension("x_Team"), extension("x_c"), unknown)
            .prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e]);
    (known, extra)
        .prop_map(|(known, extra)| known.into_iter().chain(extra).flatten().collect::<Vec<_>>())
        .prop_shuffle()
        .boxed()
}

/// A key as it is, or in capitals, or in quotes.
fn dressed(key: &'static str) -> impl Strategy<Value = String> {
    let upper = key.to_ascii_uppercase();
    let plain = key.to_owned();
    select(vec![
        plain.clone(),
        plain.clone(),
        plain.clone(),
        plain.clone(),
        plain.clone(),
        plain.clone(),
        upper,
        format!("\"{plain}\""),
    ])
}

fn bracket(open: &str, elements: &[String], close: &str) -> String {
    let inner = elements.join(&format!("{GAP},{GAP}"));
    format!("{open}{GAP}{inner}{GAP}{close}")
}

/// A name that is not empty.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(vec!["Claude", "A1", "B-2", "_", "x_y", "P", "OK", "myapp", "TRUE", "HEADER"])
            .prop_map(str::to_owned),
        2 => select(vec![r#""Claude""#, r#""two words""#, r#""1""#, r#""true""#, r#""null""#])
            .prop_map(str::to_owned),
        1 => odd_text(1).prop_map(|text| quoted(&text)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(vec![
            r#""implement user authentication""#,
            r#""p:src/auth.ts#L42""#,
            r#""""#,
            r#""\"q\" \\ \/ \b\f\n\r\t \u0041\ud83d\ude00""#,
            r#""HEADER:{f:a,t:b,s:1}""#,
            r#""a,b:{c}[d](e)""#,
            r#""+endpoint ~db -x ?ok !now *all @ref""#,
        ])
        .prop_map(str::to_owned),
        1 => select(vec!["fix", "A1", "_"]).prop_map(str::to_owned),
        1 => Just("\"raw\ttab\n line\u{7f}\u{0}\"".to_owned()),
        2 => odd_text(0).prop_map(|text| quoted(&text)),
    ]
}

/// Paths that stay under the root.
fn path() -> impl Strategy<Value = String> {
    let paths = [
        "src",
        "\"src/api.ts\"",
        "src/db.ts",
        "\"p:src/auth.ts#L42\"",
        "\"p:a/../b.rs#L10-25\"",
        "\"p:docs/read me.md\"",
        "\".\"",
        "\"tests/*.rs\"",
        "\"r\\u00e9sum\\u00e9/\"",
    ];
    select(paths.to_vec()).prop_map(str::to_owned)
}

fn paths() -> impl Strategy<Value = String> {
    vec(path(), 0..4).prop_map(|paths| bracket("[", &paths, "]"))
}

fn texts() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        8 => text(),
        1 => Just("src/api.ts".to_owned()),
        1 => Just("^/x#L1-2".to_owned()),
        1 => Just("null".to_owned()),
    ];
    vec(item, 0..4).prop_map(|items| bracket("[", &items, "]"))
}

fn odd_text(at_least: usize) -> impl Strategy<Value = String> {
    let character = prop_oneof![
        6 => proptest::char::range(' ', '~'),
        1 => proptest::char::range('\u{0}', '\u{1f}'),
        1 => select(vec!['"', '\\', '\u{7f}', '\u{80}', '\u{2028}', '\u{feff}', '\u{fffd}']),
        2 => any::<char>(),
    ];
    vec(character, at_least..12)
        .prop_map(|text| text.into_iter().filter(|&c| c != GAP).collect::<String>())
        .prop_filter("too short", move |text| text.chars().count() >= at_least)
}

/// As a string literal.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(vec![
            "0", "-0", "1", "1.50", "-7.25", "1e3", "1E+3", "2e-400", "0.0", "1e999",
            "12345678901234567890123", "9007199254740993", "-0.0", "5e-324",
        ])
        .prop_map(str::to_owned),
        1 => any::<i64>().prop_map(|number| number.to_string()),
    ]
}

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => text(),
        2 => number(),
        1 => select(vec!["true", "false", "null"]).prop_map(str::to_owned),
    ]
}

/// Any value inside a standard block. Keys are told apart in any case.
fn value() -> BoxedStrategy<String> {
    leaf()
        .prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                2 => vec(inner.clone(), 0..4).prop_map(|items| bracket("[", &items, "]")),
                3 => object_of(inner.clone(), "{", "}"),
                1 => object_of(inner, "(", ")"),
            ]
        })
        .boxed()
}

fn object() -> BoxedStrategy<String> {
    object_of(value(), "{", "}").boxed()
}

fn object_of(
    value: impl Strategy<Value = String>,
    open: &'static str,
    close: &'static str,
) -> impl Strategy<Value = String> {
    vec((0usize..8, value), 0..4).prop_map(move |fields| {
        let field = |(index, (choice, value)): (usize, (usize, String))| {
            let key = match choice {
                0 => format!("Key{index}"),
                1 => format!("\"k_{index}\""),
                2 => format!("x_Own{index}"),
                3 => format!("{index}_"),
                _ => format!("k{index}"),
            };
            format!("{key}{GAP}:{GAP}{value}")
        };
        let fields: Vec<String> = fields.into_iter().enumerate().map(field).collect();
        bracket(open, &fields, close)
    })
}

/// Any value inside an extension, where nothing is normalised.
fn verbatim() -> BoxedStrategy<String> {
    let leaf = prop_oneof![6 => leaf(), 1 => Just("a/b".to_owned())];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| bracket("[", &items, "]")),
            verbatim_object_of(inner.clone(), "{", "}"),
            verbatim_object_of(inner, "(", ")"),
        ]
    })
    .boxed()
}

fn verbatim_object() -> impl Strategy<Value = String> {
    verbatim_object_of(verbatim(), "{", "}")
}

fn verbatim_object_of(
    value: impl Strategy<Value = String>,
    open: &'static str,
    close: &'static str,
) -> impl Strategy<Value = String> {
    // A type of block in capitals would start a block behind a line feed.
    let keys = ["a", "A", "Cpu", "x_b", "_", "9", "aB", "Header"];
    vec(value, 0..5).prop_flat_map(move |values| {
        Just(keys.to_vec()).prop_shuffle().prop_map(move |keys| {
            let fields = keys.iter().zip(&values);
            let fields: Vec<String> =
                fields.map(|(key, value)| format!("{key}{GAP}:{GAP}{value}")).collect();
            bracket(open, &fields, close)
        })
    })
}
