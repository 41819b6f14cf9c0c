//! The syntax tree: one arena of small nodes over the text they were read from.
//!
//! Names, numbers and strings are not copied: a node is a place in the text, a kind, and links.
//! White space and comments lie between the places; `Tree::tokens` gives every byte back.

use sabir_base::Span;

use crate::lexer::Lexer;
use crate::token::{Token, TokenKind};
use crate::view::Node;

/// What a node is. In brackets: its children, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The root. [`Message` or `Error`, any number]
    Document,
    /// [`Meta` if any, `Performative`, endpoint, endpoint, expression]. A nested message has no
    /// `Meta`.
    Message,
    /// [`Field`, one or more]
    Meta,
    /// `INF` or `X.trade.BID`.
    Performative,
    /// An endpoint: `@name`.
    Agent,
    /// An endpoint: `*`.
    Anyone,
    /// An endpoint. [`Agent`, one or more]
    Agents,

    Null,
    True,
    False,
    String,
    Number,
    Ref,
    Var,
    /// A bare name or path: `a.b.c`.
    Name,
    /// [`Record`, if any]
    Tag,
    /// [expression or `Field`, any number]
    Call,
    /// [expression, any number]
    List,
    /// [`Field`, any number]
    Record,
    /// `key:value` in a record, in arguments or in metadata. [expression]
    Field,
    /// [expression]
    Paren,
    /// One or more `~` before an expression. [expression]
    Approx,
    /// `a..b` [expression, expression]
    Range,
    /// `a < b` and its kin. [expression, expression]
    Compare,
    /// A chain of `|`, read from the left. [expression, two or more]
    Any,
    /// A chain of `&`, read from the left. [expression, two or more]
    All,
    /// A chain of `->`, read from the left. [expression, two or more]
    Then,
    /// A chain of `<-`, read from the right. [expression, two or more]
    Cause,
    /// What could not be read. It has a diagnostic.
    Error,
}

/// Names a node within its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) const ROOT: NodeId = NodeId(0);
    /// The root is nobody's child and nobody's sibling, so its number can stand for "none".
    pub(crate) const NONE: NodeId = NodeId(0);

    pub(crate) fn is_some(self) -> bool {
        self.0 != 0
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeData {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// `Field`: where its key ends. `Call`, `Tag`: where its name ends. `Approx`: how many `~`.
    pub(crate) mid: u32,
    pub(crate) first: NodeId,
    pub(crate) next: NodeId,
    pub(crate) kind: Kind,
    /// `Number`: the unit's index. `String`: the lexer's flags. `Compare`: the operator.
    /// `Performative`: its index, or `EXTENSION`.
    pub(crate) extra: u8,
}

pub(crate) const EXTENSION: u8 = u8::MAX;

/// A document as read. Cheap to walk; see [`Node`].
#[derive(Clone, Debug)]
pub struct Tree<'t> {
    pub(crate) text: &'t str,
    pub(crate) nodes: Vec<NodeData>,
}

impl<'t> Tree<'t> {
    pub fn text(&self) -> &'t str {
        self.text
    }

    pub fn root(&self) -> Node<'_> {
        Node { tree: self, id: NodeId::ROOT }
    }

    /// The messages of the document, in order; what could not be read as one is left out.
    pub fn messages(&self) -> impl Iterator<Item = Node<'_>> {
        self.root().children().filter(|node| node.kind() == Kind::Message)
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Every byte of the text, as tokens without gaps, white space and comments included.
    pub fn tokens(&self) -> Tokens<'t> {
        tokens(self.text)
    }

    /// The comments, in order.
    pub fn comments(&self) -> Vec<Span> {
        if !self.text.contains("(*") {
            return Vec::new();
        }
        let comments = self.tokens().filter(|token| token.kind == TokenKind::Comment);
        comments.map(Token::span).collect()
    }

    /// The innermost node that covers `offset`.
    pub fn node_at(&self, offset: u32) -> Node<'_> {
        let mut at = self.root();
        while let Some(child) = at.children().find(|child| child.span().contains(offset)) {
            at = child;
        }
        at
    }
}

/// The tokens of `text`, without gaps.
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { lexer: Lexer::new(text) }
}

/// See [`Tree::tokens`].
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    lexer: Lexer<'t>,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let token = self.lexer.next_with_trivia();
        (token.kind != TokenKind::Eof).then_some(token)
    }
}
