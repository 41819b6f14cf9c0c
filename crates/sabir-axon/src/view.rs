//! Typed views of nodes: what a walker matches on.

use std::borrow::Cow;

use sabir_base::Span;

use crate::lexer::is_identifier;
use crate::performative::Performative;
use crate::strings;
use crate::token::STRING_ESCAPES;
use crate::tree::{EXTENSION, Kind, NodeData, NodeId, Tree};
use crate::unit::Unit;

/// A node and the tree it lives in. Small; pass it by value.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) id: NodeId,
}

impl<'a> Node<'a> {
    fn data(self) -> &'a NodeData {
        &self.tree.nodes[self.id.0 as usize]
    }

    pub fn id(self) -> NodeId {
        self.id
    }

    pub fn kind(self) -> Kind {
        self.data().kind
    }

    pub fn span(self) -> Span {
        let data = self.data();
        Span { start: data.start, end: data.end }
    }

    /// The source text of the node, as written.
    pub fn text(self) -> &'a str {
        &self.tree.text[self.span().range()]
    }

    /// The source text of another place in the same document.
    pub(crate) fn source(self, span: Span) -> &'a str {
        &self.tree.text[span.range()]
    }

    pub fn children(self) -> Children<'a> {
        Children { tree: self.tree, next: self.data().first }
    }

    fn first_child(self) -> Option<Node<'a>> {
        self.children().next()
    }

    /// The node inside any number of parentheses.
    pub fn peeled(self) -> Node<'a> {
        let mut node = self;
        while node.kind() == Kind::Paren {
            match node.first_child() {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node
    }

    /// The text up to `mid`: a name with its sigil, or a key.
    fn name(self) -> &'a str {
        let data = self.data();
        &self.tree.text[data.start as usize..data.mid as usize]
    }

    /// Key and value, if this is a field.
    pub fn as_field(self) -> Option<Field<'a>> {
        let value = (self.kind() == Kind::Field).then(|| self.first_child())??;
        Some(Field { node: self, value })
    }

    /// The message, if this is one.
    pub fn as_message(self) -> Option<Message<'a>> {
        Message::new(self)
    }

    /// What this node says. Parentheses are looked through; what is no expression is `Error`.
    pub fn expr(self) -> Expr<'a> {
        let node = self.peeled();
        let data = node.data();
        let pair = || {
            let mut children = node.children();
            Some((children.next()?, children.next()?))
        };
        match data.kind {
            Kind::Null => Expr::Null,
            Kind::True => Expr::Bool(true),
            Kind::False => Expr::Bool(false),
            Kind::String => Expr::String(Str { quoted: node.text(), flags: data.extra }),
            Kind::Number => {
                let unit = Unit::from_index(data.extra);
                let text = node.text();
                let unit_length = unit.map_or(0, |unit| unit.text().len());
                Expr::Number(Number { lexeme: &text[..text.len() - unit_length], unit })
            }
            Kind::Ref => Expr::Ref(&node.text()[1..]),
            Kind::Var => Expr::Var(&node.text()[1..]),
            Kind::Name => Expr::Name(node.text()),
            Kind::Tag => {
                // A record glued to a bare name reads as a tag that lacks its sigil.
                let written = node.name();
                let name = written.strip_prefix('#').unwrap_or(written);
                Expr::Tag { name, record: node.first_child() }
            }
            Kind::Call => Expr::Call { name: node.name(), args: node.children() },
            Kind::List => Expr::List(node.children()),
            Kind::Record => Expr::Record(node.children()),
            Kind::Approx => match node.first_child() {
                Some(of) => Expr::Approx { times: data.mid, of },
                None => Expr::Error,
            },
            Kind::Range => match pair() {
                Some((from, to)) => Expr::Range { from, to },
                None => Expr::Error,
            },
            Kind::Compare => match (Comparison::from_index(data.extra), pair()) {
                (Some(op), Some((left, right))) => Expr::Compare { op, left, right },
                _ => Expr::Error,
            },
            Kind::Any => Expr::Chain { op: Chain::Any, operands: node.children() },
            Kind::All => Expr::Chain { op: Chain::All, operands: node.children() },
            Kind::Then => Expr::Chain { op: Chain::Then, operands: node.children() },
            Kind::Cause => Expr::Chain { op: Chain::Cause, operands: node.children() },
            Kind::Message => Message::new(node).map_or(Expr::Error, Expr::Message),
            Kind::Document
            | Kind::Meta
            | Kind::Performative
            | Kind::Agent
            | Kind::Anyone
            | Kind::Agents
            | Kind::Field
            | Kind::Paren
            | Kind::Error => Expr::Error,
        }
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{:?}", self.kind(), self.span())
    }
}

/// The children of a node, in order.
#[derive(Clone, Debug)]
pub struct Children<'a> {
    tree: &'a Tree<'a>,
    next: NodeId,
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let node = self.next.is_some().then_some(Node { tree: self.tree, id: self.next })?;
        self.next = node.data().next;
        Some(node)
    }
}

