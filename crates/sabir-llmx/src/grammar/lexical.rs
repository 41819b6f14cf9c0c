//! The words of the notation: names, keys, numbers, strings.
//!
//! A lexer that takes the longest match and never backs out can read them: none of them can be
//! followed by a character that it could hold.

use sabir_grammar::{Class, Except, Expr, Table, choice, class, lit, many, opt, rule, seq, some};

pub(super) fn add(table: &mut Table) {
    add_names(table);
    add_numbers(table);
    add_strings(table);
}

fn add_names(table: &mut Table) {
    table.phrase("name", choice([rule("word"), rule("text")]));
    table.because(
        "Without quotes where possible. Quotes are always allowed, because who has opened them must \
         be able to finish the name that was meant.",
    );
    let first = Class::of(&[('A', 'Z'), ('a', 'z'), ('_', '_')]);
    let rest = Class::of(&[('A', 'Z'), ('a', 'z'), ('0', '9'), ('_', '_'), ('-', '-')]);
    table.token(
        "word",
        Expr::Except(Except {
            base: "any_word".to_owned(),
            first: first.clone(),
            rest: rest.clone(),
            words: ["true", "false", "null"].map(str::to_owned).into(),
        }),
    );
    table.token("any_word", seq([Expr::Class(first), many(Expr::Class(rest))]));
    let lower = [('a', 'z'), ('0', '9'), ('_', '_')];
    table.token("key", seq([class(&[('a', 'z')]), many(class(&lower))]));
    table.token("key_tail", some(class(&lower)));
    table.token("type_tail", some(class(&[('A', 'Z'), ('0', '9'), ('_', '_')])));
}

fn add_numbers(table: &mut Table) {
    let digit = || class(&[('0', '9')]);
    let whole = || seq([class(&[('1', '9')]), many(digit())]);
    let fraction = seq([lit("."), some(digit())]);
    let sign = choice([lit("+"), lit("-")]);
    let exponent = seq([choice([lit("e"), lit("E")]), opt(sign), some(digit())]);
    table.token(
        "number",
        seq([opt(lit("-")), choice([lit("0"), whole()]), opt(fraction), opt(exponent)]),
    );
    // Every number with fewer digits than the largest sequence number is smaller than it.
    let more = (2..COUNTER_DIGITS).fold(opt(digit()), |more, _| opt(seq([digit(), more])));
    table.token("counter", choice([lit("0"), seq([class(&[('1', '9')]), more])]));
    table.because(format!("A whole number of at most {COUNTER_DIGITS} digits."));
}

/// One digit fewer than a sequence number may have.
const COUNTER_DIGITS: usize = 15;

fn add_strings(table: &mut Table) {
    let part = || choice([rule("char"), rule("escape")]);
    table.token("string", seq([lit("\""), many(part()), lit("\"")]));
    table.token("text", seq([lit("\""), some(part()), lit("\"")]));
    table.because("A string that is not empty.");
    let special = [('"', '"'), ('\\', '\\'), ('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')];
    table.token("char", Expr::Class(Class::all_but(&special)));
    let signs = ['"', '\\', '/', 'b', 'f', 'n', 'r', 't'].map(|sign| (sign, sign));
    table.token("escape", seq([lit("\\"), choice([class(&signs), seq([lit("u"), rule("unit")])])]));
    let hex = || rule("hex_digit");
    let d = || class(&[('D', 'D'), ('d', 'd')]);
    let high = class(&[('8', '9'), ('A', 'B'), ('a', 'b')]);
    let low = class(&[('C', 'F'), ('c', 'f')]);
    table.token(
        "unit",
        choice([
            seq([
                class(&[('0', '9'), ('A', 'C'), ('E', 'F'), ('a', 'c'), ('e', 'f')]),
                hex(),
                hex(),
                hex(),
            ]),
            seq([d(), class(&[('0', '7')]), hex(), hex()]),
            seq([d(), high, hex(), hex(), lit("\\u"), d(), low, hex(), hex()]),
        ]),
    );
    table.because("Four hex digits that name a character, or the two halves of one.");
    table.token("hex_digit", class(&[('0', '9'), ('A', 'F'), ('a', 'f')]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BlockKind, FieldKind};

    #[test]
    fn a_counter_fits_its_fields() {
        let fields = BlockKind::STANDARD.into_iter().filter_map(BlockKind::info);
        for field in fields.flat_map(|info| info.fields) {
            if let FieldKind::Integer { min, max } = field.kind
                && max > 9
            {
                assert_eq!((min, max.to_string().len()), (0, COUNTER_DIGITS + 1), "{}", field.key);
            }
        }
    }
}
