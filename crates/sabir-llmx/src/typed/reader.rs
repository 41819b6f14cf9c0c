//! Fields by key, as Rust types.

use std::borrow::Cow;

use crate::block::{BlockInfo, BlockKind};
use crate::normal;
use crate::tree::Kind;
use crate::view::{Block, Field, Node};

/// The fields of a block or a step that its row of the table does not know: extensions, and others
/// that are kept.
#[derive(Clone, Copy, Debug)]
pub struct Extra<'a> {
    body: Node<'a>,
    info: &'static BlockInfo,
}

impl<'a> Extra<'a> {
    pub fn iter(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let info = self.info;
        self.body.fields().filter(move |field| info.field(field.key()).is_none())
    }

    /// The value of the field with that key, such as `x_re`.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.iter().find(|field| field.is(key)).map(|field| field.value)
    }
}

/// What is between the brackets of a block or a step.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    body: Node<'a>,
    info: &'static BlockInfo,
}

impl<'a> Reader<'a> {
    /// For a block of this type in braces.
    pub(super) fn of(block: Block<'a>, kind: BlockKind) -> Option<Self> {
        let fits = block.kind() == kind && block.body.kind() == Kind::Object;
        fits.then_some(Self { body: block.body, info: kind.info()? })
    }

    /// For a step of a plan.
    pub(super) fn of_step(step: Node<'a>) -> Option<Self> {
        let fits = matches!(step.kind(), Kind::Object | Kind::Tuple);
        fits.then_some(Self { body: step, info: BlockKind::Plan.info()? })
    }

    pub(super) fn extra(self) -> Extra<'a> {
        Extra { body: self.body, info: self.info }
    }

    fn get(self, key: &str) -> Option<Node<'a>> {
        let holds = |field: &Field<'_>| field.is(key) && field.value.kind() != Kind::Null;
        self.body.fields().find(holds).map(|field| field.value)
    }

    pub(super) fn required<T>(
        self,
        key: &str,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<T> {
        read(self.get(key)?)
    }

    /// The outer `None` if the field is there and cannot be read.
    pub(super) fn optional<T>(
        self,
        key: &str,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            Some(value) => read(value).map(Some),
            None => Some(None),
        }
    }

    /// An empty list for a field that is not there.
    pub(super) fn list(self, key: &str) -> Option<Vec<Cow<'a, str>>> {
        Some(self.optional(key, texts)?.unwrap_or_default())
    }
}

pub(super) fn texts(value: Node<'_>) -> Option<Vec<Cow<'_, str>>> {
    let is_list = value.kind() == Kind::Array;
    is_list.then(|| normal::items(value).map(Node::as_text).collect())?
}

pub(super) fn object(value: Node<'_>) -> Option<Node<'_>> {
    matches!(value.kind(), Kind::Object | Kind::Tuple).then_some(value)
}

pub(super) fn boolean(value: Node<'_>) -> Option<bool> {
    match value.kind() {
        Kind::True => Some(true),
        Kind::False => Some(false),
        _ => None,
    }
}

/// A whole number, written with digits alone.
pub(super) fn integer(value: Node<'_>) -> Option<u64> {
    let digits = value.kind() == Kind::Number && value.text().bytes().all(|b| b.is_ascii_digit());
    digits.then(|| value.text().parse().ok())?
}
