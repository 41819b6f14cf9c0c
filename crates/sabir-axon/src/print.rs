//! Tree to text: one walk, two layouts.
//!
//! The walk decides which tokens come out, with which parentheses and which comments between them.
//! A layout decides the white space. So both styles say the same by construction.

mod comments;
mod pretty;
mod wire;

use comments::Comments;
use pretty::Pretty;
use wire::Wire;

use crate::MAX_DEPTH;
use crate::normal::{Level, PRIMARY, RANGE, approx, lead, level, operands, peel};
use crate::performative::Performative;
use crate::tree::{Kind, NodeId, Tree};
use crate::view::{Chain, Children, Comparison, Expr, Node, is_bare_key};

/// How a document is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// One line a message, cheapest in tokens: the canonical form.
    Wire,
    /// For people: at most 88 columns where that can be had, one element a line where it cannot.
    Pretty,
}

/// Prints a document. Of a document without errors, the result reads as an equal tree with the same
/// comments, and prints as itself. What could not be read comes out as written.
pub fn print(tree: &Tree<'_>, style: Style) -> String {
    let comments = Comments::of(tree);
    let size = tree.text().len();
    let printed = match style {
        Style::Wire => Printer::new(Wire::new(size), comments).document(tree),
        Style::Pretty => Printer::new(Pretty::new(size), comments).document(tree),
    };
    printed.text
}

/// Prints a tree that did not come from a text: `None` when it is deeper than a text may be.
pub(crate) fn print_built(tree: &Tree<'_>) -> Option<String> {
    let printed = Printer::new(Wire::new(tree.text().len()), Comments::none()).document(tree);
    (!printed.too_deep).then_some(printed.text)
}

/// What a layout must do. "Wire" below is what the narrow layout makes of it.
trait Layout {
    /// A point to come back to within the current message.
    type Mark;

    fn token(&mut self, text: &str);
    /// A token that must not touch what it would merge with: `-5` behind `<`, `>` behind a name's
    /// last `-`, `~` behind `~`.
    fn guarded(&mut self, text: &str);
    fn string(&mut self, value: &str);
    /// Beside an operator. Wire: nothing.
    fn space(&mut self);
    /// Behind the `):` of routing, in both styles.
    fn gap(&mut self);
    /// A group is on one line, or all its own breaks are new lines. Wire: nothing.
    fn open(&mut self);
    fn close(&mut self);
    fn indent(&mut self);
    fn dedent(&mut self);
    /// A new line if the group is broken, otherwise nothing or a space. Wire: nothing.
    fn line(&mut self);
    fn line_or_space(&mut self);
    /// Behind metadata. Wire: nothing.
    fn end_of_meta(&mut self);
    /// A comment between two tokens of one line.
    fn inline_comment(&mut self, text: &str);
    /// A comment on a line of its own, outside of any group.
    fn own_line_comment(&mut self, text: &str);
    fn begin_message(&mut self);
    fn end_message(&mut self);
    fn mark(&self) -> Self::Mark;
    fn rewind(&mut self, mark: Self::Mark);
    fn finish(self) -> String;
}

/// When a nested message that is an operand stands in parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parens {
    /// Always: a reader need not know that a nested message is greedy.
    Clear,
    /// Only where something follows. For messages so deep that clarity would break the limit.
    Fewest,
}

/// Whether something follows before the next closing bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Last,
    Inner,
}

struct Printed {
    text: String,
    too_deep: bool,
}

struct Printer<'t, L> {
    layout: L,
    comments: Comments<'t>,
    parens: Parens,
    depth: u32,
    too_deep: bool,
    /// The comparison that would make its call look like a message; see `looks_like_routing`.
    guarded: NodeId,
}

impl<'t, L: Layout> Printer<'t, L> {
    fn new(layout: L, comments: Comments<'t>) -> Self {
        Self {
            layout,
            comments,
            parens: Parens::Clear,
            depth: 0,
            too_deep: false,
            guarded: NodeId::NONE,
        }
    }

