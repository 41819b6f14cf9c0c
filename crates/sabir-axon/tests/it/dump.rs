//! Trees and findings as text that a reviewer can read.

use std::fmt::Write as _;

use sabir_axon::{Expr, Kind, Node, Tree, endpoint_agents};
use sabir_base::{Diagnostic, LineIndex};

/// One line per message, fully bracketed: associativity is visible.
pub(crate) fn tree(tree: &Tree<'_>) -> String {
    let mut out = String::new();
    for node in tree.root().children() {
        message(node, &mut out);
        out.push('\n');
    }
    out
}

/// Each finding with its place, what to type, and the edits.
pub(crate) fn findings(text: &str, diagnostics: &[Diagnostic]) -> String {
    let lines = LineIndex::new(text);
    let mut out = String::new();
    for found in diagnostics {
        let at = lines.line_col(text, found.span.start);
        let severity = found.severity.as_str();
        let (code, message) = (found.code, &found.message);
        let _ = writeln!(out, "{}:{} {severity} {code} {message}", at.line, at.column);
        for edit in &found.fixes {
            let old = &text[edit.span.range()];
            let _ = writeln!(out, "    {:?} {old:?} -> {:?}", edit.span, edit.text);
        }
    }
    out
}

fn message(node: Node<'_>, out: &mut String) {
    let Some(message) = node.as_message() else {
        let _ = write!(out, "<error {:?}>", node.text());
        return;
    };
    if message.meta_node().is_some() {
        out.push('[');
        for field in message.meta() {
            let _ = write!(out, "{}: ", field.key());
            expr(field.value, out);
            out.push_str("; ");
        }
        out.truncate(out.len() - 2);
        out.push_str("] ");
    }
    let _ = write!(out, "{} ", message.word());
    endpoint(message.from, out);
    out.push_str(" > ");
    endpoint(message.to, out);
    out.push_str(": ");
    expr(message.content, out);
}

fn endpoint(node: Node<'_>, out: &mut String) {
    match node.kind() {
        Kind::Anyone => out.push('*'),
        Kind::Agent => out.push_str(node.text()),
        _ => {
            let _ = write!(out, "{:?}", endpoint_agents(node).collect::<Vec<_>>());
        }
    }
}

fn expr(node: Node<'_>, out: &mut String) {
    match node.expr() {
        Expr::Null => out.push_str("null"),
        Expr::Bool(value) => {
            let _ = write!(out, "{value}");
        }
        Expr::String(string) => {
            let _ = write!(out, "{:?}", string.value());
        }
        Expr::Number(number) => {
            out.push_str(number.lexeme);
            if let Some(unit) = number.unit {
                let _ = write!(out, "<{}>", unit.text());
            }
        }
        Expr::Ref(name) => {
            let _ = write!(out, "ref {name}");
        }
        Expr::Var(name) => {
            let _ = write!(out, "var {name}");
        }
        Expr::Name(name) => {
            let _ = write!(out, "name {name}");
        }
        Expr::Tag { name, record } => {
            let _ = write!(out, "tag {name}");
            if let Some(record) = record {
                expr(record, out);
            }
        }
        Expr::Call { name, args } => {
            let _ = write!(out, "call {name}");
            list(args, ["(", ")"], out);
        }
        Expr::List(elements) => list(elements, ["[", "]"], out),
        Expr::Record(fields) => list(fields, ["{", "}"], out),
        Expr::Approx { times, of } => {
            let _ = write!(out, "(~{times} ");
            expr(of, out);
            out.push(')');
        }
        Expr::Range { from, to } => pair("..", from, to, out),
        Expr::Compare { op, left, right } => pair(op.symbol(), left, right, out),
        Expr::Chain { op, operands } => {
            let operands: Vec<_> = operands.collect();
            let (symbol, count) = (op.symbol(), operands.len());
            // Brackets as the operator groups: `<-` to the right, the others to the left.
            if symbol == "<-" {
                for (at, operand) in operands.into_iter().enumerate() {
                    let last = at + 1 == count;
                    out.push_str(if last { "" } else { "(" });
                    expr(operand, out);
                    out.push_str(if last { "" } else { " <- " });
                }
                out.push_str(&")".repeat(count - 1));
            } else {
                out.push_str(&"(".repeat(count - 1));
                for (at, operand) in operands.into_iter().enumerate() {
                    if at > 0 {
                        let _ = write!(out, " {symbol} ");
                    }
                    expr(operand, out);
                    out.push_str(if at > 0 { ")" } else { "" });
                }
            }
        }
        Expr::Message(_) => {
            out.push_str("message(");
            message(node.peeled(), out);
            out.push(')');
        }
        Expr::Error => {
            let _ = write!(out, "<error {:?}>", node.text());
        }
    }
}

fn pair(symbol: &str, left: Node<'_>, right: Node<'_>, out: &mut String) {
    out.push('(');
    expr(left, out);
    let _ = write!(out, " {symbol} ");
    expr(right, out);
    out.push(')');
}

fn list<'a>(elements: impl Iterator<Item = Node<'a>>, [open, close]: [&str; 2], out: &mut String) {
    out.push_str(open);
    for (at, element) in elements.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        match element.as_field() {
            Some(field) => {
                let _ = write!(out, "{:?}: ", field.key());
                expr(field.value, out);
            }
            None => expr(element, out),
        }
    }
    out.push_str(close);
}
