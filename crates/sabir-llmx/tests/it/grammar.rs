//! The exported grammars, each run by a program that reads its text: Lark by llguidance itself,
//! GBNF and EBNF by the small interpreters that AXON's grammars are tested with.

#[path = "../../../sabir-axon/tests/it/grammar/ebnf.rs"]
mod ebnf;
#[path = "../../../sabir-axon/tests/it/grammar/gbnf.rs"]
mod gbnf;
#[path = "../../../sabir-axon/tests/it/grammar/lark.rs"]
mod lark;
mod strict;
mod walk;

use expect_test::expect_file;
use sabir_llmx::grammar::{Format, Options, export};
use sabir_llmx::{BlockKind, check_messages, codes, parse, print};
use sabir_testkit::cases;

use self::strict::Random;

/// llama.cpp keeps one stack per reading that is still open. Most of these wait for the first letter
/// of some block.
const MAX_STACKS: usize = 100;

#[test]
fn snapshots() {
    let options = Options::default();
    expect_file!["../data/grammar/snapshots/llmx.ebnf"].assert_eq(&export(Format::Ebnf, &options));
    expect_file!["../data/grammar/snapshots/llmx.lark"].assert_eq(&export(Format::Lark, &options));
    expect_file!["../data/grammar/snapshots/llmx.gbnf"].assert_eq(&export(Format::Gbnf, &options));
    let options = narrow();
    expect_file!["../data/grammar/snapshots/narrow.ebnf"]
        .assert_eq(&export(Format::Ebnf, &options));
    expect_file!["../data/grammar/snapshots/narrow.lark"]
        .assert_eq(&export(Format::Lark, &options));
    expect_file!["../data/grammar/snapshots/narrow.gbnf"]
        .assert_eq(&export(Format::Gbnf, &options));
}

/// An agent that reports what it did.
fn narrow() -> Options {
    Options {
        blocks: vec![BlockKind::Obs, BlockKind::Plan],
        agents: ["Claude", "Claude-2", "the boss"].map(str::to_owned).into(),
        extensions: false,
        max_depth: Some(1),
        single_message: true,
    }
}

#[test]
fn strict_documents_are_accepted() {
    let grammars = all(&Options::default());
    let mut random = Random(0x11a3);
    for _ in 0..DOCUMENTS {
        let text = strict::document(&mut random);
        let found: Vec<_> = check_messages(&text).diagnostics;
        let is_fine = found.iter().all(|it| beyond_grammar(it.code) || is_path(it.code));
        assert!(is_fine, "{text}\n{found:?}");
        assert_eq!(print(&parse(&text).tree), text, "the generator is not strict");
        for grammar in &grammars {
            assert!(grammar.accepts(&text), "{} refuses {text}", grammar.name());
        }
    }
}

/// What is accepted has nothing wrong with it, whatever was changed; and the three agree.
#[test]
fn near_misses_are_refused_where_the_parser_speaks() {
    let grammars = all(&Options::default());
    let mut random = Random(0x5ab1);
    let mut accepted = 0;
    for _ in 0..NEAR_MISSES {
        let text: Vec<char> = strict::message(&mut random).chars().collect();
        let mut changed = text.clone();
        for _ in 0..=random.below(2) {
            let from = random.below(changed.len() + 1);
            let to = (from + random.below(3)).min(changed.len());
            let piece = if random.below(3) == 0 { "" } else { random.choose(PIECES) };
            changed.splice(from..to, piece.chars());
        }
        let changed: String = changed.into_iter().collect();
        let [ebnf, lark, gbnf] = grammars.each_ref().map(|grammar| grammar.accepts(&changed));
        assert!(ebnf == lark && lark == gbnf, "ebnf {ebnf}, lark {lark}, gbnf {gbnf}: {changed:?}");
        accepted += usize::from(ebnf);
        let found = check_messages(&changed).diagnostics;
        let is_fine = found.iter().all(|it| beyond_grammar(it.code) || is_path(it.code));
        assert!(is_fine || !ebnf, "accepted: {changed:?}\n{found:?}");
    }
    assert!(
        accepted > NEAR_MISSES / 20,
        "only {accepted} changed documents are valid: a weak test"
    );
}

