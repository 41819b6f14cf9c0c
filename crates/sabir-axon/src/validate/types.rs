//! Types: what can be compared, ranged over and joined (section 6.4, rules 1 and 2).

use sabir_base::{Diagnostic, Findings};

use crate::codes;
use crate::tree::Kind;
use crate::unit::Unit;
use crate::view::{Expr, Node};

/// What a number is a number of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Of(Unit),
    Plain,
    /// Not a number, or not known to be one.
    Unknown,
}

/// What an operand is, through parentheses and `~`.
fn bare(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while matches!(node.kind(), Kind::Paren | Kind::Approx) {
        match node.children().next() {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// The measure of an operand of a comparison; a range measures what its ends measure.
fn measure(node: Node<'_>) -> Measure {
    let node = bare(node);
    match node.kind() {
        Kind::Number => match node.expr() {
            Expr::Number(number) => number.unit.map_or(Measure::Plain, Measure::Of),
            _ => Measure::Unknown,
        },
        Kind::Range => {
            let known = |measure: &Measure| *measure != Measure::Unknown;
            node.children().map(measure).find(known).unwrap_or(Measure::Unknown)
        }
        _ => Measure::Unknown,
    }
}

pub(super) fn check_comparison(left: Node<'_>, right: Node<'_>, findings: &mut Findings) {
    match (measure(left), measure(right)) {
        (Measure::Of(a), Measure::Of(b)) if a.category() != b.category() => {
            findings.error(|| {
                let (a, b) = (a.category().name(), b.category().name());
                let message = format!("{a} cannot be compared with {b}");
                Diagnostic::error(codes::INCOMPARABLE_UNITS, left.span().to(right.span()), message)
                    .label(left.span(), a)
                    .label(right.span(), b)
                    .help(COMPARABLE)
            });
        }
        pair => check_mixed(pair, left, right, findings),
    }
}

const COMPARABLE: &str = "compare time (ms s min h d) with time, size (B KB MB GB) with size, \
                          currency (usd eur) with currency, % with %, tok with tok";

fn check_mixed(pair: (Measure, Measure), left: Node<'_>, right: Node<'_>, findings: &mut Findings) {
    let (plain, unit) = match pair {
        (Measure::Plain, Measure::Of(unit)) => (left, unit),
        (Measure::Of(unit), Measure::Plain) => (right, unit),
        _ => return,
    };
    findings.warning(|| {
        let unit = unit.text();
        let message = format!("this number has no unit, and the other one is in `{unit}`");
        Diagnostic::warning(codes::MIXED_UNITS, plain.span(), message)
            .label(if plain.id() == left.id() { right } else { left }.span(), "this has a unit")
            .help(format!("write the unit on both sides, such as `{unit}`"))
    });
}

pub(super) fn check_range(from: Node<'_>, to: Node<'_>, findings: &mut Findings) {
    let (Some(left), Some(right)) = (literal(bare(from)), literal(bare(to))) else { return };
    let measures = (measure(from), measure(to));
    let message = match measures {
        (Measure::Of(a), Measure::Of(b)) if a.category() != b.category() => {
            let (a, b) = (a.category().name(), b.category().name());
            format!("a range cannot run from {a} to {b}")
        }
        _ if left == right => return check_mixed(measures, from, to, findings),
        _ => format!("a range cannot run from {left} to {right}"),
    };
    findings.error(|| {
        Diagnostic::error(codes::RANGE_TYPES, from.span().to(to.span()), message)
            .help("give both ends of a range the same type")
    });
}

/// The type of a literal; nothing for what only the receiver can know.
fn literal(node: Node<'_>) -> Option<&'static str> {
    Some(match node.kind() {
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Ref => "a reference",
        Kind::Tag => "a tag",
        Kind::True | Kind::False => "a boolean",
        Kind::Null => "null",
        Kind::List => "a list",
        Kind::Record => "a record",
        Kind::Range => "a range",
        _ => return None,
    })
}

/// An operand of `&` or `|`. One finding is enough for a chain, so the caller stops at `true`.
pub(super) fn is_raw(operand: Node<'_>) -> bool {
    matches!(bare(operand).kind(), Kind::Number | Kind::String)
}

#[cold]
pub(super) fn raw_operand(chain: Node<'_>, operand: Node<'_>, findings: &mut Findings) {
    findings.warning(|| {
        let symbol = if chain.kind() == Kind::All { "&" } else { "|" };
        let message = format!("`{symbol}` joins expressions, and this is a raw value");
        Diagnostic::warning(codes::RAW_OPERAND, operand.span(), message)
            .help("join tags, names, calls or comparisons; several values are a list: `[a,b]`")
    });
}
