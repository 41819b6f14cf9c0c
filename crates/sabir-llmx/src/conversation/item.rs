//! What a conversation leaves open, as plain data, and how a person reads it.

use std::borrow::Cow;
use std::fmt;

use sabir_base::Span;

use super::envelope::Receivers;

/// Something that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    pub kind: ItemKind,
    pub from: Cow<'a, str>,
    pub to: Receivers<'a>,
    pub sequence: Option<u64>,
    /// The objective, the question, or what stands in the way.
    pub text: Cow<'a, str>,
    /// The options of a question, the alternatives of a blocker.
    pub choices: Vec<Cow<'a, str>>,
    /// A person has to decide.
    pub escalated: bool,
    /// Who decided, when it was not yet passed on to whom it blocks.
    pub decided_by: Option<Cow<'a, str>>,
    pub state: ItemState<'a>,
    /// The type of its block.
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    Request,
    Question,
    Blocker,
}

/// How far an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemState<'a> {
    /// Nobody has answered; of several that are named, not all have.
    Open,
    /// It was acknowledged, and that may be all there is to it.
    Accepted {
        by: Cow<'a, str>,
    },
    /// Plans came back, and no END yet.
    Working {
        by: Cow<'a, str>,
    },
    Answered {
        by: Cow<'a, str>,
        choice: Cow<'a, str>,
    },
    /// A blocker that went away with the question beside it.
    AnsweredWith(ItemId),
    /// An END closed it.
    Done {
        by: Cow<'a, str>,
    },
}

/// An END.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff<'a> {
    pub from: Cow<'a, str>,
    pub to: Receivers<'a>,
    pub next: Cow<'a, str>,
    /// The request that it closes.
    pub request: Option<ItemId>,
    pub span: Span,
}

/// Where a conversation stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State<'a> {
    /// Those who are named as receivers owe an answer.
    pub owed: Vec<Item<'a>>,
    /// Work that is going on.
    pub working: Vec<Item<'a>>,
    /// What is blocked.
    pub blocked: Vec<Item<'a>>,
    /// Those of the blocked that wait for a person.
    pub escalated: Vec<Item<'a>>,
    pub done: Vec<Handoff<'a>>,
}

/// Names an item within its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub(super) usize);

/// What a message did to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    Opened(ItemId),
    Answered {
        item: ItemId,
        by: Cow<'a, str>,
        choice: Cow<'a, str>,
    },
    /// A person decided; who is blocked does not know yet.
    Decided {
        item: ItemId,
        by: Cow<'a, str>,
        choice: Cow<'a, str>,
    },
    /// A blocker went away with the question beside it.
    Unblocked(ItemId),
    Progress {
        item: ItemId,
        by: Cow<'a, str>,
    },
    Ended(Handoff<'a>),
    /// The message was there before and counts once.
    Repeated,
}

impl ItemKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Question => "question",
            Self::Blocker => "blocker",
        }
    }
}

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.word())?;
        if let Some(sequence) = self.sequence {
            write!(f, " #{sequence}")?;
        }
        write!(f, " {} -> {} {:?}", self.from, self.to, self.text)?;
        if !self.choices.is_empty() {
            write!(f, " [{}]", self.choices.join(" | "))?;
        }
        if self.escalated {
            f.write_str(" escalated")?;
        }
        match &self.decided_by {
            Some(by) => write!(f, " decided by {by}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Handoff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} next {:?}", self.from, self.to, self.next)
    }
}

/// One line for each thing; nothing when nothing is open and nothing was ended.
impl fmt::Display for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = [
            ("owed", &self.owed),
            ("working", &self.working),
            ("blocked", &self.blocked),
            ("waits for a person", &self.escalated),
        ];
        for (name, items) in items {
            for item in items {
                writeln!(f, "{name}: {item}")?;
            }
        }
        self.done.iter().try_for_each(|handoff| writeln!(f, "done: {handoff}"))
    }
}
