//! What makes the comparison fair: the same information in every notation, and each of them valid.

use sabir_axon::{Rules, Tier, check};
use serde_json::Value;

use super::encode::Notation;
use super::measure::Counts;
use super::scenario::{Act, Family, Fields, Message, MetaKey, Scenario, Term, To};
use super::{build, files, scenarios, teach};

/// Every message with its place in its conversation.
fn messages(scenarios: &[Scenario]) -> impl Iterator<Item = (&'static str, usize, &Message)> {
    scenarios.iter().flat_map(|scenario| {
        let messages = scenario.messages.iter().enumerate();
        messages.map(|(index, message)| (scenario.name, index + 1, message))
    })
}

#[test]
fn there_are_enough_conversations_of_every_kind() {
    let all = scenarios::all();
    assert!(all.len() >= 48, "{}", all.len());
    for family in Family::ALL {
        let size = all.iter().filter(|scenario| scenario.family == *family).count();
        assert!(size >= 3, "{family:?} has {size}");
    }
    for (index, scenario) in all.iter().enumerate() {
        assert!((1..=6).contains(&scenario.messages.len()), "{}", scenario.name);
        assert!(all[..index].iter().all(|other| other.name != scenario.name), "{}", scenario.name);
    }
    for act in Act::ALL {
        let used = messages(&all).any(|(_, _, message)| message.act == act);
        assert!(used, "no message is a {}", act.word());
    }
}

/// Counts are kept by place.
#[test]
fn notations_are_listed_in_order() {
    for (index, notation) in Notation::ALL.iter().enumerate() {
        assert_eq!(*notation as usize, index);
    }
}

#[test]
fn encoders_are_deterministic() {
    let (first, second) = (scenarios::all(), scenarios::all());
    for ((name, number, one), (_, _, other)) in messages(&first).zip(messages(&second)) {
        for notation in Notation::ALL {
            let one = notation.encode(one, number).unwrap();
            assert_eq!(one, notation.encode(other, number).unwrap(), "{name} {notation:?}");
        }
    }
}

/// As documents, so that replies, transactions and votes are checked too, and in the tier that the
/// scenario claims.
#[test]
fn axon_is_valid() {
    for scenario in scenarios::all() {
        let tier = scenario.name.rsplit_once("tier ").map(|(_, tier)| tier.parse().unwrap());
        let rules = Rules { tier: tier.and_then(Tier::from_number) };
        for notation in [Notation::AxonWire, Notation::AxonPretty] {
            let texts = scenario.messages.iter().enumerate();
            let texts = texts.map(|(index, it)| notation.encode(it, index + 1).unwrap() + "\n");
            let text: String = texts.collect();
            let parsed = check(&text, rules);
            assert_eq!(parsed.tree.messages().count(), scenario.messages.len());
            let found: Vec<_> = parsed
                .diagnostics
                .iter()
                // `$url` is filled in by the context, which is what it is there for.
                .filter(|it| it.code != sabir_axon::codes::UNBOUND_VARIABLE)
                .collect();
            assert!(found.is_empty(), "{}\n{text}\n{found:#?}", scenario.name);
        }
    }
}

#[test]
fn toon_decodes_to_the_same_value() {
    let all = scenarios::all();
    for (name, number, message) in messages(&all) {
        let json = Notation::Json.encode(message, number).unwrap();
        let toon = Notation::Toon.encode(message, number).unwrap();
        let decoded: Value = toon_format::decode_default(&toon).unwrap();
        assert_eq!(decoded, serde_json::from_str::<Value>(&json).unwrap(), "{name}\n{toon}");
    }
}

#[test]
fn both_kinds_of_json_hold_the_same_values() {
    let all = scenarios::all();
    for (name, number, message) in messages(&all) {
        let leaves = |notation: Notation| {
            let value = serde_json::from_str(&notation.encode(message, number).unwrap()).unwrap();
            let mut leaves = Vec::new();
            json_leaves(&value, &mut leaves);
            leaves.sort();
            leaves
        };
        let mut descriptive = leaves(Notation::Json);
        let mut short = leaves(Notation::JsonShort);
        // The words for intents differ, and an operator is a value here and a key there.
        let intents: Vec<&str> =
            Act::ALL.iter().map(|act| act.info().name).chain(["nack"]).collect();
        let operators = ["\"<\"", "\">\"", "\"<=\"", "\">=\"", "\"!=\"", "\"=\""];
        descriptive.retain(|leaf| {
            !intents.contains(&leaf.trim_matches('"')) && !operators.contains(&leaf.as_str())
        });
        short.retain(|leaf| {
            let leaf = leaf.trim_matches('"');
            Act::from_word(leaf).is_none() && !intents.contains(&leaf)
        });
        assert_eq!(descriptive, short, "{name}");
    }
}

