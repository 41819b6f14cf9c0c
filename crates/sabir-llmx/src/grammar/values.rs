//! Values inside of fields, level by level when the depth is bounded.
//!
//! In extensions words may stand without quotes, because extensions are kept as they are written;
//! everything else is as in standard blocks.

use sabir_grammar::{Depth, Expr, Table, choice, lit, one_of, opt, rule, separated, seq};

pub(super) fn add(table: &mut Table, depth: Depth) {
    for depth in depth.levels() {
        add_level(table, depth, "", &["string", "number", "boolean"]);
        add_level(table, depth, "own_", &["string", "number", "boolean", "word"]);
    }
    table.phrase("texts", brackets("[", rule("string"), "]"));
    table.phrase("some_texts", seq([lit("["), separated(rule("string"), lit(",")), lit("]")]));
    table.phrase("boolean", choice([lit("true"), lit("false")]));
}

/// The rules of one level, with `prefix` before their names. What stands in its brackets is at the
/// same level; brackets in there are one further in.
fn add_level(table: &mut Table, depth: Depth, prefix: &str, leaves: &[&str]) {
    let name = |depth: Depth, base: &str| depth.name(&format!("{prefix}{base}"));
    let value = || rule(name(depth, "value"));
    let mut all: Vec<Expr> = leaves.iter().map(|leaf| rule(*leaf)).collect();
    if let Some(inner) = depth.deeper() {
        all.extend(["object", "list"].map(|base| rule(name(inner, base))));
    }
    let pair = seq([rule("key"), lit(":"), value()]);
    table.phrase(name(depth, "object"), brackets("{", pair, "}"));
    table.phrase(name(depth, "list"), brackets("[", value(), "]"));
    table.phrase(name(depth, "value"), one_of(all));
}

/// Any number of `item`.
fn brackets(open: &str, item: Expr, close: &str) -> Expr {
    seq([lit(open), opt(separated(item, lit(","))), lit(close)])
}
