//! What the three printers share: where a group is needed, and where a line breaks.

use super::rule::{Class, Except, Expr};

/// A way of writing rules down.
pub(super) trait Dialect {
    fn literal(&self, text: &str) -> Piece;
    fn class(&self, class: &Class) -> Piece;
    fn reference(&self, name: &str) -> Piece;
    fn except(&self, except: &Except) -> Piece;
    fn optional(&self, inner: Piece) -> Piece;
    fn many(&self, inner: Piece) -> Piece;
    fn some(&self, inner: Piece) -> Piece;
}

/// Rendered text, and how tightly it holds together.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) text: String,
    binding: Binding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Sequence,
    Atom,
}

/// Where the bar goes when a choice takes several lines.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bars {
    /// At the start of a line, in the column under the sign that opens the rule.
    Leading,
    /// At the end, because the dialect ends a rule at the first line that could be its last.
    Trailing,
}

impl Piece {
    pub(super) fn choice(text: impl Into<String>) -> Self {
        Self { text: text.into(), binding: Binding::Choice }
    }

    pub(super) fn sequence(text: impl Into<String>) -> Self {
        Self { text: text.into(), binding: Binding::Sequence }
    }

    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self { text: text.into(), binding: Binding::Atom }
    }

    /// The text, in a group if it is more than an atom.
    pub(super) fn grouped(self) -> String {
        self.at_least(Binding::Atom)
    }

    fn at_least(self, binding: Binding) -> String {
        if self.binding < binding { format!("({})", self.text) } else { self.text }
    }
}

pub(super) fn render(dialect: &impl Dialect, expr: &Expr) -> Piece {
    match expr {
        Expr::Literal(text) => dialect.literal(text),
        Expr::Class(class) => dialect.class(class),
        Expr::Rule(name) => dialect.reference(name),
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

/// One rule: `head`, `body`, `end`.
pub(super) fn render_rule(
    dialect: &impl Dialect,
    body: &Expr,
    head: &str,
    end: &str,
    bars: Bars,
) -> String {
    let whole = format!("{head} {}{end}", render(dialect, body).text);
    let Expr::Choice(parts) = body else { return whole };
    if whole.chars().count() <= WIDTH {
        return whole;
    }
    let mut out = head.to_owned();
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
    out.push_str(end);
    out
}

/// `text` as comment lines that each start with `open` and end with `close`.
pub(super) fn comment(text: &str, open: &str, close: &str) -> String {
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
