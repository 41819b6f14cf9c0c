//! Whether an edge of a part of a source goes through a quantity: a number with its sign, bound,
//! currency, unit, divisor, and the other number of a range or a ratio. What stands right beside a
//! number belongs to it, unless the table knows that it does not.

use super::sentence::{gap, is_joined};
use super::source::SourceText;
use super::tokens::{Kind, Token, is_currency, is_single};
use super::words::{Group, Groups, groups, is_and, is_article, is_unit, joins_numbers, marks};

/// Whether the tokens `from..to` begin or end within a quantity.
pub(super) fn is_cut(source: &SourceText, from: usize, to: usize) -> bool {
    let (Some(first), Some(last)) =
        (source.tokens.get(from), to.checked_sub(1).and_then(|at| source.tokens.get(at)))
    else {
        return false;
    };
    let before = from.checked_sub(1).and_then(|at| source.tokens.get(at));
    before.is_some_and(|before| is_one_number(source, before, first))
        || source.tokens.get(to).is_some_and(|after| is_one_number(source, last, after))
        || is_counted_on(source, from, to)
        || begins_inside(source, from)
        || ends_inside(source, from, to)
}

/// Whether two neighbours are parts of one number with its unit, like `2 million` or `5 %`.
fn is_one_number(source: &SourceText, a: &Token, b: &Token) -> bool {
    let counts = match (is_amount(a), is_amount(b)) {
        // A bracket is the sign of what follows.
        (true, true) => b.word != "(",
        (true, false) => {
            (a.kind == Kind::Number && is_unit(&b.word)) || (is_sign_of_unit(a) && touches(a, b))
        }
        (false, true) => is_sign_of_unit(b) && touches(a, b),
        (false, false) => false,
    };
    counts && is_joined(source, a, b)
}

fn is_amount(token: &Token) -> bool {
    matches!(token.kind, Kind::Number | Kind::Sign)
}

/// Whether the token is a number and no other word, and no name like `x86`.
fn is_plain_number(token: &Token) -> bool {
    let is_name = has_digit(token) && token.word.starts_with(char::is_alphabetic);
    is_amount(token) && !is_name && !groups(&token.word).has(Group::NumberOrOther)
}

/// `US$`, `$CA`, `°C`, `C++`: signs that letters belong to.
fn is_sign_of_unit(token: &Token) -> bool {
    let is_part = |c: char| is_currency(c) || matches!(c, '°' | '+');
    token.kind == Kind::Sign && token.word.chars().all(is_part)
}

fn touches(a: &Token, b: &Token) -> bool {
    a.end == b.start
}

/// The token before `at`, if nothing ends between the two.
fn joined_before(source: &SourceText, at: usize) -> Option<&Token> {
    let (before, token) = (source.tokens.get(at.checked_sub(1)?)?, source.tokens.get(at)?);
    is_joined(source, before, token).then_some(before)
}

/// The token at `at`, if nothing ends before it.
fn joined(source: &SourceText, at: usize) -> Option<&Token> {
    joined_before(source, at).and_then(|_| source.tokens.get(at))
}

/// Whether what stands right before `from` belongs to the number there: `EUR 5`, `nearly 5`, `1 in 5`,
/// `half a million`.
fn begins_inside(source: &SourceText, from: usize) -> bool {
    let Some(first) = source.tokens.get(from) else { return false };
    let before = joined_before(source, from);
    if is_article(&first.word) {
        // "half a million", "twice the price", "three times the price".
        let is_multiple = |at: usize| {
            source.tokens.get(at).is_some_and(|it| it.kind == Kind::Number && !has_digit(it))
        };
        return before.is_some_and(|it| match it.word.as_str() {
            "times" | "mal" | "fois" | "veces" => {
                from.checked_sub(2).and_then(|at| source.tokens.get(at)).is_some_and(is_amount)
            }
            _ => from.checked_sub(1).is_some_and(is_multiple) && is_plain_number(it),
        });
    }
    if !is_amount(first) {
        return ends_ratio(source, from);
    }
    let mut text = source.plain.text()[..first.start].chars().rev();
    let is_glued = match text.next() {
        Some('.') => text.next() != Some('.'),
        Some('-' | '−' | '/' | '^') => true,
        _ => false,
    };
    is_glued || is_abbreviated(source, from) || (is_plain_number(first) && is_bound(source, from))
}

