//! Blocks as Rust types, for those who act on them.
//!
//! Reading is all or nothing: a block in which `validate` finds no error is read, one with an error
//! may not be. What only earns a warning is read, so that a lenient receiver can go on. Nothing is
//! reported here.

mod action;
mod dialogue;
mod header;
mod reader;
mod task;

pub use action::{Act, Obs, Operation, Outcome};
pub use dialogue::{Ask, Blk, End, Res};
pub use header::{Header, Receiver};
pub use reader::Extra;
pub use task::{Ctx, Plan, Priority, Req, Step, StepId, StepStatus};

use crate::block::BlockKind;
use crate::view::{Block, Message};

/// A message whose every block is read.
#[derive(Clone, Debug)]
pub struct TypedMessage<'a> {
    pub header: Header<'a>,
    pub content: Vec<Content<'a>>,
}

/// A block that is no HEADER.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    Ctx(Ctx<'a>),
    Req(Req<'a>),
    Plan(Plan<'a>),
    Act(Act<'a>),
    Obs(Obs<'a>),
    Blk(Blk<'a>),
    Ask(Ask<'a>),
    End(End<'a>),
    Res(Res<'a>),
    /// `X_...`: for whoever knows it.
    Extension(Block<'a>),
    /// To be ignored.
    Unknown(Block<'a>),
}

impl<'a> Content<'a> {
    /// `None` for a HEADER, and for a block that lacks something or holds something else.
    pub fn read(block: Block<'a>) -> Option<Self> {
        match block.kind() {
            BlockKind::Header => None,
            BlockKind::Ctx => Ctx::read(block).map(Self::Ctx),
            BlockKind::Req => Req::read(block).map(Self::Req),
            BlockKind::Plan => Plan::read(block).map(Self::Plan),
            BlockKind::Act => Act::read(block).map(Self::Act),
            BlockKind::Obs => Obs::read(block).map(Self::Obs),
            BlockKind::Blk => Blk::read(block).map(Self::Blk),
            BlockKind::Ask => Ask::read(block).map(Self::Ask),
            BlockKind::End => End::read(block).map(Self::End),
            BlockKind::Res => Res::read(block).map(Self::Res),
            BlockKind::Extension => Some(Self::Extension(block)),
            BlockKind::Unknown => Some(Self::Unknown(block)),
        }
    }
}

impl<'a> Message<'a> {
    /// `None` if the HEADER is missing, or any block cannot be read.
    pub fn typed(self) -> Option<TypedMessage<'a>> {
        let header = Header::read(self.header()?)?;
        let content = self.blocks().map(Content::read).collect::<Option<_>>()?;
        Some(TypedMessage { header, content })
    }
}