fn json_leaves(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| json_leaves(item, out)),
        Value::Object(fields) => fields.values().for_each(|field| json_leaves(field, out)),
        leaf => out.push(leaf.to_string()),
    }
}

/// The intent is part of what is said: no two may be written alike.
#[test]
fn intents_can_be_told_apart() {
    use build::{NOTHING, call, ent, message, rec, seq, tag, text};
    for notation in Notation::ALL {
        let contents: [fn() -> Term; 6] = [
            || NOTHING,
            || call("check", [ent("pump-2")]),
            || rec([("state", text("open"))]),
            || seq([call("stop", []), call("start", [])]),
            || tag("blocked", [("why", text("rain"))]),
            || call("read", [text("a.txt")]),
        ];
        for content in contents {
            let texts: Vec<String> = Act::ALL
                .iter()
                .map(|act| notation.encode(&message(*act, "a", "b", content()), 1).unwrap())
                .collect();
            for (index, text) in texts.iter().enumerate() {
                let twin = texts[..index].iter().position(|other| other == text);
                assert_eq!(twin, None, "{notation:?} {:?}: {text}", Act::ALL[index]);
            }
        }
    }
}

/// Numbers without a unit must be what JSON writes, or a notation would carry other digits.
#[test]
fn numbers_are_written_the_same_everywhere() {
    for_each_term(|term| {
        if let Term::Number { digits, unit: None } = term {
            let number: Value = serde_json::from_str(digits).unwrap();
            assert_eq!(number.to_string(), *digits);
        }
    });
}

fn for_each_term(mut visit: impl FnMut(&Term)) {
    for scenario in &scenarios::all() {
        for message in &scenario.messages {
            walk_message(message, &mut visit);
        }
    }
}

fn walk_message(message: &Message, visit: &mut dyn FnMut(&Term)) {
    message.meta.iter().for_each(|(_, value)| walk(value, visit));
    walk(&message.content, visit);
}

fn walk(term: &Term, visit: &mut dyn FnMut(&Term)) {
    visit(term);
    let fields = |fields: &Fields, visit: &mut dyn FnMut(&Term)| {
        fields.iter().for_each(|(_, value)| walk(value, visit));
    };
    match term {
        Term::Nothing
        | Term::Text(_)
        | Term::Number { .. }
        | Term::Bool(_)
        | Term::Entity(_)
        | Term::Symbol(_)
        | Term::Name(_)
        | Term::Variable(_) => {}
        Term::List(items) | Term::Sequence(items) | Term::Parallel(items) | Term::AnyOf(items) => {
            items.iter().for_each(|item| walk(item, visit));
        }
        Term::Record(record) | Term::Tagged(_, record) => fields(record, visit),
        Term::Call(call) => {
            call.args.iter().for_each(|arg| walk(arg, visit));
            fields(&call.named, visit);
        }
        Term::Because(one, other) | Term::Compare(one, _, other) | Term::Range(one, other) => {
            walk(one, visit);
            walk(other, visit);
        }
        Term::About(of) => walk(of, visit),
        Term::Table { rows, .. } => rows.iter().flatten().for_each(|cell| walk(cell, visit)),
        Term::Message(message) => walk_message(message, visit),
    }
}

/// What a message says, as the words that must be found in any text of it.
#[derive(Default)]
struct Leaves {
    texts: Vec<&'static str>,
    /// Numbers, with their units.
    numbers: Vec<(&'static str, Option<sabir_axon::Unit>)>,
    bools: Vec<bool>,
    names: Vec<&'static str>,
    keys: Vec<&'static str>,
    priorities: usize,
}

impl Leaves {
    fn of(message: &Message) -> Self {
        let mut leaves = Self::default();
        leaves.message(message);
        leaves
    }