/// Whether a ratio ends right before `from`: `one in five`, `9 out of 10`.
fn ends_ratio(source: &SourceText, from: usize) -> bool {
    let back = |back: usize| from.checked_sub(back).and_then(|at| joined_before(source, at));
    let (Some(base), Some(tie), Some(share)) = (back(0), back(1), back(2)) else { return false };
    let is_share = is_amount(share) || groups(&share.word).has(Group::One) || share.word == "out";
    base.kind == Kind::Number
        && matches!(tie.word.as_str(), "in" | "of" | "von" | "sur" | "de" | "su")
        && is_share
        && !is_year(source, from - 1)
}

/// `approx. 5`, `No. 5`, `Rs. 5`: the full stop ends nothing.
fn is_abbreviated(source: &SourceText, from: usize) -> bool {
    let pair = (from.checked_sub(1).and_then(|at| source.tokens.get(at)), source.tokens.get(from));
    let (Some(before), Some(first)) = pair else { return false };
    groups(&before.word).has(Group::Abbreviation) && gap(source, before, first).trim() == "."
}

/// Whether the word right before the number at `from` makes something else of it.
fn is_bound(source: &SourceText, from: usize) -> bool {
    let Some(before) = joined_before(source, from) else { return false };
    let word = groups(&before.word);
    if is_single(before) {
        return word.has(Group::Bound);
    }
    if !word.has(Group::BeforeNumber) {
        return !is_amount(before);
    }
    let Some(other) = joined_before(source, from - 1) else { return false };
    let other_word = groups(&other.word);
    if other_word.has_any(&[Group::Bound, Group::Abbreviation]) {
        return true;
    }
    // "1 in 5", "3 mg to 5 mg"; but "5 million in 2019".
    let is_counted = is_amount(other) || other_word.has_any(&[Group::Unit, Group::One]);
    if word.has(Group::Tie) && is_counted && !is_year(source, from) {
        return true;
    }
    is_and(&before.word) && is_between(source, from)
}

/// `between 3 and 5`: some words before.
fn is_between(source: &SourceText, from: usize) -> bool {
    let mut at = from;
    for _ in 0..MAX_BETWEEN {
        let Some(before) = joined_before(source, at) else { return false };
        if groups(&before.word).has(Group::Between) {
            return true;
        }
        at -= 1;
    }
    false
}

/// How a part of a source ends, if with a quantity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Year,
    /// A number, perhaps with its unit.
    Measure,
    /// A number with what is counted.
    Count,
}

fn tail(source: &SourceText, from: usize, to: usize) -> Option<Tail> {
    let last = source.tokens.get(to.checked_sub(1)?)?;
    if is_amount(last) {
        let tail = if is_year(source, to - 1) { Tail::Year } else { Tail::Measure };
        return is_plain_number(last).then_some(tail);
    }
    // "5 square metres", "5 mg".
    let mut at = to - 1;
    while at > from && to - at <= MAX_UNIT {
        let before = joined_before(source, at)?;
        let is_measured = source.tokens.get(at).is_some_and(|it| is_unit(&it.word));
        if is_plain_number(before) && !is_year(source, at - 1) {
            return Some(if is_measured { Tail::Measure } else { Tail::Count });
        }
        if !is_measured && !is_unit(&before.word) {
            return None;
        }
        at -= 1;
    }
    None
}

/// Whether what stands right behind belongs to the quantity that ends at `to`: `5 mg/kg`, `5% a
/// month`, `5 pm`, `5 (±2)`, `5 or more`.
fn ends_inside(source: &SourceText, from: usize, to: usize) -> bool {
    let Some(tail) = tail(source, from, to) else { return false };
    let (Some(last), Some(next)) = (source.tokens.get(to - 1), source.tokens.get(to)) else {
        return false;
    };
    let gap = gap(source, last, next);
    if next.word == "(" {
        // An amount in brackets is another one, unless it is written to this.
        return gap.is_empty();
    }
    if gap.starts_with(['(', '/', '^', '·', '*', '-', '‑', '–', '−', '∙', '⋅']) {
        return true;
    }
    let behind =
        source.tokens.get(to..source.tokens.len().min(to + MAX_BEHIND)).unwrap_or_default();
    let marks = marks(behind);
    let word = marks.first().copied().unwrap_or_default();
    if !is_joined(source, last, next) {
        // "5 (±2)", "5, at most", "5, give or take 2".
        let is_beside = matches!(gap.trim(), "(" | "," | "/") && !gap.contains('\n');
        let is_sign =
            next.kind == Kind::Sign && !matches!(next.word.as_str(), "(" | "$" | "€" | "£");
        let is_number = gap.trim() == "(" && next.kind == Kind::Number;
        return is_beside && (is_sign || is_number || is_limit(word, &marks));
    }
    if is_single(next) {
        return word.has(Group::Bound) || next.kind == Kind::Number;
    }
    match tail {
        Tail::Year => is_unit(&next.word) || word.has(Group::Era),
        Tail::Count => {
            word.has(Group::Rate) || next.kind == Kind::Number || is_tied(source, to, word)
        }
        Tail::Measure if is_new_line(source, last, next) => {
            word.has_any(&[Group::Rate, Group::Month])
        }
        Tail::Measure => {
            word.has(Group::Rate)
                || !word.has(Group::AfterNumber)
                || is_limit(word, &marks)
                || is_tied(source, to, word)
        }
    }
}

