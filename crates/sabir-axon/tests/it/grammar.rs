//! The exported grammars, each run by a program that reads its text: Lark by llguidance itself,
//! GBNF and EBNF by small interpreters that live next to this file.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data must fail")]

mod ebnf;
mod gbnf;
mod lark;

use expect_test::expect_file;
use sabir_axon::grammar::{AgentName, BadAgentName, Format, Options, export};
use sabir_axon::{Performative, Tier};
use sabir_testkit::{Case, cases, shared_corpus};

/// llama.cpp keeps one stack per reading that is still open. A grammar in which readings stay open
/// inside brackets needs twice as many with every level; this one must not. Most of these stacks wait
/// for the first letter of some performative.
const MAX_STACKS: usize = 100;

#[test]
fn snapshots() {
    let options = Options::default();
    expect_file!["../data/grammar/snapshots/axon.ebnf"].assert_eq(&export(Format::Ebnf, &options));
    expect_file!["../data/grammar/snapshots/axon.lark"].assert_eq(&export(Format::Lark, &options));
    expect_file!["../data/grammar/snapshots/axon.gbnf"].assert_eq(&export(Format::Gbnf, &options));
}

#[test]
fn lark_accepts_what_is_valid_and_nothing_else() {
    check_cases(&Recognizer::new(Format::Lark, &Options::default()));
}

#[test]
fn gbnf_accepts_what_is_valid_and_nothing_else() {
    check_cases(&Recognizer::new(Format::Gbnf, &Options::default()));
}

#[test]
fn ebnf_accepts_what_is_valid_and_nothing_else() {
    check_cases(&Recognizer::new(Format::Ebnf, &Options::default()));
}

/// With generous depth the unrolled grammar says the same as the recursive one.
#[test]
fn unrolling_changes_nothing_but_the_depth() {
    let options = Options { max_depth: Some(24), ..Options::default() };
    check_cases(&Recognizer::new(Format::Lark, &options));
    check_cases(&Recognizer::new(Format::Gbnf, &options));
}

#[test]
fn gbnf_rule_names_have_no_underscore() {
    for options in [Options::default(), Options { max_depth: Some(2), ..Options::default() }] {
        let text = export(Format::Gbnf, &options);
        assert!(text.contains("\nroot ::= "));
        for name in text.lines().filter_map(|line| line.split_once(" ::=")).map(|(name, _)| name) {
            let plain =
                name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            assert!(plain && name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        }
    }
}

#[test]
fn gbnf_needs_few_stacks_in_deep_nesting() {
    let gbnf = gbnf::Machine::new(&export(Format::Gbnf, &Options::default()));
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("{k:", "}"),
        ("#t{k:", "}"),
        ("ACC(", ")"),
        ("ACC([", "])"),
        ("X.a.b(", ")"),
        ("REQ(@a>@b): ", ""),
        ("x->(a<-(", "))"),
        ("~(", ")"),
        ("(a->b->", ")"),
        ("(x<-5..", ")"),
        ("(a<-b- ->", ")"),
        ("f(k<-", ")"),
    ] {
        let text = format!("INF(@a>@b): {}x{}", open.repeat(20), close.repeat(20));
        let run = gbnf.run(&text);
        assert!(run.accepted, "{text}");
        assert!(run.most_stacks <= MAX_STACKS, "{open}: {} stacks", run.most_stacks);
    }
}

#[test]
fn performatives_can_be_chosen() {
    let options = Options {
        performatives: vec![Performative::Inf, Performative::Rpl],
        extensions: false,
        ..Options::default()
    };
    check(
        &options,
        &["INF(@a>@b): x", "RPL(@a>@b): INF(@c>@d): x", "INF(@a>@b): [CMD, CMD(1), X.a.b(@x>@y)]"],
        &[
            "CMD(@a>@b): x",
            "INF(@a>@b): CMD(@a>@b): x",
            "INF(@a>@b): CMD(@a>@b)",
            "X.a.b(@a>@b): x",
            "INF(@a>@b): f(X.a.b(@a>@b): x)",
        ],
    );
    let options = Options { extensions: true, ..options };
    check(&options, &["X.a.b(@a>@b): x", "INF(@a>@b): x"], &["CMD(@a>@b): x"]);
}