/// An expression, one level deep.
#[derive(Clone, Debug)]
pub enum Expr<'a> {
    Null,
    Bool(bool),
    String(Str<'a>),
    Number(Number<'a>),
    Ref(&'a str),
    Var(&'a str),
    Name(&'a str),
    Tag { name: &'a str, record: Option<Node<'a>> },
    Call { name: &'a str, args: Children<'a> },
    List(Children<'a>),
    Record(Children<'a>),
    Approx { times: u32, of: Node<'a> },
    Range { from: Node<'a>, to: Node<'a> },
    Compare { op: Comparison, left: Node<'a>, right: Node<'a> },
    Chain { op: Chain, operands: Children<'a> },
    Message(Message<'a>),
    Error,
}

/// A string literal.
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    quoted: &'a str,
    flags: u8,
}

impl<'a> Str<'a> {
    /// The characters that the literal stands for.
    pub fn value(self) -> Cow<'a, str> {
        let raw = strings::unquote(self.quoted);
        if self.flags & STRING_ESCAPES == 0 { Cow::Borrowed(raw) } else { strings::unescape(raw) }
    }

    /// The literal as written, quotes included.
    pub fn quoted(self) -> &'a str {
        self.quoted
    }
}

/// A number as written: `1.50` stays `1.50`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    pub lexeme: &'a str,
    pub unit: Option<Unit>,
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Comparison {
    Lt,
    Gt,
    Le,
    Ge,
    Ne,
    Eq,
}

impl Comparison {
    pub const ALL: [Comparison; 6] = [Self::Lt, Self::Gt, Self::Le, Self::Ge, Self::Ne, Self::Eq];

    fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Gt => ">",
            Self::Le => "<=",
            Self::Ge => ">=",
            Self::Ne => "!=",
            Self::Eq => "=",
        }
    }
}

/// The operators that chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chain {
    /// `|`
    Any,
    /// `&`
    All,
    /// `->`
    Then,
    /// `<-`, the only one that groups to the right.
    Cause,
}

impl Chain {
    pub const ALL: [Chain; 4] = [Self::Any, Self::All, Self::Then, Self::Cause];

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Any => "|",
            Self::All => "&",
            Self::Then => "->",
            Self::Cause => "<-",
        }
    }
}

/// `key:value`.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub node: Node<'a>,
    pub value: Node<'a>,
}

impl<'a> Field<'a> {
    pub fn key_span(self) -> Span {
        let data = self.node.data();
        Span { start: data.start, end: data.mid }
    }

    /// The key, unquoted.
    pub fn key(self) -> Cow<'a, str> {
        let raw = self.node.name();
        if raw.starts_with('"') {
            strings::unescape(strings::unquote(raw))
        } else {
            Cow::Borrowed(raw)
        }
    }
}

/// Whether `key` can stand before a colon without quotes.
pub fn is_bare_key(key: &str) -> bool {
    key == "_" || is_identifier(key)
}

/// A message, nested or not.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub node: Node<'a>,
    meta: Option<Node<'a>>,
    performative: Node<'a>,
    pub from: Node<'a>,
    pub to: Node<'a>,
    pub content: Node<'a>,
}

impl<'a> Message<'a> {
    fn new(node: Node<'a>) -> Option<Self> {
        if node.kind() != Kind::Message {
            return None;
        }
        let mut children = node.children();
        let first = children.next()?;
        let meta = (first.kind() == Kind::Meta).then_some(first);
        let performative = if meta.is_some() { children.next()? } else { first };
        let (from, to, content) = (children.next()?, children.next()?, children.next()?);
        Some(Self { node, meta, performative, from, to, content })
    }

    /// `None` for an extension.
    pub fn performative(self) -> Option<Performative> {
        match self.performative.data().extra {
            EXTENSION => None,
            index => Performative::ALL.get(usize::from(index)).copied(),
        }
    }

    pub fn performative_node(self) -> Node<'a> {
        self.performative
    }

    /// The performative as written: `INF`, `X.trade.BID`.
    pub fn word(self) -> &'a str {
        self.performative.text()
    }

    pub fn meta_node(self) -> Option<Node<'a>> {
        self.meta
    }

    /// The metadata fields, in order; none when there is no block.
    pub fn meta(self) -> impl Iterator<Item = Field<'a>> {
        self.meta.into_iter().flat_map(Node::children).filter_map(Node::as_field)
    }

    /// The value of one metadata field.
    pub fn meta_value(self, key: &str) -> Option<Node<'a>> {
        self.meta().find(|field| field.key() == key).map(|field| field.value)
    }

    /// The value of one metadata field, if it is a string.
    pub fn meta_str(self, key: &str) -> Option<Cow<'a, str>> {
        match self.meta_value(key)?.expr() {
            Expr::String(string) => Some(string.value()),
            _ => None,
        }
    }
}

/// The agents that an endpoint names, without `@`; none for `*`.
pub fn endpoint_agents<'a>(endpoint: Node<'a>) -> impl Iterator<Item = &'a str> {
    let alone = (endpoint.kind() == Kind::Agent).then_some(endpoint);
    let listed = (endpoint.kind() == Kind::Agents).then(|| endpoint.children());
    alone
        .into_iter()
        .chain(listed.into_iter().flatten())
        .filter_map(|agent| agent.text().strip_prefix('@'))
}
