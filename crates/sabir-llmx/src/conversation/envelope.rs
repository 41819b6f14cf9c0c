//! Who speaks to whom: what a HEADER says, as far as conversations care.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::tree::Kind;
use crate::view::{Block, Message, Node};

/// The HEADER of a message. One that names no sender or no receiver has none: the validator says
/// so, and nobody can tell whose turn it is.
#[derive(Clone, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) header: Block<'a>,
    pub(crate) from: Cow<'a, str>,
    pub(crate) to: Receivers<'a>,
    pub(crate) sequence: Option<u64>,
    pub(crate) batch: Option<Cow<'a, str>>,
}

/// Whom a message is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receivers<'a> {
    All,
    /// One, or leniently several.
    These(Vec<Cow<'a, str>>),
}

impl<'a> Envelope<'a> {
    pub(crate) fn of(message: Message<'a>) -> Option<Self> {
        let header = message.header()?;
        let from = short(header.get("f")?)?;
        let to = header.get("t")?;
        let names: Vec<_> = match to.kind() {
            Kind::Array => to.children().filter_map(short).collect(),
            _ => short(to).into_iter().collect(),
        };
        let to = match names.first()? {
            _ if names.len() > FEW || names.iter().any(|name| name == "ALL") => Receivers::All,
            _ => Receivers::These(names),
        };
        let sequence = header.get("s").and_then(number);
        let batch = header.get("b").and_then(short);
        Some(Self { header, from, to, sequence, batch })
    }
}

impl fmt::Display for Receivers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("ALL"),
            Self::These(names) => f.write_str(&names.join(", ")),
        }
    }
}

/// More receivers than this are everybody.
const FEW: usize = 32;

/// Names of agents and batches are kept with everything that is done in them, so long ones would
/// take more memory than the text.
const LONGEST_NAME: usize = 128;

fn short<'a>(node: Node<'a>) -> Option<Cow<'a, str>> {
    name(node).filter(|name| name.len() <= LONGEST_NAME)
}

/// A name or an id. A number is one too: `i:1` and `ai:"1"` mean the same action.
pub(crate) fn name<'a>(node: Node<'a>) -> Option<Cow<'a, str>> {
    let text = match node.kind() {
        Kind::Number => Some(Cow::Borrowed(node.text())),
        _ => node.as_text(),
    };
    text.filter(|text| !text.is_empty())
}

/// A sequence number, in quotes or not.
pub(crate) fn number(node: Node<'_>) -> Option<u64> {
    name(node)?.parse().ok()
}

/// Agents by number, so that keys are small whatever the names are.
#[derive(Debug, Default)]
pub(crate) struct Agents<'a> {
    ids: HashMap<Cow<'a, str>, AgentId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AgentId(u32);

impl AgentId {
    /// Everybody, as a receiver.
    pub(crate) const ALL: AgentId = AgentId(u32::MAX);
    /// Whoever it may be, as somebody to look for.
    pub(crate) const ANY: AgentId = AgentId(u32::MAX - 1);
}

impl<'a> Agents<'a> {
    pub(crate) fn id(&mut self, name: Cow<'a, str>) -> AgentId {
        // A name takes bytes of a text that has fewer than four gigabytes of them.
        let next = AgentId(self.ids.len() as u32);
        *self.ids.entry(name).or_insert(next)
    }

    /// `ALL` for a message to everybody.
    pub(crate) fn receivers(&mut self, to: &Receivers<'a>) -> Vec<AgentId> {
        match to {
            Receivers::All => vec![AgentId::ALL],
            Receivers::These(names) => names.iter().map(|name| self.id(name.clone())).collect(),
        }
    }
}

/// Whom an answer with these receivers is for: one of them, or any.
pub(crate) fn addressee(receivers: &[AgentId]) -> AgentId {
    match receivers {
        [one] if *one != AgentId::ALL => *one,
        _ => AgentId::ANY,
    }
}