#[test]
fn agents_can_be_known() {
    let agents = ["web", "web-2", "ops.db", "odd-"].map(|name| AgentName::new(name).unwrap());
    check(
        &Options { agents: agents.into(), ..Options::default() },
        &[
            "INF(@web>@web-2): @anyone",
            "INF(@ops.db>[@web, @odd-]): x",
            "INF(@odd- >*): x",
            "INF(*>@web): f(REQ(@web-2>@odd-): x)",
        ],
        &[
            "INF(@web>@other): x",
            "INF(@we>@web): x",
            "INF(@webs>@web): x",
            "INF(@ops>@web): x",
            "INF(@odd->@web): x",
            "INF(@web->@web): x",
            "INF(@web>[@web, @other]): x",
            "INF(@web>@web-2): REQ(@other>@web): x",
        ],
    );
    assert_eq!(AgentName::new("a b"), Err(BadAgentName { name: "a b".to_owned() }));
}

#[test]
fn tier_one_template() {
    check(
        &Options { tier: Some(Tier::One), ..Options::default() },
        &[
            "[id:\"m1\",%%:1]INF(@a>@b): x",
            "[id:\"m1\", %%:1]\nINF(@a>@b): REQ(@b>@c): x",
            "[id:\"m1\",%%:1,re:\"m0\",ts:1750000000,ctx:\"c\",ttl:30,^:5]INF(@a>@b): x",
        ],
        &[
            "INF(@a>@b): x",
            "[%%:1]INF(@a>@b): x",
            "[id:\"m1\"]INF(@a>@b): x",
            "[%%:1,id:\"m1\"]INF(@a>@b): x",
            "[id:\"\",%%:1]INF(@a>@b): x",
            "[id:m1,%%:1]INF(@a>@b): x",
            "[id:\"m1\",%%:0]INF(@a>@b): x",
            "[id:\"m1\",%%:1.5]INF(@a>@b): x",
            "[id:\"m1\",%%:1s]INF(@a>@b): x",
            "[id:\"m1\",%%:1,^:6]INF(@a>@b): x",
            "[id:\"m1\",%%:1,id:\"m2\"]INF(@a>@b): x",
            "[id:\"m1\",%%:1]INF(@a>@b): x\nINF(@a>@b): y",
        ],
    );
}

#[test]
fn tier_two_template() {
    check(
        &Options { tier: Some(Tier::Two), ..Options::default() },
        &[
            "[id:\"m2\",%%:1,re:\"m1\",ts:1750000000,ctx:\"c\"]RPL(@a>@b): x",
            "[id:\"m2\",%%:1,ts:1750000000,ctx:\"c\"]QRY(@a>@b): x",
            "[id:\"m2\",%%:1,ts:1,ctx:\"c\",sig:\"s\",authz:\"r\"]QRY(@a>@b): x",
        ],
        &[
            "[id:\"m1\",%%:1]INF(@a>@b): x",
            "[id:\"m2\",%%:1,re:\"m1\",ctx:\"c\"]RPL(@a>@b): x",
            "[id:\"m2\",%%:1,ts:\"1\",ctx:\"c\"]RPL(@a>@b): x",
            "[id:\"m2\",%%:1,ts:1]RPL(@a>@b): x",
            "[id:\"m2\",%%:1,ts:1,ctx:\"c\",tenant:\"t\"]RPL(@a>@b): x",
        ],
    );
}

