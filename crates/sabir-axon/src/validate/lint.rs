//! Advice: what is valid and hardly what was meant.

use sabir_base::{Diagnostic, Edit, Findings, Span};

use crate::codes;
use crate::tree::Kind;
use crate::view::{Comparison, Message, Node};

/// `true`, `None` and their kin are plain names in AXON.
#[inline]
pub(super) fn check_name(name: Node<'_>, findings: &mut Findings) {
    // Most names are longer or start with another letter.
    let text = name.text();
    if text.len() > 5
        || !matches!(text.as_bytes().first(), Some(b'T' | b't' | b'F' | b'f' | b'N' | b'n'))
    {
        return;
    }
    let literal = match text {
        "true" | "True" | "TRUE" => "T",
        "false" | "False" | "FALSE" => "F",
        "null" | "NULL" | "Null" | "nil" | "None" => "_",
        _ => return,
    };
    findings.info(|| {
        let message = format!("`{text}` is a plain name in AXON");
        Diagnostic::info(codes::FOREIGN_LITERAL, name.span(), message)
            .help(format!("write `{literal}`"))
            .fix(Edit::replace(name.span(), literal))
    });
}

/// `x-5 < 3`: one name, where a subtraction may have been meant. Only where quantities stand: in
/// other places `worker-1` is what it looks like.
pub(super) fn check_quantity(operand: Node<'_>, findings: &mut Findings) {
    let operand = operand.peeled();
    if !matches!(operand.kind(), Kind::Name | Kind::Var) {
        return;
    }
    let text = operand.text();
    let Some((front, back)) = text.rsplit_once('-') else { return };
    let subtracts = !back.is_empty() && back.bytes().all(|byte| byte.is_ascii_digit());
    if !subtracts || front.is_empty() {
        return;
    }
    findings.info(|| {
        let message = format!("`{text}` is one name, not a subtraction");
        Diagnostic::info(codes::MINUS_IN_NAME, operand.span(), message)
            .help("AXON has no arithmetic; say it with a call, such as `minus(x, 5)`")
    });
}

/// Whether a comparison is about quantities: names are compared with `=`, too.
pub(super) fn is_order(op: Comparison) -> bool {
    !matches!(op, Comparison::Eq | Comparison::Ne)
}

/// `x<-5`: "because of 5", where `x < -5` was meant.
pub(super) fn check_cause(chain: Node<'_>, source: &str, findings: &mut Findings) {
    let mut left = None;
    for operand in chain.children() {
        if let Some(left) = left {
            check_glued(left, operand, source, findings);
        }
        left = Some(operand);
    }
}

#[inline]
fn check_glued(left: Node<'_>, right: Node<'_>, source: &str, findings: &mut Findings) {
    let at = right.span().start;
    let glued = source.as_bytes()[..at as usize].ends_with(b"<-")
        && source.as_bytes().get(at as usize).is_some_and(u8::is_ascii_digit);
    if !glued {
        return;
    }
    // Comparisons do not chain, so the edit must not make a second one.
    let fixable =
        edge(left, Edge::Last) != Kind::Compare && edge(right, Edge::First) != Kind::Compare;
    findings.warning(|| {
        let message = "`<-` means \"because\" here, not \"less than minus\"";
        let found = Diagnostic::warning(codes::CAUSE_BY_NUMBER, Span::new(at - 2, at), message)
            .help("write `< -` to compare with a negative number, `<- ` to name a cause");
        if fixable { found.fix(Edit::insert(at - 1, " ")) } else { found }
    });
}

enum Edge {
    First,
    Last,
}

/// The operand of a chain that stands at its edge.
fn edge(node: Node<'_>, at: Edge) -> Kind {
    let mut node = node;
    while matches!(node.kind(), Kind::Then | Kind::All | Kind::Any) {
        let inner = match at {
            Edge::First => node.children().next(),
            Edge::Last => node.children().last(),
        };
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node.kind()
}

/// `a & b | c`: in AXON `|` binds tighter, in most languages `&` does.
#[cold]
pub(super) fn mixed_operators(any: Node<'_>, findings: &mut Findings) {
    findings.warning(|| {
        let message = "`|` binds tighter than `&`, unlike in most languages";
        Diagnostic::warning(codes::MIXED_OPERATORS, any.span(), message)
            .help("put parentheses around what belongs together")
            .fix(Edit::insert(any.span().start, "("))
            .fix(Edit::insert(any.span().end, ")"))
    });
}

/// `X.trade.bid`: performatives are written in capitals.
pub(super) fn check_extension(message: Message<'_>, findings: &mut Findings) {
    if message.performative().is_some() {
        return;
    }
    let node = message.performative_node();
    let word = node.text();
    // Only a word of the right shape: others have a diagnostic of the parser.
    let Some((front, name)) = word.rsplit_once('.').filter(|_| word.starts_with("X.")) else {
        return;
    };
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    findings.info(|| {
        let capitals = name.to_ascii_uppercase();
        let span = Span::new(node.span().end - name.len() as u32, node.span().end);
        Diagnostic::info(codes::LOWER_CASE_EXTENSION, span, "performatives are written in capitals")
            .help(format!("write `{front}.{capitals}`"))
            .fix(Edit::replace(span, capitals))
    });
}
