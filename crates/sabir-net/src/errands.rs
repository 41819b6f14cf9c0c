//! Tasks that other programs hand to this node: they are kept, outlive whoever handed them in, and
//! are looked at later. How a task is done and where it is kept is not known here.

use std::fmt;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sabir_ldp::Strategy;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Whoever takes tasks. What was taken is on disk.
pub trait Errands: Send + Sync {
    /// Takes a task and gives its id. A key that was seen before gives the task of that time.
    fn place(&self, placement: Placement) -> BoxFuture<'_, Result<String, ErrandsError>>;

    /// The task that was taken under a key.
    fn find<'a>(&'a self, by: Placer, key: &'a str) -> BoxFuture<'a, Option<String>>;

    /// A task as it stands.
    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Placed, ErrandsError>>;

    /// Tasks, the one that changed last first.
    fn list<'a>(&'a self, wanted: &'a Listing) -> BoxFuture<'a, Result<Listed, ErrandsError>>;

    /// Asks for a task to end. It has ended when its state says so.
    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), ErrandsError>>;

    /// What happens to a task after a row, until it is over: the last step is its end. A task that is
    /// over has that step only.
    fn follow(&self, id: &str, after: u64) -> BoxStream<'static, Result<Step, ErrandsError>>;
}

/// Who placed an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placer {
    /// A person at this machine's own keyboard.
    Person,
    /// A person at the page, who may be far away.
    Page,
    /// An agent of this node: a model said so.
    Agent,
    /// A program, over MCP.
    Mcp,
    /// Another agent, over A2A.
    A2a,
}

/// Who of the other programs placed an order, and with which words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderVisit {
    /// Whoever else is not shown the order.
    pub caller: String,
    /// Whether it is a program of this machine that the user runs: what it names, the user named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// What several orders belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The message that it came in, in the words of its protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Value>,
}

impl OrderVisit {
    /// Of somebody else's program.
    pub fn of(caller: impl Into<String>) -> Self {
        Self { caller: caller.into(), is_own: false, context: None, message: None }
    }
}

/// A task to be taken.
#[derive(Debug, Clone)]
pub struct Placement {
    /// What is to be done, in words.
    pub task: String,
    /// Data that goes with it.
    pub input: Option<Value>,
    pub skill: Option<String>,
    /// Who may do it, of those that are known. Empty: whoever `reach` allows.
    pub to: Vec<String>,
    pub reach: Reach,
    pub strategy: Strategy,
    pub budget_tokens: Option<u64>,
    pub deadline_secs: Option<u64>,
    pub by: Placer,
    pub visit: OrderVisit,
    /// So that the same task is not taken twice.
    pub key: Option<String>,
}

/// Who may be given a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The delegates of this node.
    Here,
    /// Those that are known as well.
    Anywhere,
}

/// A task as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub id: String,
    pub by: Placer,
    /// None if a person or an agent of this node handed it in.
    pub visit: Option<OrderVisit>,
    pub skill: Option<String>,
    pub state: PlacedState,
    pub created_at_ms: u64,
    pub changed_at_ms: u64,
    pub output: Option<Value>,
    pub error: Option<PlacedError>,
    /// What else is known: who did it, in which mode, at what cost, with which provenance.
    pub facts: Map<String, Value>,
    /// The last row that this comes from.
    pub last: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacedState {
    Running,
    /// For a person of this node.
    Waiting,
    Done,
    Failed,
    Cancelled,
    /// The node ended meanwhile, and nobody knows what became of it.
    Interrupted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedError {
    pub code: String,
    pub message: String,
}

/// Which tasks are wanted.
#[derive(Debug, Clone)]
pub struct Listing {
    pub by: Placer,
    /// Those of others are not shown.
    pub caller: String,
    pub context: Option<String>,
    /// Any of these; empty is all.
    pub states: Vec<PlacedState>,
    /// At this time or later.
    pub changed_since_ms: Option<u64>,
    /// Behind this one: when it changed, and its id.
    pub behind: Option<(u64, String)>,
    pub limit: usize,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listed {
    pub tasks: Vec<Placed>,
    /// Of all that fit, on other pages as well.
    pub total: usize,
    pub has_more: bool,
}

/// One thing that happened to a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub seq: u64,
    pub at_ms: u64,
    pub what: Movement,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Movement {
    /// In words, and how much of it is done, from 0 to 1.
    Progress {
        message: Option<String>,
        share: Option<f64>,
    },
    /// It waits for a person of this node.
    Waiting {
        message: Option<String>,
    },
    Ended(Box<Placed>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrandsError {
    Unknown,
    /// It is over and cannot be cancelled.
    Over,
    /// What is asked for cannot be done.
    Refused(String),
    /// Too much is going on.
    Busy,
    /// It cannot be written down or read.
    Store(String),
}

impl Placed {
    /// Whether it is a task that this caller handed in through this door.
    pub(crate) fn is_of(&self, by: Placer, caller: &str) -> bool {
        self.by == by && self.visit.as_ref().is_some_and(|visit| visit.caller == caller)
    }
}

impl PlacedState {
    pub fn is_over(self) -> bool {
        match self {
            Self::Running | Self::Waiting => false,
            Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted => true,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for ErrandsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such task"),
            Self::Over => f.write_str("the task is over"),
            Self::Refused(why) => f.write_str(why),
            Self::Busy => f.write_str("too many tasks are running; try again later"),
            Self::Store(why) => write!(f, "it cannot be kept: {why}"),
        }
    }
}

impl std::error::Error for ErrandsError {}