#[test]
fn tier_three_template() {
    let full = "[id:\"m3\",%%:1,re:\"m2\",ts:1,ctx:\"c\",sig:\"s\",authz:\"r\",tenant:\"t\",err_ns:\"e\"]\
                CMD(@a>@b): x";
    check(
        &Options { tier: Some(Tier::Three), ..Options::default() },
        &[full, &full.replace("re:\"m2\",", ""), &full.replace("sig", "ttl:9,^:0,sig")],
        &[
            &full.replace(",err_ns:\"e\"", ""),
            &full.replace(",sig:\"s\"", ""),
            &full.replace(",tenant:\"t\"", ""),
            "[id:\"m2\",%%:1,ts:1,ctx:\"c\"]QRY(@a>@b): x",
        ],
    );
}

#[test]
fn depth_can_be_bounded() {
    check(
        &Options { max_depth: Some(3), ..Options::default() },
        &[
            "INF(@a>@b): [[[x]]]",
            "INF(@a>[@b]): {a:f((x))}",
            "INF(@a>@b): #t{a:#u{b:#v{}}}",
            "INF(@a>@b): REQ(@a>@b): REQ(@a>@b): REQ(@a>@b): x",
            "INF(@a>@b): ACC([[x]])",
            "INF(@a>@b): [[[]]] -> [[[]]] -> ~ ~ ~ ~x",
            "[k:[[[x]]]]INF(@a>@b): x",
        ],
        &[
            "INF(@a>@b): [[[[x]]]]",
            "INF(@a>@b): [[[[]]]]",
            "INF(@a>@b): f(f(f(f())))",
            "INF(@a>@b): #t{a:#u{b:#v{c:#w{}}}}",
            "INF(@a>@b): REQ(@a>@b): [[[x]]]",
            "INF(@a>@b): ACC([[[x]]])",
            "[k:[[[[x]]]]]INF(@a>@b): x",
        ],
    );
    check(
        &Options { max_depth: Some(0), ..Options::default() },
        &["INF(@a>[@b, @c]): x -> 5% < ~y"],
        &["INF(@a>@b): []", "INF(@a>@b): (x)", "INF(@a>@b): f()", "INF(@a>@b): INF(@a>@b): x"],
    );
}

/// Unrolling writes each level once, so that the size is a straight line over the depth.
#[test]
fn size_grows_by_the_level() {
    for format in [Format::Ebnf, Format::Lark, Format::Gbnf] {
        let size =
            |depth| export(format, &Options { max_depth: Some(depth), ..Options::default() }).len();
        let (four, eight, sixteen) = (size(4), size(8), size(16));
        let per_level = (eight - four) / 4;
        assert!((sixteen - eight) / 8 <= per_level + per_level / 4, "{four} {eight} {sixteen}");
        assert!(per_level < 8_000, "{per_level} bytes for one level");
    }
}

/// Small changes to the cases: a lexer that takes the longest match (Lark) and interpreters without
/// any lexer must still say the same about each.
#[test]
fn the_three_exports_agree_on_near_misses() {
    let grammars = [Format::Ebnf, Format::Lark, Format::Gbnf]
        .map(|format| Recognizer::new(format, &Options::default()));
    let pieces: Vec<&str> = PIECES.split(' ').chain([" ", "\n", "\t"]).collect();
    let mut random = Random(0x5ab1);
    let mut accepted = 0;
    for Case { name, text, .. } in cases("tests/data/ok").into_iter().chain(cases("tests/data/err"))
    {
        let text: Vec<char> = text.chars().collect();
        if text.len() > 120 {
            continue;
        }
        for _ in 0..NEAR_MISSES {
            let mut changed = text.clone();
            for _ in 0..=random.below(2) {
                let from = random.below(changed.len() + 1);
                let to = (from + random.below(3)).min(changed.len());
                let piece = pieces[random.below(pieces.len())];
                let piece = if random.below(3) == 0 { "" } else { piece };
                changed.splice(from..to, piece.chars());
            }
            let changed: String = changed.into_iter().collect();
            let [ebnf, lark, gbnf] = grammars.each_ref().map(|grammar| grammar.accepts(&changed));
            assert!(
                ebnf == lark && lark == gbnf,
                "ebnf {ebnf}, lark {lark}, gbnf {gbnf}: {changed:?} (from {name})"
            );
            accepted += usize::from(ebnf);
        }
    }
    assert!(accepted > 200, "only {accepted} of the changed messages are valid: a weak test");
}

