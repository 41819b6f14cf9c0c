//! The syntax tree: one arena of small nodes over the text they were read from.
//!
//! Words, numbers and strings are not copied: a node is a place in the text, a kind, and links.

use crate::view::{Message, Node};

/// What a node is. In brackets: its children, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The root. [`Message` or `Error`, any number]
    Document,
    /// [`Block` or `Error`, one or more; the first block is the `HEADER`, unless it is missing]
    Message,
    /// `TYPE:{...}` or `TYPE:[...]`. [`Object`, `Array` or `Error`]
    Block,
    /// [`Field` or `Error`, any number]
    Object,
    /// As `Object`, written in parentheses. [`Field` or `Error`, any number]
    Tuple,
    /// `key:value`. [value]
    Field,
    /// [value, any number]
    Array,
    String,
    /// Text without quotes that is a plain word: `Claude`, `A1`.
    Word,
    /// Text without quotes that is more than a word: `src/api.ts`.
    Run,
    Number,
    True,
    False,
    Null,
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
    /// `Block`: where its type ends. `Field`: where its key ends.
    pub(crate) mid: u32,
    pub(crate) first: NodeId,
    pub(crate) next: NodeId,
    pub(crate) kind: Kind,
    /// `String`: what is in it; none of it is the plain case. `Block`: its `BlockKind`.
    pub(crate) extra: u8,
}

/// The string has backslashes.
pub(crate) const STRING_ESCAPES: u8 = 1;
/// The string has raw control characters.
pub(crate) const STRING_CONTROLS: u8 = 2;
/// The string has no closing quote.
pub(crate) const STRING_OPEN: u8 = 4;

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

    /// The messages of the document, in order.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        self.root().children().filter_map(Node::as_message)
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
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