    fn document(mut self, tree: &Tree<'_>) -> Printed {
        let mut too_deep = false;
        let mut nodes = tree.root().children().peekable();
        while let Some(node) = nodes.next() {
            self.layout.begin_message();
            self.own_line_comments(node.span().start);
            self.parens = Parens::Clear;
            let (mark, comments) = (self.layout.mark(), self.comments.position());
            self.message(node);
            if self.too_deep {
                self.layout.rewind(mark);
                self.comments.rewind(comments);
                self.parens = Parens::Fewest;
                self.too_deep = false;
                self.message(node);
                too_deep |= std::mem::take(&mut self.too_deep);
            }
            if self.comments.next_at() != Comments::NONE_LEFT {
                let next = nodes.peek().map(|next| next.span().start);
                self.trailing_comments(tree.text(), node.span().end, next);
            }
            self.layout.end_message();
        }
        if self.comments.next_at() != Comments::NONE_LEFT {
            self.layout.begin_message();
            self.own_line_comments(u32::MAX - 1);
            self.layout.end_message();
        }
        Printed { text: self.layout.finish(), too_deep }
    }

    /// A comment that starts on the line on which a message ends is about that message.
    fn trailing_comments(&mut self, text: &str, end: u32, next: Option<u32>) {
        let rest = &text[end as usize..];
        let line = rest.find('\n').unwrap_or(rest.len());
        let limit = next.unwrap_or(u32::MAX - 1).min(end + line as u32);
        while self.comments.next_at() < limit {
            let comment = self.comments.take();
            self.layout.space();
            self.layout.token(comment);
            // What follows it would not stand on the message's line any more.
            if comment.contains('\n') {
                break;
            }
        }
    }

    fn message(&mut self, node: Node<'_>) {
        let Some(message) = node.as_message() else { return self.verbatim(node) };
        let performative = message.performative_node();
        let mut parts = 4;
        if let Some(meta) = message.meta_node() {
            parts += 1;
            self.bracketed("[", meta.children(), "]", meta.span().end);
            self.layout.end_of_meta();
            self.own_line_comments(performative.span().start);
        }
        self.leaf(performative);
        self.layout.token("(");
        self.endpoint(message.from);
        self.layout.guarded(">");
        self.endpoint(message.to);
        self.layout.token("):");
        self.layout.gap();
        self.expr(message.content);
        // Only a message with errors has anything behind its content.
        for rest in node.children().skip(parts) {
            self.layout.gap();
            self.verbatim(rest);
        }
    }

    fn endpoint(&mut self, node: Node<'_>) {
        match node.kind() {
            Kind::Agents => {
                self.at(node.span().start);
                self.bracketed("[", node.children(), "]", node.span().end);
            }
            Kind::Agent | Kind::Anyone => self.leaf(node),
            _ => self.verbatim(node),
        }
    }

    /// An expression with nothing of it outside: content, a value, an element.
    fn expr(&mut self, node: Node<'_>) {
        self.bare(peel(node), Place::Last);
    }

    fn operand(&mut self, node: Node<'_>, least: Level, place: Place) {
        let node = peel(node);
        let wrap = match node.kind() {
            Kind::Message => self.parens == Parens::Clear || place == Place::Inner,
            kind => level(kind) < least,
        };
        if wrap { self.wrapped(node) } else { self.bare(node, place) }
    }

    fn wrapped(&mut self, node: Node<'_>) {
        if self.comments.next_at() != Comments::NONE_LEFT {
            self.at(lead(node));
        }
        self.layout.token("(");
        if self.enter() {
            self.bare(node, Place::Last);
        } else {
            self.verbatim(node);
        }
        self.depth -= 1;
        self.layout.token(")");
    }

