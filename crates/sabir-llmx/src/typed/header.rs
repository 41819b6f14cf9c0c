//! Who speaks to whom.

use std::borrow::Cow;

use super::reader::{Extra, Reader, integer, texts};
use crate::block::{BlockKind, MAX_SEQUENCE};
use crate::tree::Kind;
use crate::view::{Block, Node};

#[derive(Clone, Debug)]
pub struct Header<'a> {
    pub from: Cow<'a, str>,
    pub to: Receiver<'a>,
    pub sequence: u64,
    pub batch: Option<Cow<'a, str>>,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receiver<'a> {
    /// `ALL`: everyone who hears it.
    All,
    One(Cow<'a, str>),
    /// A list, which the notation does not have and which is read all the same. Never empty.
    Several(Vec<Cow<'a, str>>),
}

impl<'a> Header<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Header)?;
        let named = |name: &Cow<'_, str>| !name.is_empty();
        Some(Self {
            from: reader.required("f", Node::as_text).filter(named)?,
            to: reader.required("t", Receiver::read)?,
            sequence: reader.required("s", integer).filter(|&sequence| sequence <= MAX_SEQUENCE)?,
            batch: reader.optional("b", Node::as_text)?,
            extra: reader.extra(),
        })
    }
}

impl<'a> Receiver<'a> {
    fn read(value: Node<'a>) -> Option<Self> {
        if value.kind() == Kind::Array {
            let names = texts(value)?;
            let named = !names.is_empty() && names.iter().all(|name| !name.is_empty());
            return named.then_some(Self::Several(names));
        }
        let name = value.as_text().filter(|name| !name.is_empty())?;
        Some(if name == "ALL" { Self::All } else { Self::One(name) })
    }

    /// Whether a message to this receiver is for `name`.
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one == name,
            Self::Several(names) => names.iter().any(|one| one == name || one == "ALL"),
        }
    }
}
