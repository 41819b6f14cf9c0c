//! What agents say to each other about the work: blockers, questions, handoffs, responses.

use std::borrow::Cow;

use super::reader::{Extra, Reader, boolean, texts};
use crate::block::BlockKind;
use crate::view::{Block, Node};

#[derive(Clone, Debug)]
pub struct Blk<'a> {
    pub why: Cow<'a, str>,
    pub alternatives: Vec<Cow<'a, str>>,
    pub escalate: Option<bool>,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug)]
pub struct Ask<'a> {
    pub question: Cow<'a, str>,
    pub options: Vec<Cow<'a, str>>,
    pub default: Option<Cow<'a, str>>,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug)]
pub struct End<'a> {
    pub next: Cow<'a, str>,
    pub tests: Vec<Cow<'a, str>>,
    pub risks: Vec<Cow<'a, str>>,
    pub deliverables: Vec<Cow<'a, str>>,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug)]
pub struct Res<'a> {
    /// An option of a question, or `ACK`, `NACK`, `WARN`.
    pub option: Cow<'a, str>,
    pub message: Option<Cow<'a, str>>,
    pub extra: Extra<'a>,
}

impl<'a> Blk<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Blk)?;
        Some(Self {
            why: reader.required("w", Node::as_text)?,
            alternatives: reader.required("a", texts)?,
            escalate: reader.optional("esc", boolean)?,
            extra: reader.extra(),
        })
    }
}

impl<'a> Ask<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Ask)?;
        Some(Self {
            question: reader.required("q", Node::as_text)?,
            options: reader.required("o", texts)?,
            default: reader.optional("def", Node::as_text)?,
            extra: reader.extra(),
        })
    }
}

impl<'a> End<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::End)?;
        Some(Self {
            next: reader.required("n", Node::as_text)?,
            tests: reader.list("t")?,
            risks: reader.list("r")?,
            deliverables: reader.required("del", texts)?,
            extra: reader.extra(),
        })
    }
}

impl<'a> Res<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Res)?;
        Some(Self {
            option: reader.required("o", Node::as_text)?,
            message: reader.optional("msg", Node::as_text)?,
            extra: reader.extra(),
        })
    }
}
