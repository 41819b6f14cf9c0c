//! What is to be delegated, to whom, on what terms, and how the result is checked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sabir_ldp::{
    Budget, DelegateId, Frame, Payload, PayloadError, PayloadMode, SkillName, Strategy, TaskId,
};
use serde_json::{Map, Value};

use super::address::Address;

/// A task in search of somebody who does it.
#[derive(Debug, Clone)]
pub struct DelegationRequest {
    pub task: TaskInput,
    /// What it is called: a delegate does what comes twice under one name once. Without one, a new
    /// name.
    pub task_id: Option<TaskId>,
    /// What the delegate has to know how to do. Without one, the only skill that is offered.
    pub skill: Option<SkillName>,
    /// Where several are offered and none was named, the one that fits the words is taken.
    pub fits_skill: bool,
    /// Who may do it. Empty: the delegates that are known.
    pub to: Vec<Address>,
    /// Who may do it besides those that are known, where nobody is named.
    pub also: Vec<Address>,
    /// The one delegate that may do it, wherever it is.
    pub only: Option<DelegateId>,
    /// Where those are that this node runs itself. Which skill words ask for is looked for among theirs
    /// first.
    pub own: Vec<Address>,
    /// What these are held to besides. It says things about this machine that are nobody else's
    /// business.
    pub own_constraint: Option<String>,
    /// Leaves out those that are programs of this machine: no sandbox holds them.
    pub shuns_programs: bool,
    pub strategy: Strategy,
    /// The trust domain that the delegate has to be in.
    pub trust_domain: Option<String>,
    pub jurisdiction: Option<String>,
    pub budget: Budget,
    /// After this the result is worth nothing.
    pub deadline: Option<Duration>,
    pub verify: Option<Verify>,
    /// Through whose hands the task came before, the oldest first.
    pub path: Vec<DelegateId>,
    /// A delegate that has it from before is told to leave it, and nobody is given it.
    pub is_withdrawn: bool,
    /// Events are written down: nobody is given the task before the event that says so was dropped.
    /// After a crash nobody would know otherwise who has it.
    pub is_written_down: bool,
    /// How many delegates are tried at most.
    pub attempts: usize,
    /// If the first has not finished after this time, the next is asked as well. Off by default: the
    /// work is paid for twice, and done twice if it has effects.
    pub hedge_after: Option<Duration>,
}

impl DelegationRequest {
    /// Anybody, on no terms.
    pub fn new(task: TaskInput) -> Self {
        Self {
            task,
            task_id: None,
            skill: None,
            fits_skill: false,
            to: Vec::new(),
            also: Vec::new(),
            only: None,
            own: Vec::new(),
            own_constraint: None,
            shuns_programs: false,
            strategy: Strategy::default(),
            trust_domain: None,
            jurisdiction: None,
            budget: Budget::default(),
            deadline: None,
            verify: None,
            path: Vec::new(),
            is_withdrawn: false,
            is_written_down: false,
            attempts: 3,
            hedge_after: None,
        }
    }
}

/// What the delegate is given.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskInput {
    Text(String),
    Json(Value),
}

impl TaskInput {
    /// As it travels: a frame, which every other mode can be made from.
    pub(super) fn payload(&self, skill: &SkillName) -> Result<Payload, PayloadError> {
        match self {
            Self::Text(text) => Frame::from_text(text).map(Payload::Frame),
            Self::Json(Value::Object(fields)) => {
                let mut frame = Map::new();
                frame.insert("task_type".to_owned(), skill.as_str().into());
                let said = Value::Object(fields.clone()).to_string();
                frame.insert("instruction".to_owned(), said.into());
                frame.extend(fields.clone());
                Payload::check(PayloadMode::SemanticFrame, &Value::Object(frame))
            }
            Self::Json(value) => Frame::from_text(&value.to_string()).map(Payload::Frame),
        }
    }

    /// In words.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(value) => value.to_string(),
        }
    }
}

/// Who checks a result, besides who made it.
#[derive(Clone)]
pub enum Verify {
    /// A JSON Schema that the output has to fit. `name` is what provenance calls it.
    Rule { name: String, schema: Value },
    /// A command that gets the output as JSON on its standard input. Exit code 0 passes.
    Tool { command: Vec<String> },
    /// Another delegate, which is asked for this skill. Without an address, one that is known.
    Peer { to: Option<Address>, skill: SkillName },
    /// A person, who is asked.
    Human(Arc<dyn Judge>),
}

impl fmt::Debug for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { name, .. } => f.debug_struct("Rule").field("name", name).finish(),
            Self::Tool { command } => f.debug_struct("Tool").field("command", command).finish(),
            Self::Peer { to, skill } => {
                f.debug_struct("Peer").field("to", to).field("skill", skill).finish()
            }
            Self::Human(judge) => f.debug_tuple("Human").field(&judge.name()).finish(),
        }
    }
}

/// A person who can be asked.
pub trait Judge: Send + Sync {
    /// What provenance calls them.
    fn name(&self) -> String;

    fn judge<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Judgement>;
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub task: String,
    pub output: Value,
    pub delegate: DelegateId,
}

/// What a person says, perhaps with a word about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    Right(Option<String>),
    Wrong(Option<String>),
    /// Nobody judged, for this reason. That says nothing about the result.
    Unanswered(String),
}
