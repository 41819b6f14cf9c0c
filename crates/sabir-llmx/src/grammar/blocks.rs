//! Blocks and their fields, from the table of blocks.
//!
//! Fields have one order, so that a model cannot write one twice and a decoder has little to choose
//! from.

use sabir_grammar::{
    Depth, Expr, Table, choice, class, lit, many, one_of, opt, rule, separated, seq,
};

use super::options::Options;
use super::table::end;
use crate::block::{BlockInfo, BlockKind, FieldInfo, FieldKind, Presence, Shape};
use crate::strings::{is_word, quote};

pub(super) fn add(table: &mut Table, info: &BlockInfo, options: &Options, depth: Depth) {
    let row = Row { info, options, depth };
    let word = info.word;
    let body = match info.shape {
        Shape::Object if info.kind == BlockKind::Obs => row.observation(table),
        Shape::Object => row.fields(&format!("{word}:{{"), info.fields, end("}")),
        Shape::Steps => {
            let steps = separated(rule("step"), lit(","));
            seq([lit(&format!("{word}:[")), steps, end("]")])
        }
    };
    table.phrase(info.name, body);
    table.because(format!("{word}, {}: {}.", info.name, info.summary));
    if info.shape == Shape::Steps {
        table.phrase("step", row.fields("(", info.fields, lit(")")));
    }
}

/// `X_` blocks, and the `x_` fields behind those of a block.
pub(super) fn add_extensions(table: &mut Table, depth: Depth) {
    let body = choice([rule(depth.name("own_object")), rule(depth.name("own_list"))]);
    table.phrase("extension_block", seq([lit("X_"), rule("type_tail"), lit(":"), body, lit("\n")]));
    table.because("A block of your own.");
    table.phrase(
        "own_field",
        seq([lit(",x_"), rule("key_tail"), lit(":"), rule(depth.name("own_value"))]),
    );
    table.because("A field of your own.");
}

pub(super) fn add_agents(table: &mut Table, agents: &[String]) {
    if agents.is_empty() {
        table.phrase("sender", rule("name"));
        table.phrase("receiver", rule("name"));
        return;
    }
    let literal = |name: &str| lit(&if is_word(name) { name.to_owned() } else { quote(name) });
    let mut known: Vec<&str> = agents.iter().map(String::as_str).collect();
    table.token("sender", one_of(known.iter().copied().map(literal).collect()));
    if !known.contains(&ALL) {
        known.push(ALL);
    }
    table.token("receiver", one_of(known.into_iter().map(literal).collect()));
}

/// The receiver that is everyone.
const ALL: &str = "ALL";

struct Row<'o> {
    info: &'o BlockInfo,
    options: &'o Options,
    depth: Depth,
}

/// Parts in a row; literals that touch become one.
#[derive(Default)]
struct Parts {
    done: Vec<Expr>,
    literal: String,
}

impl Parts {
    fn lit(&mut self, text: &str) {
        self.literal.push_str(text);
    }

    fn push(&mut self, part: Expr) {
        if let Expr::Literal(text) = &part {
            return self.lit(text);
        }
        if !self.literal.is_empty() {
            self.done.push(lit(&std::mem::take(&mut self.literal)));
        }
        self.done.push(part);
    }

    fn finish(mut self) -> Expr {
        if !self.literal.is_empty() {
            self.done.push(Expr::Literal(self.literal));
        }
        match (self.done.pop(), self.done.is_empty()) {
            (Some(only), true) => only,
            (last, _) => Expr::Sequence(self.done.into_iter().chain(last).collect()),
        }
    }
}

impl Row<'_> {
    /// The fields between `open` and `close`. Commas go behind the optional fields that stand before
    /// the first required one, and before all fields behind it.
    fn fields(&self, open: &str, fields: &[FieldInfo], close: Expr) -> Expr {
        let mut parts = Parts::default();
        parts.lit(open);
        let mut is_open = true;
        for field in fields {
            let key = format!("{}:", field.key);
            match (field.presence, is_open) {
                (Presence::Optional, true) => {
                    parts.push(opt(seq([lit(&key), self.value(field), lit(",")])));
                }
                (Presence::Optional, false) => {
                    parts.push(opt(seq([lit(&format!(",{key}")), self.value(field)])));
                }
                (Presence::Required | Presence::RequiredIfOk, _) => {
                    parts.lit(if is_open { "" } else { "," });
                    parts.lit(&key);
                    parts.push(self.value(field));
                    is_open = false;
                }
            }
        }
        if self.options.extensions {
            parts.push(many(rule("own_field")));
        }
        parts.push(close);
        parts.finish()
    }

    /// What an observation holds depends on its status: one that is `OK` has content and no error,
    /// and one that failed says why.
    fn observation(&self, table: &mut Table) -> Expr {
        let at = self.info.fields.iter().position(|field| field.key == "s").unwrap_or(0);
        let (before, rest) = self.info.fields.split_at(at);
        let outcome = |word: &'static str, key: &str| {
            let fields = rest.iter().filter(|field| field.key == "s" || field.key == key);
            let fields: Vec<FieldInfo> = fields
                .map(|field| match field.kind {
                    FieldKind::OneOf(all) => {
                        let at = all.iter().position(|it| *it == word).unwrap_or(0);
                        FieldInfo { kind: FieldKind::OneOf(&all[at..=at]), ..*field }
                    }
                    _ => FieldInfo { presence: Presence::Required, ..*field },
                })
                .collect();
            self.fields("", &fields, end("}"))
        };
        let mut parts = Parts::default();
        parts.lit(&format!("{}:{{", self.info.word));
        for field in before {
            let key = format!("{}:", field.key);
            parts.push(opt(seq([lit(&key), self.value(field), lit(",")])));
        }
        parts.push(choice([rule("success"), rule("failure")]));
        table.phrase("success", outcome("OK", "c"));
        table.phrase("failure", outcome("ERR", "e"));
        parts.finish()
    }

    fn value(&self, field: &FieldInfo) -> Expr {
        let is_required = field.presence == Presence::Required;
        let words = |all: &[&str]| one_of(all.iter().copied().map(lit).collect());
        match field.kind {
            FieldKind::Name if self.info.kind == BlockKind::Header && is_required => rule("sender"),
            FieldKind::Name => rule("name"),
            FieldKind::Receiver => rule("receiver"),
            FieldKind::StepId => choice([rule("number"), rule("name")]),
            // A required text that is empty says nothing.
            FieldKind::Text | FieldKind::Target if is_required => rule("text"),
            FieldKind::Text | FieldKind::Target => rule("string"),
            FieldKind::Texts | FieldKind::Paths if is_required => rule("some_texts"),
            FieldKind::Texts | FieldKind::Paths => rule("texts"),
            FieldKind::Integer { min, max } => integer(min, max),
            FieldKind::Bool => rule("boolean"),
            FieldKind::Object => rule(self.depth.name("object")),
            FieldKind::OneOf(all) | FieldKind::Operation(all) => words(all),
        }
    }
}

/// One digit where that is enough, and otherwise a number that has too few digits to be too large.
fn integer(min: i64, max: i64) -> Expr {
    let digit =
        |number: i64| u8::try_from(number).ok().and_then(|it| char::from_digit(it.into(), 10));
    match (digit(min), digit(max)) {
        (Some(min), Some(max)) => class(&[(min, max)]),
        _ => rule("counter"),
    }
}
