//! Random AXON documents, as text: every construct, odd spacing, comments in every gap, redundant
//! parentheses, keywords as names.
//!
//! A document is generated with marks in its gaps, and the marks are filled afterwards, so that one
//! document can be had with and without comments.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// Where white space and comments may stand.
const GAP: char = '\u{1}';
/// Where something must stand between two tokens that would merge.
const WIDE_GAP: char = '\u{2}';

/// The same 256 cases in every run; `PROPTEST_CASES` asks for more.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x5ab1_7000),
        ..ProptestConfig::default()
    }
}

/// Documents without comments.
pub(crate) fn plain_document() -> impl Strategy<Value = String> {
    let blank = select(vec!["", "", "", " ", "\n", "\t ", "\r\n  "]);
    (document(), vec(blank, 1..40)).prop_map(|(text, blanks)| fill(&text, &blanks))
}

/// Documents with comments, which never look like routing from anyone.
pub(crate) fn commented_document() -> impl Strategy<Value = String> {
    let trivia = select(vec![
        "",
        "",
        "",
        " ",
        "\n",
        "(**)",
        "(*c*)",
        " (* a (* nested *) one *) ",
        "(* two\nlines *)",
        "(* one *)(* two *)",
        "(* \"*)",
        "(* a comment that is long enough to make any group of a line break at its width *)",
    ]);
    (document(), vec(trivia, 1..40)).prop_map(|(text, trivia)| fill(&text, &trivia))
}

/// Documents with comments that would be routing behind a performative. Where they stand behind
/// one, the document is wrong; the caller filters.
pub(crate) fn trapping_document() -> impl Strategy<Value = String> {
    let trivia = select(vec!["", "", "", "", " ", "(*>*)", " (* > *)", "(*c*)(*>d*)", "(*e*)"]);
    (document(), vec(trivia, 1..40)).prop_map(|(text, trivia)| fill(&text, &trivia))
}

/// Tokens in no order. Few are AXON; those that are, nobody would think of.
pub(crate) fn token_soup() -> impl Strategy<Value = String> {
    let token = select(vec![
        "a",
        "ACC",
        "X.a.b",
        "T",
        "_",
        "a-",
        "1",
        "-1",
        "5%",
        "\"s\"",
        "@x",
        "$v",
        "#t",
        "(",
        ")",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "k:",
        ",",
        ":",
        "->",
        "<-",
        "&",
        "|",
        "<",
        ">",
        ">=",
        "=",
        "..",
        "~",
        "*",
        "(*c*)",
        "(*>d*)",
        "ACC(@x>@y): ",
        "ACC(*>@y): ",
        "\nINF(@a>@b): ",
        "\n[id:1]",
        " ",
        "\n",
    ]);
    vec(token, 1..14).prop_map(|tokens| format!("INF(@a>@b): {}", tokens.concat()))
}

fn fill(text: &str, trivia: &[&str]) -> String {
    let mut choices = trivia.iter().cycle();
    let mut out = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if c != GAP && c != WIDE_GAP {
            out.push(c);
            continue;
        }
        let choice = choices.next().copied().unwrap_or_default();
        out.push_str(if c == WIDE_GAP && choice.is_empty() { " " } else { choice });
    }
    out
}

fn document() -> impl Strategy<Value = String> {
    vec((proptest::option::of(meta()), message(expr())), 0..4).prop_map(|messages| {
        let mut out = GAP.to_string();
        for (meta, message) in messages {
            if let Some(meta) = meta {
                out.push_str(&meta);
                out.push(GAP);
            }
            out.push_str(&message);
            out.push('\n');
            out.push(GAP);
        }
        out
    })
}

fn meta() -> impl Strategy<Value = String> {
    let value = prop_oneof![leaf(), expr()];
    let keys = ["id", "%%", "^", "ts", "T", "INF", "_", "txn_id"];
    vec(value, 1..4).prop_flat_map(move |values| {
        Just(keys.to_vec()).prop_shuffle().prop_map(move |keys| {
            let fields = keys.iter().zip(&values);
            let fields: Vec<String> =
                fields.map(|(key, value)| format!("{key}{GAP}:{GAP}{value}")).collect();
            bracket("[", &fields, "]")
        })
    })
}

fn bracket(open: &str, elements: &[String], close: &str) -> String {
    let inner = elements.join(&format!("{GAP},{GAP}"));
    format!("{open}{GAP}{inner}{GAP}{close}")
}

fn message(content: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let word = select(vec!["INF", "ACC", "QRY", "X.trade.BID", "X.T.INF"]);
    (word, endpoint(), endpoint(), content).prop_map(|(word, from, to, content)| {
        // `(*` is routing only directly before white space and `>`, so a comment behind it needs
        // the brackets apart.
        let space = if from == "*" { " " } else { "" };
        format!("{word}({space}{GAP}{from}{WIDE_GAP}>{GAP}{to}{GAP}){GAP}:{GAP}{content}")
    })
}