/// What models really wrote, if the collection is there: it is not part of the repository.
#[test]
fn messages_written_by_models() {
    let Some(lines) = shared_corpus("axon-llm-written.jsonl") else { return };
    let lark = Recognizer::new(Format::Lark, &Options::default());
    let gbnf = Recognizer::new(Format::Gbnf, &Options::default());
    let mut refused = Vec::new();
    let mut valid = 0;
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = row["text"].as_str().unwrap();
        let accepted = lark.accepts(text);
        assert_eq!(accepted, gbnf.accepts(text), "Lark and GBNF disagree: {text}");
        // Comments and raw line breaks in strings are for the parser, not for a model's decoder.
        if row["reference_accepts"] == true && !text.contains("(*") {
            valid += 1;
            if !accepted {
                refused.push(text.to_owned());
            }
        }
    }
    eprintln!("{} of {valid} accepted", valid - refused.len());
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n---\n"));
}

/// Per case, so that all take about a second. Raise it after a change to the table.
const NEAR_MISSES: usize = 12;

/// What to splice in: every token and everything that looks like one.
const PIECES: &str = "- -- -> > >= < <- <= = == != ! & && | || ~ ~~ ^ %% % . .. ... : , ; ( ) [ ] { } \
                      @ @x @x- # #t $ $v _ a a- T F INF REQ( X X.a.b ACC(@x 0 -1 5 1.5 5s 5% ms \\ \
                      \" \"s\" é (* *) * INF(@a>@b): REQ(@x>@y):";

/// A small generator with a fixed seed, so that a failure comes back.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A grammar, read back from its text.
enum Recognizer {
    Ebnf(ebnf::Grammar),
    Lark(Box<lark::Grammar>),
    Gbnf(gbnf::Machine),
}

impl Recognizer {
    fn new(format: Format, options: &Options) -> Self {
        let text = export(format, options);
        match format {
            Format::Ebnf => Self::Ebnf(ebnf::Grammar::new(&text)),
            Format::Lark => Self::Lark(Box::new(lark::Grammar::new(&text))),
            Format::Gbnf => Self::Gbnf(gbnf::Machine::new(&text)),
        }
    }

    fn accepts(&self, text: &str) -> bool {
        match self {
            Self::Ebnf(grammar) => grammar.accepts(text),
            Self::Lark(grammar) => grammar.accepts(text),
            Self::Gbnf(machine) => {
                let run = machine.run(text);
                assert!(run.most_stacks <= MAX_STACKS, "{} stacks: {text}", run.most_stacks);
                run.accepted
            }
        }
    }
}

/// All three exports accept every one of `ok` and none of `err`.
fn check(options: &Options, ok: &[&str], err: &[&str]) {
    for format in [Format::Ebnf, Format::Lark, Format::Gbnf] {
        let grammar = Recognizer::new(format, options);
        for text in ok {
            assert!(grammar.accepts(text), "{format:?} refuses {text}");
        }
        for text in err {
            assert!(!grammar.accepts(text), "{format:?} accepts {text}");
        }
    }
}

fn check_cases(grammar: &Recognizer) {
    let refused: Vec<_> =
        cases("tests/data/ok").into_iter().filter(|case| !grammar.accepts(&case.text)).collect();
    // A decoder has no use for what the parser forgives: raw control characters, a byte order mark.
    let invalid = cases("tests/data/err").into_iter().chain(cases("tests/data/grammar/stricter"));
    let let_through: Vec<_> = invalid.filter(|case| grammar.accepts(&case.text)).collect();
    assert!(
        refused.is_empty() && let_through.is_empty(),
        "refused: {refused:#?}\nlet through: {let_through:#?}"
    );
}
