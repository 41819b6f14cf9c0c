//! The one walk over a message's expressions, from which types, scope and advice are checked.

use sabir_base::Findings;

use super::damage::Damage;
use super::scope::Scope;
use super::{conversation, lint, types};
use crate::tree::Kind;
use crate::view::{Comparison, Expr, Message, Node};

/// Walks messages one by one and reuses its memory.
pub(super) struct Walker<'a> {
    scope: Scope<'a>,
    damage: &'a Damage,
}

impl<'a> Walker<'a> {
    pub(super) fn new(damage: &'a Damage) -> Self {
        Self { scope: Scope::default(), damage }
    }

    pub(super) fn message(&mut self, message: Message<'a>, findings: &mut Findings) {
        lint::check_extension(message, findings);
        for field in message.meta() {
            self.walk(field.value, findings);
        }
        self.walk(message.content, findings);
        // What seems to be unbound may be bound in what could not be read.
        if !self.damage.touches(message.node.span()) {
            self.scope.remark_unbound(findings);
        }
        self.scope.close();
    }

    /// Recursion is bounded: the parser limits brackets, and between two brackets there are at most
    /// as many levels as there are operators.
    fn walk(&mut self, node: Node<'a>, findings: &mut Findings) {
        match node.kind() {
            // The parser may have joined what stood side by side; there is nothing to check but the
            // parts.
            Kind::Range | Kind::Compare | Kind::Any | Kind::All | Kind::Cause | Kind::Message
                if self.damage.touches(node.span()) =>
            {
                self.children(node, findings);
            }
            Kind::Name => lint::check_name(node, findings),
            Kind::Var => self.scope.uses(node),
            Kind::Tag
            | Kind::Call
            | Kind::List
            | Kind::Record
            | Kind::Field
            | Kind::Paren
            | Kind::Approx => self.children(node, findings),
            Kind::Range => {
                self.range(node, findings);
                self.children(node, findings);
            }
            Kind::Compare => self.compare(node, findings),
            Kind::Any | Kind::All => {
                self.operands(node, findings);
                self.children(node, findings);
            }
            Kind::Then => {
                self.scope.open_steps();
                for step in node.children() {
                    self.scope.next_step();
                    self.walk(step, findings);
                }
                self.scope.close_steps();
            }
            Kind::Cause => {
                lint::check_cause(node, node.tree.text(), findings);
                self.children(node, findings);
            }
            Kind::Message => self.nested(node, findings),
            Kind::Document
            | Kind::Meta
            | Kind::Performative
            | Kind::Agent
            | Kind::Anyone
            | Kind::Agents
            | Kind::Null
            | Kind::True
            | Kind::False
            | Kind::String
            | Kind::Number
            | Kind::Ref
            | Kind::Error => {}
        }
    }

    #[inline]
    fn children(&mut self, node: Node<'a>, findings: &mut Findings) {
        for child in node.children() {
            self.walk(child, findings);
        }
    }

    fn range(&mut self, node: Node<'a>, findings: &mut Findings) {
        let Expr::Range { from, to } = node.expr() else { return };
        types::check_range(from, to, findings);
        lint::check_quantity(from, findings);
        lint::check_quantity(to, findings);
    }

    fn compare(&mut self, node: Node<'a>, findings: &mut Findings) {
        let Expr::Compare { op, left, right } = node.expr() else {
            return self.children(node, findings);
        };
        types::check_comparison(left, right, findings);
        if lint::is_order(op) {
            lint::check_quantity(left, findings);
            lint::check_quantity(right, findings);
        }
        let bound = left.peeled();
        if op == Comparison::Eq && bound.kind() == Kind::Var {
            self.scope.binds(bound, findings);
        } else {
            self.walk(left, findings);
        }
        self.walk(right, findings);
    }

    fn operands(&mut self, chain: Node<'a>, findings: &mut Findings) {
        if let Some(raw) = chain.children().find(|operand| types::is_raw(*operand)) {
            types::raw_operand(chain, raw, findings);
        }
        if chain.kind() == Kind::All {
            for operand in chain.children().filter(|operand| operand.kind() == Kind::Any) {
                lint::mixed_operators(operand, findings);
            }
        }
    }

    fn nested(&mut self, node: Node<'a>, findings: &mut Findings) {
        let Some(message) = node.as_message() else { return };
        lint::check_extension(message, findings);
        conversation::check_nak(message, findings);
        self.walk(message.content, findings);
    }
}
