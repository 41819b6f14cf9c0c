//! A tree without its spelling: parentheses looked through, chains flattened.
//!
//! What equality, the printer and the JSON encoding must agree on stands here once. Nothing here
//! recurses: a chain may have as many operands as a text has bytes.

use crate::tree::{Kind, NodeId};
use crate::view::{Children, Node};

/// How tightly a construct binds (section 5). An operand that binds less tightly than its place
/// demands needs parentheses.
pub(crate) type Level = u8;

pub(crate) const RANGE: Level = 6;
pub(crate) const PRIMARY: Level = 7;

pub(crate) fn level(kind: Kind) -> Level {
    match kind {
        Kind::Cause => 1,
        Kind::Then => 2,
        Kind::All => 3,
        Kind::Any => 4,
        Kind::Compare => 5,
        Kind::Range => RANGE,
        _ => PRIMARY,
    }
}

/// The node inside any number of parentheses. Unlike [`Node::peeled`] it stops at parentheses that
/// hold nothing or several things, so that a walker can tell them from their first element.
pub(crate) fn peel(mut node: Node<'_>) -> Node<'_> {
    while node.kind() == Kind::Paren {
        let mut children = node.children();
        match (children.next(), children.next()) {
            (Some(inner), None) => node = inner,
            _ => break,
        }
    }
    node
}

/// How many `~` stand before what: `~(~x)` is `~ ~x`.
pub(crate) fn approx(node: Node<'_>) -> (u32, Node<'_>) {
    let (mut times, mut inner) = (0u32, node);
    while inner.kind() == Kind::Approx {
        let Some(of) = inner.children().next() else { break };
        times = times.saturating_add(inner.tree.nodes[inner.id.0 as usize].mid);
        inner = peel(of);
    }
    (times, inner)
}

/// Where the first token of an expression stands, leaving out parentheses.
pub(crate) fn lead(node: Node<'_>) -> u32 {
    let mut node = peel(node);
    while level(node.kind()) < PRIMARY {
        match node.children().next() {
            Some(first) => node = peel(first),
            None => break,
        }
    }
    node.span().start
}

/// The operands of a chain, peeled, with nested chains of the same operator taken in where grouping
/// says the same: `(a->b)->c` has the operands of `a->b->c`, and so has `a<-(b<-c)`.
pub(crate) fn operands(chain: Node<'_>) -> Operands<'_> {
    Operands { kind: chain.kind(), current: chain.children(), fresh: true, outer: Vec::new() }
}

#[derive(Debug)]
pub(crate) struct Operands<'a> {
    kind: Kind,
    current: Children<'a>,
    /// Whether `current` stands at its first operand.
    fresh: bool,
    /// What is left of the chains around `current`. Empty, and so not allocated, in nearly all.
    outer: Vec<Children<'a>>,
}

impl<'a> Iterator for Operands<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        loop {
            let Some(node) = self.current.next() else {
                self.current = self.outer.pop()?;
                continue;
            };
            let first = std::mem::replace(&mut self.fresh, false);
            let operand = peel(node);
            if operand.kind() != self.kind {
                return Some(operand);
            }
            if self.kind == Kind::Cause {
                let last = node.tree.nodes[node.id.0 as usize].next == NodeId::NONE;
                if !last {
                    return Some(operand);
                }
                self.current = operand.children();
            } else {
                if !first {
                    return Some(operand);
                }
                self.outer.push(std::mem::replace(&mut self.current, operand.children()));
                self.fresh = true;
            }
        }
    }
}