fn endpoint() -> impl Strategy<Value = String> {
    let agent = select(vec!["@a", "@b.c", "@w-1", "@a-", "@_", "@T"]);
    prop_oneof![
        4 => agent.clone().prop_map(str::to_owned),
        1 => Just("*".to_owned()),
        1 => vec(agent.prop_map(str::to_owned), 1..4)
            .prop_map(|agents| bracket("[", &agents, "]")),
    ]
}

const NAMES: [&str; 18] = [
    "a",
    "b2",
    "load.peak",
    "a-b",
    "x_y",
    "T",
    "F",
    "INF",
    "ACC",
    "X",
    "X.a.b",
    "x._",
    "x.T",
    "INF.x",
    "T.x",
    "a-",
    "z--",
    "a_very_long_name_that_fills_lines",
];

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(NAMES.to_vec()),
        1 => select(vec!["_", "T", "F"]),
        2 => select(vec!["0", "-7", "1.50", "007", "99.7%", "-5ms", "4.2GB", "12345678901234567890"]),
        2 => select(vec![
            r#""""#,
            r#""a b""#,
            r#""\"q\" \\ \n\t""#,
            r#""\u{41}\u{7}""#,
            r#""(* no comment *)""#,
            "\"raw\ttab\nline\"",
            r#""é 日本""#,
            r#""a string that is long enough to break the line when two of its kind meet""#,
        ]),
        1 => select(vec!["@a", "@a.b", "@x-", "$v", "$v.w", "#t", "#ont.x.y", "@_", "#INF"]),
    ]
    .prop_map(str::to_owned)
}

/// Any expression. A nested message may end it, because a nested message takes all that follows.
pub(crate) fn expr() -> impl Strategy<Value = String> {
    leaf().prop_recursive(5, 60, 5, |inner| {
        let primary = primary(inner.clone()).boxed();
        let item = prop_oneof![
            4 => primary.clone(),
            1 => (primary.clone(), primary.clone())
                .prop_map(|(from, to)| format!("{from}{GAP}..{GAP}{to}")),
        ]
        .boxed();
        let comparison = select(vec!["<", ">", "<=", ">=", "!=", "="]);
        let item = prop_oneof![
            3 => item.clone(),
            1 => (item.clone(), comparison, item).prop_map(|(left, op, right)| {
                format!("{left}{WIDE_GAP}{op}{WIDE_GAP}{right}")
            }),
        ]
        .boxed();
        let op = select(vec!["->", "<-", "&", "|", "->", "<-"]);
        let chain = (item, vec((op, primary.clone()), 0..4)).prop_map(|(first, rest)| {
            rest.into_iter()
                .fold(first, |chain, (op, next)| format!("{chain}{GAP}{op}{WIDE_GAP}{next}"))
        });
        prop_oneof![
            3 => primary,
            4 => chain.clone(),
            1 => message(inner.clone()),
            1 => (chain, select(vec!["->", "<-", "&", "|"]), message(inner))
                .prop_map(|(chain, op, message)| format!("{chain}{GAP}{op}{GAP}{message}")),
        ]
    })
}

fn primary(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let list = vec(inner.clone(), 0..4);
    prop_oneof![
        4 => leaf(),
        2 => inner.clone().prop_map(|inner| format!("({GAP}{inner}{GAP})")),
        1 => inner.clone().prop_map(|inner| format!("(({GAP}{inner}){GAP})")),
        1 => (1usize..4, leaf()).prop_map(|(times, leaf)| {
            format!("{}{leaf}", format!("~{WIDE_GAP}").repeat(times))
        }),
        1 => inner.clone().prop_map(|inner| format!("~{GAP}({inner})")),
        1 => list.prop_map(|list| bracket("[", &list, "]")),
        2 => record(inner.clone()),
        1 => (select(vec!["#t", "#ont.temp"]), record(inner.clone()))
            .prop_map(|(tag, record)| format!("{tag}{GAP}{record}")),
        2 => call(inner),
    ]
}

fn record(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    vec((0usize..4, inner), 0..4).prop_map(|fields| {
        let field = |(index, (choice, value)): (usize, (usize, String))| {
            let special = ["_", "T", "INF", "\"\""];
            let key = match choice {
                0 if index < special.len() => special[index].to_owned(),
                1 => format!("\"k{index}\""),
                2 => format!("\"k\\n {index}\""),
                _ => format!("k{index}"),
            };
            format!("{key}{GAP}:{GAP}{value}")
        };
        let fields: Vec<String> = fields.into_iter().enumerate().map(field).collect();
        bracket("{", &fields, "}")
    })
}

fn call(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    // A performative whose first argument compares an agent would be a message; a name before it
    // keeps the call a call. The other case has its own tests.
    let args = vec((0usize..3, inner), 0..4);
    (select(NAMES.to_vec()), args).prop_map(|(name, args)| {
        let arg = |(index, (choice, value)): (usize, (usize, String))| match choice {
            0 => format!("arg{index}{GAP}:{GAP}{value}"),
            _ => value,
        };
        let mut args: Vec<String> = args.into_iter().enumerate().map(arg).collect();
        if matches!(name, "INF" | "ACC" | "X.a.b") {
            args.insert(0, "first".to_owned());
        }
        format!("{name}{}", bracket("(", &args, ")"))
    })
}
