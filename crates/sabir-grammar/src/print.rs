//! What the printers share: the order of things, where a group is needed, where a line breaks, and
//! how repetitions and sets of characters are written in all dialects that descend from regular
//! expressions.

use std::borrow::Cow;

use crate::table::Table;
use crate::{Class, Except, Expr};

/// A way of writing rules down.
pub(crate) trait Dialect {
    const LAYOUT: Layout;

    fn name(&self, rule: &str) -> String;
    fn literal(&self, text: &str) -> String;
    fn class(&self, class: &Class) -> Piece;
    fn except(&self, except: &Except) -> Piece;

    fn optional(&self, inner: Piece) -> Piece {
        Piece::repeated(inner, '?')
    }

    fn many(&self, inner: Piece) -> Piece {
        Piece::repeated(inner, '*')
    }

    fn some(&self, inner: Piece) -> Piece {
        Piece::repeated(inner, '+')
    }

    /// What stands for the whole body of a rule, if a dialect must write it another way.
    fn body<'e>(&self, body: &'e Expr) -> Cow<'e, Expr> {
        Cow::Borrowed(body)
    }
}

/// The marks around a rule and its comment.
pub(crate) struct Layout {
    /// Before and behind each line of a comment.
    pub(crate) comment: (&'static str, &'static str),
    /// Directly behind the name of a rule.
    pub(crate) defines: &'static str,
    /// Behind the body.
    pub(crate) ends: &'static str,
    pub(crate) bars: Bars,
}

/// Where the bar goes when a choice takes several lines.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bars {
    /// At the start of a line, in the column under the sign that opens the rule.
    Leading,
    /// At the end, because the dialect ends a rule at the first line that could be its last.
    Trailing,
}

/// Rendered text, and how tightly it holds together.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) text: String,
    binding: Binding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Sequence,
    /// Takes no second sign of repetition.
    Repeated,
    Atom,
}

impl Piece {
    pub(crate) fn choice(text: impl Into<String>) -> Self {
        Self { text: text.into(), binding: Binding::Choice }
    }

    pub(crate) fn sequence(text: impl Into<String>) -> Self {
        Self { text: text.into(), binding: Binding::Sequence }
    }

    pub(crate) fn atom(text: impl Into<String>) -> Self {
        Self { text: text.into(), binding: Binding::Atom }
    }

    fn repeated(inner: Piece, sign: char) -> Self {
        Self { text: format!("{}{sign}", inner.grouped()), binding: Binding::Repeated }
    }

    /// The text, in a group if it is more than an atom.
    pub(crate) fn grouped(self) -> String {
        self.at_least(Binding::Atom)
    }

    fn at_least(self, binding: Binding) -> String {
        if self.binding < binding { format!("({})", self.text) } else { self.text }
    }
}

pub(crate) fn table<D: Dialect>(dialect: &D, introduction: &str, table: &Table) -> String {
    let mut out = comment::<D>(introduction);
    for rule in &table.rules {
        out.push('\n');
        if let Some(text) = &rule.comment {
            out.push_str(&comment::<D>(text));
        }
        out.push_str(&one_rule(dialect, &rule.name, &rule.body));
        out.push('\n');
    }
    out
}

pub(crate) fn render(dialect: &impl Dialect, expr: &Expr) -> Piece {
    match expr {
        Expr::Literal(text) => Piece::atom(dialect.literal(text)),
        Expr::Class(class) => dialect.class(class),
        Expr::Rule(name) => Piece::atom(dialect.name(name)),
        Expr::Except(except) => dialect.except(except),
        Expr::Optional(inner) => dialect.optional(render(dialect, inner)),
        Expr::Many(inner) => dialect.many(render(dialect, inner)),
        Expr::Some(inner) => dialect.some(render(dialect, inner)),
        Expr::Sequence(parts) => {
            let parts = parts.iter().map(|part| render(dialect, part).at_least(Binding::Sequence));
            Piece::sequence(parts.collect::<Vec<_>>().join(" "))
        }
        Expr::Choice(parts) => Piece::choice(alternatives(dialect, parts).join(" | ")),
    }
}

/// `text` between double quotes.
pub(crate) fn quote(text: &str) -> String {
    let inner: String = text.chars().map(|c| escape(c, "\\\"")).collect();
    format!("\"{inner}\"")
}

/// A class between brackets. `end` writes one end of a range.
pub(crate) fn brackets(class: &Class, end: impl Fn(char) -> String) -> String {
    let sign = if class.negated { "^" } else { "" };
    let ranges = class.ranges.iter().map(|&(low, high)| {
        if low == high { end(low) } else { format!("{}-{}", end(low), end(high)) }
    });
    format!("[{sign}{}]", ranges.collect::<String>())
}

/// `c`, with a backslash before it if it is one of `special`. Control characters have names, because
/// a raw line break would end the rule.
pub(crate) fn escape(c: char, special: &str) -> String {
    match c {
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\n' => "\\n".to_owned(),
        c if c.is_control() => hex(c),
        c if special.contains(c) => format!("\\{c}"),
        c => c.to_string(),
    }
}

/// `c` by its number, which has two digits: control characters and ASCII.
pub(crate) fn hex(c: char) -> String {
    format!("\\x{:02X}", u32::from(c))
}

fn one_rule<D: Dialect>(dialect: &D, name: &str, body: &Expr) -> String {
    let Layout { defines, ends, bars, .. } = D::LAYOUT;
    let mut out = format!("{}{defines}", dialect.name(name));
    let body = dialect.body(body);
    let whole = format!("{out} {}{ends}", render(dialect, &body).text);
    let Expr::Choice(parts) = &*body else { return whole };
    if whole.chars().count() <= WIDTH {
        return whole;
    }
    let mut column = out.len();
    for (index, part) in alternatives(dialect, parts).iter().enumerate() {
        let breaks = index > 0 && column + part.len() + " | ".len() > WIDTH;
        let glue = match (index, breaks, bars) {
            (0, ..) => " ",
            (_, false, _) => " | ",
            (_, true, Bars::Leading) => "\n    | ",
            (_, true, Bars::Trailing) => " |\n    ",
        };
        if breaks {
            column = 0;
        }
        out.push_str(glue);
        out.push_str(part);
        column += glue.len() + part.len();
    }
    out.push_str(ends);
    out
}

/// `text` as comment lines.
fn comment<D: Dialect>(text: &str) -> String {
    let (open, close) = D::LAYOUT.comment;
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + word.len() + open.len() + close.len() > WIDTH {
            out.push_str(&format!("{open}{line}{close}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        out.push_str(&format!("{open}{line}{close}\n"));
    }
    out
}

fn alternatives(dialect: &impl Dialect, parts: &[Expr]) -> Vec<String> {
    parts.iter().map(|part| render(dialect, part).text).collect()
}

/// What an editor shows without scrolling, and what our own source keeps to.
const WIDTH: usize = 100;