    /// An expression without parentheses around it.
    fn bare(&mut self, node: Node<'_>, place: Place) {
        let kind = node.kind();
        match kind {
            Kind::Null
            | Kind::True
            | Kind::False
            | Kind::Ref
            | Kind::Var
            | Kind::Name
            | Kind::Agent
            | Kind::Anyone => self.leaf(node),
            Kind::Number => {
                self.at(node.span().start);
                self.layout.guarded(node.text());
            }
            Kind::String => self.string(node),
            Kind::Tag => {
                self.leaf_up_to_mid(node);
                for record in node.children() {
                    self.bracketed("{", record.children(), "}", record.span().end);
                }
            }
            Kind::Call => {
                self.leaf_up_to_mid(node);
                if let Some(first) = looks_like_routing(node) {
                    self.guarded = first;
                }
                self.bracketed("(", node.children(), ")", node.span().end);
            }
            Kind::List => {
                self.at(node.span().start);
                self.bracketed("[", node.children(), "]", node.span().end);
            }
            Kind::Record => {
                self.at(node.span().start);
                self.bracketed("{", node.children(), "}", node.span().end);
            }
            Kind::Approx => {
                self.at(node.span().start);
                let (times, inner) = approx(node);
                for _ in 0..times {
                    self.layout.guarded("~");
                }
                self.operand(inner, PRIMARY, place);
            }
            Kind::Range => match node.expr() {
                Expr::Range { from, to } => {
                    self.operand(from, PRIMARY, Place::Inner);
                    self.layout.token("..");
                    self.operand(to, PRIMARY, place);
                }
                _ => self.verbatim(node),
            },
            Kind::Compare => match node.expr() {
                Expr::Compare { op, left, right } => {
                    if self.guarded == node.id() {
                        self.wrapped(peel(left));
                    } else {
                        self.operand(left, RANGE, Place::Inner);
                    }
                    self.layout.space();
                    self.layout.guarded(op.symbol());
                    self.layout.space();
                    self.operand(right, RANGE, place);
                }
                _ => self.verbatim(node),
            },
            Kind::Any => self.chain(node, Chain::Any, place),
            Kind::All => self.chain(node, Chain::All, place),
            Kind::Then => self.chain(node, Chain::Then, place),
            Kind::Cause => self.chain(node, Chain::Cause, place),
            Kind::Message => {
                if self.enter() {
                    self.message(node);
                } else {
                    self.verbatim(node);
                }
                self.depth -= 1;
            }
            Kind::Document
            | Kind::Meta
            | Kind::Performative
            | Kind::Agents
            | Kind::Field
            | Kind::Paren
            | Kind::Error => self.verbatim(node),
        }
    }

    fn chain(&mut self, node: Node<'_>, op: Chain, place: Place) {
        let least = level(node.kind()) + 1;
        let mut operands = operands(node);
        let Some(first) = operands.next() else { return };
        self.layout.open();
        self.operand(first, least, Place::Inner);
        self.layout.indent();
        let mut next = operands.next();
        while let Some(operand) = next {
            next = operands.next();
            self.layout.line_or_space();
            self.layout.token(op.symbol());
            self.layout.space();
            self.operand(operand, least, if next.is_none() { place } else { Place::Inner });
        }
        self.layout.dedent();
        self.layout.close();
    }

    /// Elements between brackets; `end` is where the closing one ends in the text.
    fn bracketed(&mut self, open: &str, elements: Children<'_>, close: &str, end: u32) {
        let closer_at = end.saturating_sub(1);
        let mut elements = elements.peekable();
        let empty = elements.peek().is_none();
        if empty && self.comments.next_at() > closer_at {
            self.layout.token(open);
            // Empty brackets are depth too, and so may be one level too deep.
            self.enter();
            self.depth -= 1;
            self.layout.token(close);
            return;
        }
        self.layout.open();
        self.layout.token(open);
        self.layout.indent();
        self.layout.line();
        if self.enter() {
            while let Some(element) = elements.next() {
                self.element(element);
                if elements.peek().is_some() {
                    self.layout.token(",");
                    self.layout.line_or_space();
                }
            }
        }
        self.depth -= 1;
        let mut first = empty;
        while self.comments.next_at() <= closer_at {
            if !std::mem::replace(&mut first, false) {
                self.layout.line_or_space();
            }
            self.layout.token(self.comments.take());
        }
        self.layout.dedent();
        self.layout.line();
        self.layout.token(close);
        self.layout.close();
    }