/// Whatever a model writes under the grammar, the parser has nothing to say about it.
#[test]
fn random_walks_have_no_diagnostics() {
    for options in [Options::default(), narrow()] {
        let grammar = walk::Walker::new(&export(Format::Lark, &options));
        let mut random = Random(7);
        for _ in 0..WALKS {
            let text = grammar.walk(&mut random);
            let found = parse(&text).diagnostics;
            assert!(found.iter().all(|it| beyond_grammar(it.code)), "{text}\n{found:?}");
            let found = check_messages(&text).diagnostics;
            assert!(
                found.iter().all(|it| beyond_grammar(it.code) || is_path(it.code)),
                "{text}\n{found:?}"
            );
        }
    }
}

/// Cases in which nothing is wrong are accepted once their fields are in order, which is for the
/// cases themselves to be; the others are refused.
#[test]
fn cases_that_speak_are_refused() {
    let grammars = all(&Options::default());
    for case in cases("tests/data/err") {
        let found = check_messages(&case.text).diagnostics;
        if found.iter().all(|it| beyond_grammar(it.code) || is_path(it.code)) {
            continue;
        }
        for grammar in &grammars {
            assert!(!grammar.accepts(&case.text), "{} accepts {}", grammar.name(), case.name);
        }
    }
    let mut accepted = 0;
    let ok = cases("tests/data/ok");
    for case in &ok {
        let strict = print(&parse(&case.text).tree);
        let [ebnf, lark, gbnf] = grammars.each_ref().map(|grammar| grammar.accepts(&strict));
        assert!(ebnf == lark && lark == gbnf, "ebnf {ebnf}, lark {lark}, gbnf {gbnf}: {strict}");
        accepted += usize::from(lark);
    }
    assert!(accepted * 2 > ok.len(), "only {accepted} of {} are accepted", ok.len());
}

#[test]
fn forms() {
    check_texts(
        &Options::default(),
        &[
            "HEADER:{f:Claude,t:ALL,s:0}\nRES:{o:\"ACK\"}\n",
            "HEADER:{f:\"two words\",t:\"true\",s:42,b:B-1,x_v:1}\nRES:{o:\"ACK\",msg:\"\"}\n",
            "HEADER:{f:a,t:b,s:1}\nACT:{op:read,tgt:\"x\"}\nACT:{i:A1,op:edit,tgt:\"y\",args:{}}\n",
            "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{a:[1.50,-0,1e3,true,[],{}]}}\nOBS:{ai:A,s:ERR,e:\"\\u00e9\\ud83d\\ude00\\/é\"}\n",
            "HEADER:{f:a,t:b,s:1}\nPLAN:[(i:1,t:\"a\",s:P),(i:b,t:\"c\",s:X,x_d:[word,\"t\"])]\n",
            "HEADER:{f:a,t:b,s:1}\nX_A1:[word,{k:v}]\nX__:{}\nHEADER:{f:b,t:a,s:2}\nRES:{o:\"x\"}\n",
            "HEADER:{f:a,t:b,s:1}\nEND:{n:\"x\",r:[],del:[\"a\",\"\"]}\n",
        ],
        &[
            "",
            "HEADER:{f:a,t:b,s:1}\n",
            "RES:{o:\"ACK\"}\n",
            "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\"}",
            "HEADER:{f:a,t:b,s:1} RES:{o:\"ACK\"}\n",
            "HEADER:{f:a, t:b,s:1}\nRES:{o:\"ACK\"}\n",
            "HEADER:{t:b,f:a,s:1}\nRES:{o:\"ACK\"}\n",
            "HEADER:{f:a,t:[b],s:1}\nRES:{o:\"ACK\"}\n",
            "HEADER:{f:a,t:b,s:01}\nRES:{o:\"ACK\"}\n",
            "HEADER:{f:a,t:b,s:-1}\nRES:{o:\"ACK\"}\n",
            "HEADER:{f:true,t:b,s:1}\nRES:{o:\"ACK\"}\n",
            "HEADER:{f:\"\",t:b,s:1}\nRES:{o:\"ACK\"}\n",
            "HEADER:{f:a,t:b,s:1}\nRES:{o:ACK}\n",
            "HEADER:{f:a,t:b,s:1}\nRES:{o:\"\"}\n",
            "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"x\",pr:6}\n",
            "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"x\",pr:0}\n",
            "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"x\",pr:1,more:1}\n",
            "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"x\",pr:1,x_a:null}\n",
            "HEADER:{f:a,t:b,s:1}\nPLAN:[]\n",
            "HEADER:{f:a,t:b,s:1}\nPLAN:[{i:1,t:\"a\",s:P}]\n",
            "HEADER:{f:a,t:b,s:1}\nACT:{op:deploy,tgt:\"x\"}\n",
            "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK}\n",
            "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{},e:\"x\"}\n",
            "HEADER:{f:a,t:b,s:1}\nOBS:{s:ERR,c:{}}\n",
            "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{a:word}}\n",
            "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{A:1}}\n",
            "HEADER:{f:a,t:b,s:1}\nBLK:{w:\"x\",a:[]}\n",
            "HEADER:{f:a,t:b,s:1}\nCUSTOM:{}\n",
            "HEADER:{f:a,t:b,s:1}\nX_:{}\n",
            "HEADER:{f:a,t:b,s:1}\nRES:{o:\"\\ud83d\"}\n",
            "HEADER:{f:a,t:b,s:1}\nRES:{o:\"\\q\"}\n",
            "HEADER:{f:a,t:b,s:1}\nRES:{o:\"a\tb\"}\n",
        ],
    );
}

