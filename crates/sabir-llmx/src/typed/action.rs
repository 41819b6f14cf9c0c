//! What is done, and what came out.

use std::borrow::Cow;

use super::reader::{Extra, Reader, object};
use crate::block::BlockKind;
use crate::normal;
use crate::view::{Block, Node};

#[derive(Clone, Debug)]
pub struct Act<'a> {
    pub id: Option<Cow<'a, str>>,
    pub operation: Operation<'a>,
    pub target: Cow<'a, str>,
    /// An object; see [`Node::fields`].
    pub arguments: Option<Node<'a>>,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    Read,
    Write,
    Edit,
    Shell,
    Search,
    Spawn,
    /// One that the notation does not name.
    Other(Cow<'a, str>),
}

#[derive(Clone, Debug)]
pub struct Obs<'a> {
    /// The id of the action that this answers.
    pub action: Option<Cow<'a, str>>,
    pub outcome: Outcome<'a>,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug)]
pub enum Outcome<'a> {
    /// `OK`. The content is an object; see [`Node::fields`]. An error beside it is not read.
    Ok { content: Node<'a> },
    /// `ERR`. What content there is, under `c` or `x_c`, is kept.
    Err { error: Option<Cow<'a, str>>, content: Option<Node<'a>> },
}

impl<'a> Act<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Act)?;
        Some(Self {
            id: reader.optional("i", Node::as_text)?,
            operation: reader.required("op", Node::as_text).map(Operation::from_word)?,
            target: reader.required("tgt", Node::as_text)?,
            arguments: reader.optional("args", object)?,
            extra: reader.extra(),
        })
    }
}

impl<'a> Operation<'a> {
    pub fn from_word(word: Cow<'a, str>) -> Self {
        match &*word {
            "read" => Self::Read,
            "write" => Self::Write,
            "edit" => Self::Edit,
            "shell" => Self::Shell,
            "search" => Self::Search,
            "spawn" => Self::Spawn,
            _ => Self::Other(word),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Shell => "shell",
            Self::Search => "search",
            Self::Spawn => "spawn",
            Self::Other(word) => word,
        }
    }
}

impl Operation<'_> {
    /// Whether the notation names it.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// Whether its target is a path; that of the others is a command or a name.
    pub fn targets_a_path(&self) -> bool {
        match self {
            Self::Read | Self::Write | Self::Edit | Self::Search | Self::Other(_) => true,
            Self::Shell | Self::Spawn => false,
        }
    }
}

impl<'a> Obs<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Obs)?;
        let content = reader.optional("c", object)?;
        let error = reader.optional("e", Node::as_text)?;
        let outcome = match &*reader.required("s", Node::as_text)? {
            "OK" => Outcome::Ok { content: content? },
            "ERR" => {
                let content = content.filter(|&content| !normal::is_empty(content));
                let content = content.or_else(|| reader.extra().get("x_c"));
                Outcome::Err { error, content }
            }
            _ => return None,
        };
        let action = reader.optional("ai", Node::as_text)?;
        Some(Self { action, outcome, extra: reader.extra() })
    }
}
