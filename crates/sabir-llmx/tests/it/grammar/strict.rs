//! Random documents in the strict form, made from the table of blocks: fields in their order, and
//! nothing that the validator could speak about.

use sabir_llmx::{BlockInfo, BlockKind, FieldInfo, FieldKind, Presence, Shape, is_word, quote};

/// A small generator with a fixed seed, so that a failure comes back.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    pub(super) fn choose<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

pub(super) fn document(random: &mut Random) -> String {
    (0..=random.below(3)).map(|_| message(random)).collect()
}

pub(super) fn message(random: &mut Random) -> String {
    let header = BlockKind::Header.info().unwrap();
    let mut out = block(random, header);
    for _ in 0..=random.below(4) {
        let kind = BlockKind::STANDARD[1..].get(random.below(10));
        out += &match kind.and_then(|kind| kind.info()) {
            Some(info) => block(random, info),
            None => {
                let word = random.choose(&["X_A", "X_METRICS_2", "X__"]);
                let body = if random.below(2) == 0 {
                    object(random, 2, OWN)
                } else {
                    list(random, 2, OWN)
                };
                format!("{word}:{body}\n")
            }
        };
    }
    out
}

fn block(random: &mut Random, info: &'static BlockInfo) -> String {
    match info.shape {
        Shape::Object => format!("{}:{{{}}}\n", info.word, fields(random, info, 0)),
        Shape::Steps => {
            let steps: Vec<_> =
                (0..=random.below(3)).map(|at| format!("({})", fields(random, info, at))).collect();
            format!("{}:[{}]\n", info.word, steps.join(","))
        }
    }
}

fn fields(random: &mut Random, info: &BlockInfo, at: usize) -> String {
    let failed = random.below(2) == 0;
    let mut out = Vec::new();
    for field in info.fields {
        let is_there = match (info.kind, field.key) {
            (BlockKind::Obs, "c") => !failed,
            (BlockKind::Obs, "e") => failed,
            _ => field.presence == Presence::Required || random.below(2) == 0,
        };
        let value = match field.kind {
            FieldKind::OneOf(_) if info.kind == BlockKind::Obs => {
                if failed { "ERR" } else { "OK" }.to_owned()
            }
            FieldKind::StepId if random.below(2) == 0 => at.to_string(),
            FieldKind::StepId => format!("s{at}"),
            _ => value(random, field),
        };
        if is_there {
            out.push(format!("{}:{value}", field.key));
        }
    }
    for key in ["x_a", "x_b2"] {
        if random.below(6) == 0 {
            out.push(format!("{key}:{}", nested(random, 3, OWN)));
        }
    }
    out.join(",")
}

fn value(random: &mut Random, field: &FieldInfo) -> String {
    let list = |random: &mut Random, least: usize| {
        let items: Vec<_> = (0..least + random.below(3)).map(|_| quote(text(random))).collect();
        format!("[{}]", items.join(","))
    };
    match field.kind {
        FieldKind::Name | FieldKind::Receiver | FieldKind::StepId => {
            let name = random.choose(&["Claude", "A-1", "_", "ALL", "two words", "true", "1", "é"]);
            if is_word(name) { name.to_owned() } else { quote(name) }
        }
        FieldKind::Text | FieldKind::Target => quote(text(random)),
        FieldKind::Texts | FieldKind::Paths => {
            list(random, usize::from(field.presence == Presence::Required))
        }
        FieldKind::Integer { min, max } => {
            let number = random.choose(&["0", "1", "3", "5", "42", "123456789012345"]);
            let fits = number.parse().is_ok_and(|it: i64| min <= it && it <= max);
            if fits { number.to_owned() } else { "2".to_owned() }
        }
        FieldKind::Bool => random.choose(&["true", "false"]).to_owned(),
        FieldKind::Object => object(random, 3, STRICT),
        FieldKind::OneOf(all) | FieldKind::Operation(all) => random.choose(all).to_owned(),
    }
}

fn text(random: &mut Random) -> &'static str {
    random.choose(&[
        "a",
        "fix it",
        "src/a.ts",
        "é\u{1f600}",
        "\"\\\n\t\u{0}\u{7f}",
        "a:{b},[c]",
        "null",
    ])
}

const STRICT: &[&str] = &["0", "-0", "1.50", "1e3", "-2E-7", "true", "false", "\"\"", "\"t\""];
const OWN: &[&str] = &["1.50", "true", "\"t\"", "word", "A-1", "_", "trues", "nul"];

fn nested(random: &mut Random, depth: usize, leaves: &[&str]) -> String {
    match random.below(4) {
        0 if depth > 0 => object(random, depth - 1, leaves),
        1 if depth > 0 => list(random, depth - 1, leaves),
        _ => random.choose(leaves).to_owned(),
    }
}

fn object(random: &mut Random, depth: usize, leaves: &[&str]) -> String {
    let keys = ["a", "b_", "c1", "true"].into_iter().take(random.below(5));
    let fields: Vec<_> =
        keys.map(|key| format!("{key}:{}", nested(random, depth, leaves))).collect();
    format!("{{{}}}", fields.join(","))
}

fn list(random: &mut Random, depth: usize, leaves: &[&str]) -> String {
    let items: Vec<_> = (0..random.below(4)).map(|_| nested(random, depth, leaves)).collect();
    format!("[{}]", items.join(","))
}
