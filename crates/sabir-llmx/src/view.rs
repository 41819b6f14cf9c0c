//! Typed views of nodes: what a walker matches on.

use std::borrow::Cow;

use sabir_base::Span;

use crate::block::BlockKind;
use crate::strings;
use crate::tree::{Kind, NodeData, NodeId, STRING_ESCAPES, Tree};

/// A node and the tree it lives in. Small; pass it by value.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) id: NodeId,
}

impl<'a> Node<'a> {
    #[inline]
    fn data(self) -> &'a NodeData {
        &self.tree.nodes[self.id.0 as usize]
    }

    pub fn id(self) -> NodeId {
        self.id
    }

    #[inline]
    pub fn kind(self) -> Kind {
        self.data().kind
    }

    #[inline]
    pub fn span(self) -> Span {
        let data = self.data();
        Span { start: data.start, end: data.end }
    }

    /// The source text of the node, as written.
    #[inline]
    pub fn text(self) -> &'a str {
        &self.tree.text[self.span().range()]
    }

    #[inline]
    /// The text of the whole document.
    pub(crate) fn tree_text(self) -> &'a str {
        self.tree.text
    }

    pub fn children(self) -> Children<'a> {
        Children { tree: self.tree, next: self.data().first }
    }

    #[inline]
    fn first_child(self) -> Option<Node<'a>> {
        self.children().next()
    }

    pub fn as_message(self) -> Option<Message<'a>> {
        (self.kind() == Kind::Message).then_some(Message { node: self })
    }

    #[inline]
    pub fn as_block(self) -> Option<Block<'a>> {
        let body = (self.kind() == Kind::Block).then(|| self.first_child())??;
        Some(Block { node: self, body })
    }

    #[inline]
    pub fn as_field(self) -> Option<Field<'a>> {
        let value = (self.kind() == Kind::Field).then(|| self.first_child())??;
        Some(Field { node: self, value })
    }

    /// The fields of an object or a tuple; none for anything else.
    #[inline]
    pub fn fields(self) -> impl Iterator<Item = Field<'a>> {
        let holds = matches!(self.kind(), Kind::Object | Kind::Tuple);
        let next = if holds { self.data().first } else { NodeId::NONE };
        Children { tree: self.tree, next }.filter_map(Node::as_field)
    }

    /// What this node says. What is no value is `Error`.
    pub fn value(self) -> Value<'a> {
        match self.kind() {
            Kind::String => Value::Text(self.unquoted()),
            Kind::Word => Value::Word(self.text()),
            Kind::Run => Value::Run(self.text()),
            Kind::Number => Value::Number(self.text()),
            Kind::True => Value::Bool(true),
            Kind::False => Value::Bool(false),
            Kind::Null => Value::Null,
            Kind::Array => Value::Array(self.children()),
            Kind::Object | Kind::Tuple => Value::Object(self),
            Kind::Document | Kind::Message | Kind::Block | Kind::Field | Kind::Error => {
                Value::Error
            }
        }
    }

    /// The characters of a string, a word or a run; `None` for anything else.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        match self.value() {
            Value::Text(text) => Some(text),
            Value::Word(word) | Value::Run(word) => Some(Cow::Borrowed(word)),
            _ => None,
        }
    }

    /// Whether this is a string that is written as the printer would write it.
    #[inline]
    pub(crate) fn is_plain_string(self) -> bool {
        self.kind() == Kind::String && self.data().extra == 0
    }

    fn unquoted(self) -> Cow<'a, str> {
        let raw = strings::unquote(self.text());
        if self.data().extra & STRING_ESCAPES == 0 {
            Cow::Borrowed(raw)
        } else {
            strings::unescape(raw)
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

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let node = self.next.is_some().then_some(Node { tree: self.tree, id: self.next })?;
        self.next = node.data().next;
        Some(node)
    }
}

/// A value, one level deep.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// In quotes.
    Text(Cow<'a, str>),
    /// Without quotes.
    Word(&'a str),
    /// Without quotes, and it should have some.
    Run(&'a str),
    /// As written: `1.50` stays `1.50`.
    Number(&'a str),
    Bool(bool),
    Null,
    Array(Children<'a>),
    /// Braces or parentheses; see [`Node::fields`].
    Object(Node<'a>),
    Error,
}

/// A HEADER and the blocks that follow it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub node: Node<'a>,
}

impl<'a> Message<'a> {
    /// The HEADER, unless it is missing.
    pub fn header(self) -> Option<Block<'a>> {
        let first = self.all_blocks().next()?;
        (first.kind() == BlockKind::Header).then_some(first)
    }

    /// The blocks after the HEADER, in order.
    pub fn blocks(self) -> impl Iterator<Item = Block<'a>> {
        self.all_blocks().filter(|block| block.kind() != BlockKind::Header)
    }

    /// The HEADER and the blocks, in order.
    pub fn all_blocks(self) -> impl Iterator<Item = Block<'a>> {
        self.node.children().filter_map(Node::as_block)
    }
}

/// `TYPE:{...}` or `TYPE:[...]`.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub node: Node<'a>,
    /// An object, an array, or an error.
    pub body: Node<'a>,
}

impl<'a> Block<'a> {
    pub fn kind(self) -> BlockKind {
        BlockKind::from_index(self.node.data().extra)
    }

    /// The type as written: `REQ`, `X_METRICS`.
    pub fn word(self) -> &'a str {
        &self.node.tree.text[self.word_span().range()]
    }

    pub fn word_span(self) -> Span {
        let data = self.node.data();
        Span { start: data.start, end: data.mid }
    }

    /// The fields of a block in braces; none for one in brackets.
    pub fn fields(self) -> impl Iterator<Item = Field<'a>> {
        self.body.fields()
    }

    /// The field of that name, in whatever case it is written.
    pub fn field(self, key: &str) -> Option<Field<'a>> {
        self.fields().find(|field| field.is(key))
    }

    /// The value of the field of that name, unless it is `null`.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        self.field(key).map(|field| field.value).filter(|value| value.kind() != Kind::Null)
    }
}

/// `key:value`.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub node: Node<'a>,
    pub value: Node<'a>,
}

impl<'a> Field<'a> {
    #[inline]
    pub fn key_span(self) -> Span {
        let data = self.node.data();
        Span { start: data.start, end: data.mid }
    }

    /// The key as written, without quotes.
    #[inline]
    pub fn key(self) -> &'a str {
        strings::unquote(&self.node.tree.text[self.key_span().range()])
    }

    /// Whether this is the field of that name. Keys are lower case, but are read in any.
    pub fn is(self, key: &str) -> bool {
        self.key().eq_ignore_ascii_case(key)
    }

    /// Whether the field is an extension, which is kept as it is.
    pub fn is_extension(self) -> bool {
        is_extension(self.key())
    }
}

/// Whether a field of this key is an extension.
#[inline]
pub fn is_extension(key: &str) -> bool {
    matches!(key.as_bytes(), [b'x' | b'X', b'_', ..])
}