    fn element(&mut self, node: Node<'_>) {
        if self.comments.next_at() != Comments::NONE_LEFT {
            let at = lead(node);
            while self.comments.next_at() <= at {
                self.layout.token(self.comments.take());
                self.layout.line_or_space();
            }
        }
        let Some(field) = node.as_field() else { return self.expr(node) };
        let span = field.key_span();
        // A value without a key is an error; it comes out as it is.
        if !span.is_empty() {
            let raw = &node.tree.text[span.range()];
            if raw.starts_with('"') {
                let key = field.key();
                if is_bare_key(&key) { self.layout.token(&key) } else { self.layout.string(&key) }
            } else {
                self.layout.token(raw);
            }
            self.layout.token(":");
        }
        self.expr(field.value);
    }

    fn string(&mut self, node: Node<'_>) {
        self.at(node.span().start);
        // Nothing in it is escaped or asks to be: it is canonical as it stands.
        if node.tree.nodes[node.id.0 as usize].extra == 0 {
            self.layout.token(node.text());
        } else if let Expr::String(string) = node.expr() {
            self.layout.string(&string.value());
        }
    }

    #[inline]
    fn leaf(&mut self, node: Node<'_>) {
        self.at(node.span().start);
        self.layout.token(node.text());
    }

    /// The name of a call or a tag, with its sigil.
    fn leaf_up_to_mid(&mut self, node: Node<'_>) {
        let data = &node.tree.nodes[node.id.0 as usize];
        self.at(data.start);
        self.layout.token(&node.tree.text[data.start as usize..data.mid as usize]);
    }

    /// The source as it stands, comments in it included.
    fn verbatim(&mut self, node: Node<'_>) {
        let span = node.span();
        self.at(span.start);
        self.layout.token(node.text());
        while self.comments.next_at() < span.end {
            self.comments.take();
        }
    }

    /// A token that stands at `offset` in the text comes next: the comments before it come first.
    #[inline(always)]
    fn at(&mut self, offset: u32) {
        while self.comments.next_at() <= offset {
            self.layout.inline_comment(self.comments.take());
        }
    }

    fn own_line_comments(&mut self, offset: u32) {
        while self.comments.next_at() <= offset {
            self.layout.own_line_comment(self.comments.take());
        }
    }

    /// One bracket or nested message deeper. `false` when that is too deep to go on; the caller
    /// leaves all the same.
    fn enter(&mut self) -> bool {
        self.depth += 1;
        let fits = self.depth <= u32::from(MAX_DEPTH);
        self.too_deep |= !fits;
        fits
    }
}

/// `ACC((@x)>@y)`: without the parentheses the call would read as the routing of a message. The
/// comparison whose left side needs them, if there is one.
fn looks_like_routing(call: Node<'_>) -> Option<NodeId> {
    let Expr::Call { name, mut args } = call.expr() else { return None };
    Performative::from_word(name)?;
    let mut node = peel(args.next()?);
    while matches!(node.kind(), Kind::Any | Kind::All | Kind::Then | Kind::Cause) {
        let first = operands(node).next()?;
        // It gets parentheses anyway.
        if level(first.kind()) <= level(node.kind()) {
            return None;
        }
        node = first;
    }
    let Expr::Compare { op: Comparison::Gt, left, .. } = node.expr() else { return None };
    let left = peel(left);
    let endpoint = match left.kind() {
        Kind::Ref => true,
        Kind::List => left.children().all(|agent| peel(agent).kind() == Kind::Ref),
        _ => false,
    };
    endpoint.then(|| node.id())
}
