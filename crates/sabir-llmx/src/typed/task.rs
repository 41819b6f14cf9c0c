//! What is to be done: context, request, plan.

use std::borrow::Cow;
use std::fmt;

use super::reader::{Extra, Reader, integer, object};
use crate::block::BlockKind;
use crate::normal;
use crate::tree::Kind;
use crate::view::{Block, Node};

#[derive(Clone, Debug)]
pub struct Ctx<'a> {
    pub project: Cow<'a, str>,
    pub files: Vec<Cow<'a, str>>,
    /// An object; see [`Node::fields`].
    pub state: Option<Node<'a>>,
    pub issue: Option<Cow<'a, str>>,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug)]
pub struct Req<'a> {
    pub objective: Cow<'a, str>,
    pub priority: Priority,
    pub dependencies: Vec<Cow<'a, str>>,
    pub experts: Vec<Cow<'a, str>>,
    pub extra: Extra<'a>,
}

/// From 1, critical, to 5, low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Priority(u8);

#[derive(Clone, Debug)]
pub struct Plan<'a> {
    pub steps: Vec<Step<'a>>,
}

#[derive(Clone, Debug)]
pub struct Step<'a> {
    pub id: StepId<'a>,
    pub task: Cow<'a, str>,
    pub status: StepStatus,
    pub extra: Extra<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepId<'a> {
    /// As written: `1.10` is not `1.1`.
    Number(&'a str),
    Name(Cow<'a, str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepStatus {
    Pending,
    InProgress,
    Completed,
    /// Cancelled or failed: it will not be completed.
    Cancelled,
}

impl<'a> Ctx<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Ctx)?;
        Some(Self {
            project: reader.required("p", Node::as_text)?,
            files: reader.list("f")?,
            state: reader.optional("st", object)?,
            issue: reader.optional("issue", Node::as_text)?,
            extra: reader.extra(),
        })
    }
}

impl<'a> Req<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let reader = Reader::of(block, BlockKind::Req)?;
        Some(Self {
            objective: reader.required("o", Node::as_text)?,
            priority: reader.required("pr", integer).and_then(Priority::new)?,
            dependencies: reader.list("d")?,
            experts: reader.list("exp")?,
            extra: reader.extra(),
        })
    }
}

impl Priority {
    pub fn new(number: u64) -> Option<Self> {
        u8::try_from(number).ok().filter(|number| (1..=5).contains(number)).map(Self)
    }

    pub fn get(self) -> u8 {
        self.0
    }
}

impl<'a> Plan<'a> {
    pub fn read(block: Block<'a>) -> Option<Self> {
        let fits = block.kind() == BlockKind::Plan && block.body.kind() == Kind::Array;
        let steps = fits.then(|| normal::items(block.body))?;
        Some(Self { steps: steps.map(Step::read).collect::<Option<_>>()? })
    }
}

impl<'a> Step<'a> {
    fn read(step: Node<'a>) -> Option<Self> {
        let reader = Reader::of_step(step)?;
        Some(Self {
            id: reader.required("i", StepId::read)?,
            task: reader.required("t", Node::as_text)?,
            status: reader
                .required("s", Node::as_text)
                .and_then(|word| StepStatus::from_word(&word))?,
            extra: reader.extra(),
        })
    }
}

impl<'a> StepId<'a> {
    fn read(value: Node<'a>) -> Option<Self> {
        match value.kind() {
            Kind::Number => Some(Self::Number(value.text())),
            _ => value.as_text().map(Self::Name),
        }
    }
}

impl fmt::Display for StepId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.write_str(number),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl StepStatus {
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "P" => Some(Self::Pending),
            "I" => Some(Self::InProgress),
            "C" => Some(Self::Completed),
            "X" => Some(Self::Cancelled),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "P",
            Self::InProgress => "I",
            Self::Completed => "C",
            Self::Cancelled => "X",
        }
    }
}