    fn message(&mut self, message: &Message) {
        self.names.push(message.from);
        match &message.to {
            To::One(name) => self.names.push(name),
            To::Many(names) => self.names.extend(names),
            To::Anyone => {}
        }
        for (key, value) in &message.meta {
            // LLMX counts priorities the other way round.
            if *key == MetaKey::Priority {
                self.priorities += 1;
            } else {
                self.term(value);
            }
        }
        self.term(&message.content);
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Text(text) => self.texts.push(text),
            Term::Number { digits, unit } => self.numbers.push((digits, *unit)),
            Term::Bool(value) => self.bools.push(*value),
            Term::Entity(name) | Term::Symbol(name) | Term::Name(name) | Term::Variable(name) => {
                self.names.push(name);
            }
            Term::Tagged(kind, _) => self.names.push(kind),
            Term::Call(call) => self.names.push(call.name),
            Term::Table { columns, .. } => self.keys.extend(columns),
            _ => {}
        }
        match term {
            Term::Record(fields) | Term::Tagged(_, fields) => self.fields(fields),
            Term::Call(call) => {
                call.args.iter().for_each(|arg| self.term(arg));
                self.fields(&call.named);
            }
            Term::List(items)
            | Term::Sequence(items)
            | Term::Parallel(items)
            | Term::AnyOf(items) => {
                items.iter().for_each(|item| self.term(item));
            }
            Term::Because(one, other) | Term::Compare(one, _, other) | Term::Range(one, other) => {
                self.term(one);
                self.term(other);
            }
            Term::About(of) => self.term(of),
            Term::Table { rows, .. } => rows.iter().flatten().for_each(|cell| self.term(cell)),
            Term::Message(message) => self.message(message),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &Fields) {
        for (key, value) in fields {
            self.keys.push(key);
            self.term(value);
        }
    }
}

/// Words that LLMX has a place for, and the block that has it.
const NATIVE_TO_LLMX: [(&str, &str); 25] = [
    ("blocked", "BLK:"),
    ("why", "BLK:{w:"),
    ("alternatives", ",a:["),
    ("escalate", ",esc:"),
    ("handoff", "END:"),
    ("next", "END:{n:"),
    ("tests", ",t:["),
    ("risks", ",r:["),
    ("deliverables", ",del:["),
    ("plan", "PLAN:"),
    ("steps", "PLAN:"),
    ("step", "PLAN:"),
    ("task", "PLAN:"),
    ("status", "PLAN:"),
    ("completed", ",s:C)"),
    ("in-progress", ",s:I)"),
    ("pending", ",s:P)"),
    ("observation", "OBS:{ai:"),
    ("action", "OBS:{ai:"),
    ("error", "s:ERR,e:"),
    ("what", "s:ERR,e:"),
    ("decide", "ASK:"),
    ("options", "ASK:"),
    ("default", ",def:"),
    ("id", "ACT:{i:"),
];

fn occurrences(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

#[test]
fn every_encoding_says_everything() {
    let all = scenarios::all();
    for (name, number, message) in messages(&all) {
        let leaves = Leaves::of(message);
        for notation in Notation::ALL {
            let text = notation.encode(message, number).unwrap();
            missing(*notation, &leaves, &text, &|what| {
                panic!("{name}, {notation:?}: {what}\n{text}")
            });
        }
    }
}

fn missing(notation: Notation, leaves: &Leaves, text: &str, report: &dyn Fn(String)) {
    // As often as it is said, unless it is part of something else that is said.
    let demand = |word: &str, times: usize| {
        if occurrences(text, word) < times {
            report(format!("`{word}` stands there {} times, not {times}", occurrences(text, word)));
        }
    };
    let times = |list: &[&str], word: &str| list.iter().filter(|it| **it == word).count();
    for word in &leaves.texts {
        let written = match notation {
            Notation::English => (*word).to_owned(),
            _ => {
                let quoted = Value::from(*word).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            }
        };
        demand(&written, times(&leaves.texts, word));
    }
    for (digits, unit) in &leaves.numbers {
        let same = leaves.numbers.iter().filter(|it| **it == (*digits, *unit)).count();
        let unit = unit.map_or("", |unit| match (notation, unit) {
            (Notation::English, sabir_axon::Unit::Milliseconds) => " milliseconds",
            (Notation::English, sabir_axon::Unit::Seconds) => " seconds",
            (Notation::English, sabir_axon::Unit::Minutes) => " minutes",
            (Notation::English, sabir_axon::Unit::Hours) => " hours",
            (Notation::English, sabir_axon::Unit::Days) => " days",
            (Notation::English, sabir_axon::Unit::Gigabytes) => " GB",
            (Notation::English, sabir_axon::Unit::Tokens) => " tokens",
            (Notation::English, sabir_axon::Unit::Dollars) => " dollars",
            (Notation::English, sabir_axon::Unit::Euros) => " euros",
            (_, unit) => unit.text(),
        });
        demand(&format!("{digits}{unit}"), same);
    }
    for value in [true, false] {
        let same = leaves.bools.iter().filter(|it| **it == value).count();
        let word = match (notation, value) {
            (Notation::AxonWire | Notation::AxonPretty, true) => ":T",
            (Notation::AxonWire | Notation::AxonPretty, false) => ":F",
            (_, true) => "true",
            (_, false) => "false",
        };
        demand(word, same);
    }
    for (words, is_key) in [(&leaves.names, false), (&leaves.keys, true)] {
        for word in words {
            let native = NATIVE_TO_LLMX.iter().find(|(native, _)| native == word);
            if notation == Notation::Llmx && native.is_some_and(|(_, it)| text.contains(it)) {
                continue;
            }
            let spaced = word.replace('_', " ");
            if is_key && spaced != *word && matches!(notation, Notation::English | Notation::Llmx) {
                let found = occurrences(text, word) + occurrences(text, &spaced);
                if found < times(words, word) {
                    report(format!("the key `{word}` is missing"));
                }
            } else if is_key && notation == Notation::Toon {
                // A table names its columns once.
                demand(word, 1);
            } else {
                demand(word, times(words, word));
            }
        }
    }
    if leaves.priorities > 0 {
        let place = match notation {
            Notation::AxonWire | Notation::AxonPretty => "^:",
            Notation::Llmx => "pr:",
            Notation::JsonShort => "\"^\"",
            _ => "priority",
        };
        demand(place, leaves.priorities);
    }
}

/// As documents, so that batches are checked too. What prints as itself is in the strict form.
#[test]
fn llmx_is_valid_and_strict() {
    for scenario in scenarios::all() {
        let texts = scenario.messages.iter().enumerate();
        let texts = texts.map(|(index, it)| Notation::Llmx.encode(it, index + 1).unwrap() + "\n");
        let text: String = texts.collect();
        let parsed = sabir_llmx::check_messages(&text);
        let found: Vec<_> = parsed
            .diagnostics
            .iter()
            // An open question has no options, and LLMX has no other block to ask it with.
            .filter(|it| it.code != sabir_llmx::codes::EMPTY_LIST)
            .collect();
        assert!(found.is_empty(), "{}\n{text}\n{found:#?}", scenario.name);
        assert!(!sabir_llmx::check(&text).has_errors(), "{}\n{text}", scenario.name);
        assert_eq!(sabir_llmx::print(&parsed.tree), text, "{}", scenario.name);
    }
}

/// A prompt that leaves out a word that the encoder writes would be cheaper than it is.
#[test]
fn prompts_teach_what_the_encoders_write() {
    let axon = teach::prompt(Notation::AxonWire);
    let short = teach::prompt(Notation::JsonShort);
    let json = teach::prompt(Notation::Json);
    for act in Act::ALL {
        assert!(axon.contains(act.word()) && short.contains(act.word()), "{}", act.word());
        let name = if act == Act::Nak { "nack" } else { act.info().name };
        assert!(json.contains(name), "{name}");
    }
    let all = scenarios::all();
    let llmx = teach::prompt(Notation::Llmx);
    for (_, number, message) in messages(&all) {
        let text = Notation::Llmx.encode(message, number).unwrap();
        for line in text.lines() {
            let kind = line.split_once(':').unwrap().0;
            assert!(llmx.contains(kind), "{kind}");
        }
    }
}

/// The examples in the prompt for AXON are AXON.
#[test]
fn examples_of_the_prompt_are_valid() {
    let prompt = teach::prompt(Notation::AxonWire);
    let examples: Vec<&str> = prompt.lines().filter(|line| line.get(3..5) == Some("(@")).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        assert!(!check(example, Rules::default()).has_errors(), "{example}");
    }
}

#[test]
fn the_committed_page_is_up_to_date() {
    let scenarios = scenarios::all();
    let counts = Counts::of(&scenarios).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    for (path, text) in files(&scenarios, &counts).unwrap() {
        let committed = std::fs::read_to_string(format!("{root}{path}")).unwrap_or_default();
        assert!(committed == text, "{path} is out of date: run `cargo xtask bench tokens`");
    }
}