#[test]
fn options_narrow() {
    check_texts(
        &narrow(),
        &[
            "HEADER:{f:Claude,t:ALL,s:1}\nOBS:{s:OK,c:{a:[1,2]}}\n",
            "HEADER:{f:Claude-2,t:\"the boss\",s:1}\nPLAN:[(i:1,t:\"x\",s:P)]\nOBS:{s:ERR,e:\"x\"}\n",
        ],
        &[
            "HEADER:{f:Gemini,t:ALL,s:1}\nOBS:{s:OK,c:{}}\n",
            "HEADER:{f:ALL,t:Claude,s:1}\nOBS:{s:OK,c:{}}\n",
            "HEADER:{f:Claude-,t:ALL,s:1}\nOBS:{s:OK,c:{}}\n",
            "HEADER:{f:\"Claude\",t:ALL,s:1}\nOBS:{s:OK,c:{}}\n",
            "HEADER:{f:Claude,t:ALL,s:1}\nRES:{o:\"x\"}\n",
            "HEADER:{f:Claude,t:ALL,s:1}\nX_A:{}\n",
            "HEADER:{f:Claude,t:ALL,s:1,x_v:1}\nOBS:{s:OK,c:{}}\n",
            "HEADER:{f:Claude,t:ALL,s:1}\nOBS:{s:OK,c:{a:[[1]]}}\n",
            "HEADER:{f:Claude,t:ALL,s:1}\nOBS:{s:OK,c:{a:[{}]}}\n",
            "HEADER:{f:Claude,t:ALL,s:1}\nOBS:{s:OK,c:{}}\nHEADER:{f:Claude,t:ALL,s:2}\nOBS:{s:OK,c:{}}\n",
        ],
    );
    let flat = Options { max_depth: Some(0), ..Options::default() };
    check_texts(
        &flat,
        &["HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{a:1},x_a:w}\nX_A:[1]\n"],
        &["HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{a:[]}}\n", "HEADER:{f:a,t:b,s:1,x_a:[]}\nX_A:[1]\n"],
    );
    let foreign = Options { blocks: vec![BlockKind::Extension], ..Options::default() };
    check_texts(
        &foreign,
        &["HEADER:{f:a,t:b,s:1}\nX_A:[1]\n"],
        &["HEADER:{f:a,t:b,s:1}\nRES:{o:\"x\"}\n"],
    );
    let nothing = Options { extensions: false, ..foreign };
    check_texts(
        &nothing,
        &["HEADER:{f:a,t:b,s:1}\nRES:{o:\"x\"}\n"],
        &["HEADER:{f:a,t:b,s:1}\nX_A:[1]\n"],
    );
}

