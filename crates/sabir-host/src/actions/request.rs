//! What an `ACT` block asks for, understood. An argument that nobody reads is refused: doing
//! something else than what was asked is worse than doing nothing.

use std::borrow::Cow;
use std::time::Duration;

use sabir_llmx::{Act, Node, Operation, Value};

use crate::process::DEFAULT_TIMEOUT;

/// One action to carry out.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// What its sender calls it.
    pub(super) id: Option<String>,
    /// Or why it cannot be carried out.
    pub(super) work: Result<Work, String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Work {
    Read { path: String },
    Search { path: String, search: Search },
    Write { path: String, text: String, overwrite: bool },
    Edit { path: String, change: Change },
    Shell(Shell),
    Spawn(Spawn),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    pub(super) pattern: String,
    pub(super) glob: Option<String>,
    pub(super) limit: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// What stands exactly once, and what stands there then.
    Replace { old: String, new: String },
    /// What stands in place of the lines that the path names.
    Lines { text: String },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shell {
    pub(super) line: String,
    /// A path below the root.
    pub(super) folder: Option<String>,
    pub(super) timeout: Duration,
    /// Asks to run outside of the sandbox.
    pub(super) escalated: bool,
    pub(super) why: Option<String>,
}

/// What an action may ask for at most.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60 * 60);

impl Action {
    pub fn new(act: &Act<'_>) -> Self {
        Self { id: act.id.as_ref().map(|id| id.clone().into_owned()), work: Work::read(act) }
    }
}

impl Work {
    fn read(act: &Act<'_>) -> Result<Self, String> {
        let target = act.target.clone().into_owned();
        let word = act.operation.as_str();
        let mut given = Arguments { word, fields: Vec::new() };
        for field in act.arguments.iter().flat_map(|node| node.fields()) {
            given.fields.push((field.key().to_ascii_lowercase(), field.value));
        }
        given.fields.retain(|(key, _)| !key.starts_with("x_"));
        let work = match &act.operation {
            Operation::Read => Self::Read { path: target },
            Operation::Write => {
                let text = given.text("text")?.ok_or(
                    "write wants args:{text:\"...\"}, with all that the new file shall hold",
                )?;
                let overwrite = given.flag("overwrite")?;
                Self::Write { path: target, text, overwrite }
            }
            Operation::Edit => {
                let (old, new) = (given.text("old")?, given.text("new")?);
                let change = match (old, new, given.text("text")?) {
                    (Some(old), Some(new), None) => Change::Replace { old, new },
                    (None, None, Some(text)) => Change::Lines { text },
                    _ => {
                        return Err("edit wants args:{old:\"...\",new:\"...\"} with a text that \
                                    stands there once, or args:{text:\"...\"} for the lines that \
                                    the target names with #L"
                            .to_owned());
                    }
                };
                Self::Edit { path: target, change }
            }
            Operation::Shell => {
                if target.contains('\0') {
                    return Err("the command holds a NUL, which no shell can be given".to_owned());
                }
                if target.trim().is_empty() {
                    return Err("the command is empty".to_owned());
                }
                let timeout = match given.number("timeout_ms")? {
                    None => DEFAULT_TIMEOUT,
                    Some(0) => return Err("timeout_ms is zero".to_owned()),
                    Some(ms) => Duration::from_millis(ms).min(LONGEST_TIMEOUT),
                };
                Self::Shell(Shell {
                    line: target,
                    folder: given.text("cwd")?,
                    timeout,
                    escalated: given.flag("escalated")?,
                    why: given.text("why")?,
                })
            }
            Operation::Search => {
                let pattern = given
                    .text("q")?
                    .ok_or("search wants args:{q:\"...\"}, with a regular expression")?;
                let (glob, limit) = (given.text("glob")?, given.number("limit")?);
                Self::Search { path: target, search: Search { pattern, glob, limit } }
            }
            Operation::Spawn => {
                let task = given.text("task")?.ok_or(
                    "spawn wants args:{task:\"...\"}, with all that the other agent is told",
                )?;
                Self::Spawn(Spawn {
                    agent: target,
                    task,
                    skill: given.text("skill")?,
                    budget_tokens: given.number("budget_tokens")?,
                    deadline_secs: given.number("deadline_secs")?,
                })
            }
            Operation::Other(word) => {
                return Err(format!(
                    "nobody here knows the operation {word:?}: use read, write, edit, shell, \
                     search or spawn"
                ));
            }
        };
        given.finish()?;
        Ok(work)
    }
}

/// A task for another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spawn {
    pub(super) agent: String,
    pub(super) task: String,
    pub(super) skill: Option<String>,
    pub(super) budget_tokens: Option<u64>,
    pub(super) deadline_secs: Option<u64>,
}

/// The fields of `args` that were not read yet.
struct Arguments<'a> {
    word: &'a str,
    fields: Vec<(String, Node<'a>)>,
}

impl<'a> Arguments<'a> {
    fn take(&mut self, key: &str) -> Option<Node<'a>> {
        let at = self.fields.iter().position(|(given, _)| given == key)?;
        let (_, value) = self.fields.swap_remove(at);
        (!matches!(value.value(), Value::Null)).then_some(value)
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let text = value.as_text().map(Cow::into_owned);
        text.map(Some).ok_or_else(|| self.misfit(key, "a text"))
    }

    fn number(&mut self, key: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.value() {
            Value::Number(digits) => digits.parse().ok(),
            _ => None,
        }
        .map(Some)
        .ok_or_else(|| self.misfit(key, "a whole number"))
    }

    /// A flag that is not there is not set.
    fn flag(&mut self, key: &str) -> Result<bool, String> {
        match self.take(key).map(Node::value) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(self.misfit(key, "true or false")),
        }
    }

    fn misfit(&self, key: &str, wanted: &str) -> String {
        format!("the argument `{key}` of {} must be {wanted}", self.word)
    }

    fn finish(self) -> Result<(), String> {
        match self.fields.first() {
            None => Ok(()),
            Some((key, _)) => Err(format!("{} reads no argument {key:?}", self.word)),
        }
    }
}