/// Whether a line of the Markdown begins with the second of two neighbours and with a capital letter.
fn is_new_line(source: &SourceText, a: &Token, b: &Token) -> bool {
    let place = source.plain.source_range(a.start..b.end);
    b.is_capital && source.markdown.get(place).is_some_and(|text| text.contains('\n'))
}

/// Whether words behind a number make it a bound: "at most", "or more", "give or take".
fn is_limit(word: Groups, marks: &[Groups]) -> bool {
    let is_at = word.has(Group::AfterNumber) || word.has(Group::BeforeNumber);
    word.has(Group::Bound) || (is_at && marks.get(1).is_some_and(|it| it.has(Group::Bound)))
}

/// "5 in 100", "5 for every 100", and the year in "5 in 2019", which is none of it.
fn is_tied(source: &SourceText, to: usize, word: Groups) -> bool {
    let Some(next) = joined(source, to + 1) else { return false };
    let is_each = groups(&next.word).has_any(&[Group::Rate, Group::One]) && !is_article(&next.word);
    word.has(Group::Tie) && !is_year(source, to + 1) && (is_plain_number(next) || is_each)
}

fn has_digit(token: &Token) -> bool {
    token.word.contains(char::is_numeric)
}

/// Whether the number at `at` is a year, as far as it and the word before can say.
fn is_year(source: &SourceText, at: usize) -> bool {
    let Some(number) = source.tokens.get(at) else { return false };
    let looks_so =
        number.word.len() == 4 && number.word.parse().is_ok_and(|it| YEARS.contains(&it));
    let before = at.checked_sub(1).and_then(|at| source.tokens.get(at));
    looks_so && before.is_none_or(|it| groups(&it.word).has_any(&[Group::BeforeYear, Group::Month]))
}

/// Whether an edge parts what is counted together: `3 to 5`, `two and a half`, `hundred and five`.
fn is_counted_on(source: &SourceText, from: usize, to: usize) -> bool {
    let joined = |at: usize| joined(source, at + 1);
    // The token at `at` is a number, then comes a word that joins, then a number.
    let is_series = |at: usize| -> bool {
        let Some(a) = source.tokens.get(at).filter(|it| it.kind == Kind::Number) else {
            return false;
        };
        let Some(link) = joined(at).filter(|it| joins_numbers(&it.word)) else { return false };
        let mut b = joined(at + 1);
        if b.is_some_and(|it| is_article(&it.word)) {
            b = joined(at + 2);
        }
        // Two years with "and" between are two numbers.
        let is_sum = |b: &Token| {
            !is_and(&link.word) || !has_digit(a) || !has_digit(b) || is_between(source, at)
        };
        b.is_some_and(|b| b.kind == Kind::Number && is_sum(b))
    };
    let begins_inside = (2..=3).filter_map(|back| from.checked_sub(back)).any(|at| {
        is_series(at)
            && source.tokens.get(from).is_some_and(|it| it.kind == Kind::Number)
            && source
                .tokens
                .get(at + 2..from)
                .is_some_and(|it| it.iter().all(|it| is_article(&it.word)))
    });
    begins_inside || to.checked_sub(1).is_some_and(is_series)
}

/// Numbers that may be years.
const YEARS: std::ops::RangeInclusive<u32> = 1000..=2199;

/// "between 3 million euros and 5": so far back "between" is looked for.
const MAX_BETWEEN: usize = 6;

/// "million cubic metres": so many words are a unit.
const MAX_UNIT: usize = 4;

/// Words that are read behind a number.
const MAX_BEHIND: usize = 3;