/// With generous depth the unrolled grammar says the same as the recursive one.
#[test]
fn unrolling_changes_nothing_but_the_depth() {
    let grammars = all(&Options { max_depth: Some(8), ..Options::default() });
    let mut random = Random(3);
    for _ in 0..DOCUMENTS / 4 {
        let text = strict::document(&mut random);
        for grammar in &grammars {
            assert!(grammar.accepts(&text), "{} refuses {text}", grammar.name());
        }
    }
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
        assert!(per_level < 1_000, "{per_level} bytes for one level");
    }
}

#[test]
fn gbnf_rule_names_have_no_underscore() {
    for options in [Options::default(), narrow()] {
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
    for (open, close) in [("[", "]"), ("{k:", "}"), ("[{a:1,k:", "}]")] {
        for around in ["CTX:{p:x,st:{a:", "X_A:{a:"] {
            let end = if around.starts_with('C') { "}}" } else { "}" };
            let nested = format!("{}1{}", open.repeat(20), close.repeat(20));
            let text = format!("HEADER:{{f:a,t:b,s:1}}\n{around}{nested}{end}\n");
            let run = gbnf.run(&text);
            assert!(run.accepted, "{text}");
            assert!(run.most_stacks <= MAX_STACKS, "{open}: {} stacks", run.most_stacks);
        }
    }
}

/// Raise these after a change to the table.
const DOCUMENTS: usize = 120;
const NEAR_MISSES: usize = 600;
const WALKS: usize = 60;

/// What to splice in: every sign and everything that looks like a token.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "\t",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "\"",
    "\\",
    "\\n",
    "\\u00e9",
    "\\ud83d",
    "a",
    "A",
    "_",
    "-",
    ".",
    "0",
    "1",
    "9",
    "1.5",
    "1e3",
    "-1",
    "true",
    "null",
    "word",
    "\"text\"",
    "x_",
    ",x_a:1",
    ",x_b:w",
    "X_A:{}\n",
    "HEADER:{f:a,t:b,s:1}\n",
    "RES:{o:\"x\"}\n",
    "é",
    "\u{7f}",
    "OK",
    "ERR",
    "P",
    ",k:1",
    "?",
    "|",
    "'",
];

/// What no context-free grammar can see.
fn beyond_grammar(code: sabir_base::Code) -> bool {
    [codes::DUPLICATE_KEY, codes::DUPLICATE_STEP, codes::DEFAULT_NOT_OFFERED, codes::TOO_DEEP]
        .contains(&code)
}

/// Paths have a notation of their own inside of strings.
fn is_path(code: sabir_base::Code) -> bool {
    code.as_str().starts_with("LX3")
}

/// A grammar, read back from its text.
enum Recognizer {
    Ebnf(ebnf::Grammar),
    Lark(Box<lark::Grammar>),
    Gbnf(gbnf::Machine),
}

fn all(options: &Options) -> [Recognizer; 3] {
    [Format::Ebnf, Format::Lark, Format::Gbnf].map(|format| Recognizer::new(format, options))
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

    fn name(&self) -> &'static str {
        match self {
            Self::Ebnf(_) => "EBNF",
            Self::Lark(_) => "Lark",
            Self::Gbnf(_) => "GBNF",
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
fn check_texts(options: &Options, ok: &[&str], err: &[&str]) {
    for grammar in all(options) {
        for text in ok {
            assert!(grammar.accepts(text), "{} refuses {text}", grammar.name());
        }
        for text in err {
            assert!(!grammar.accepts(text), "{} accepts {text}", grammar.name());
        }
    }
}
