//! What is ordered, by whom and on what terms. It is kept as it came, so that it can be done again.

use std::fmt;

use sabir_ldp::{Budget, DelegateId, SkillName, Strategy, TaskKey};
use sabir_policy::Bounds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::OrderError;
use crate::delegation::TaskInput;
use crate::errands::{OrderVisit, Placer};

/// The name of an order, and of its session in the journal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(String);

/// A task for the node's router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderRequest {
    /// What is to be done, in words.
    pub task: String,
    /// Data that goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What the delegate has to know how to do. Without one, the only skill that is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Who may do it: addresses, names of the node's own delegates, or ids of known ones. Empty: all
    /// of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    #[serde(default)]
    pub strategy: Strategy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust_domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// After so many seconds the result is worth nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_secs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<OrderVerify>,
    pub by: Placer,
    /// Of one that came over MCP or A2A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visit: Option<OrderVisit>,
    /// The order or session that it was placed for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The task whose agent placed it, and which waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_task: Option<TaskKey>,
    /// How many orders stand above it.
    #[serde(default)]
    pub depth: u32,
    /// Through whose hands the task came before, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<DelegateId>,
    /// What the agent may do that placed it: whoever does it may do no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Bounds>,
    /// The order that this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<OrderId>,
}

/// Who checks the result, besides who made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum OrderVerify {
    /// A JSON Schema that the output has to fit.
    Rule { name: String, schema: Value },
    /// A command that gets the output as JSON on its standard input.
    Tool { command: Vec<String> },
    /// Another delegate: an address, or one that is known.
    Peer { to: Option<String>, skill: String },
    /// A person at the console.
    Person,
}

impl OrderId {
    pub const PREFIX: &str = sabir_host::record::ORDERS;

    /// None if it is not the name of an order.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(Self::PREFIX)?;
        let is_one = rest.len() == 36 && rest.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        is_one.then(|| Self(text.to_owned()))
    }

    /// The order whose task a delegate knows by this name.
    pub fn of_task(task_id: &str) -> Option<Self> {
        Self::parse(&format!("{}{}", Self::PREFIX, task_id.get(..36)?))
    }

    /// The order whose task a delegate keeps under this key, if the node placed it: under its own name,
    /// or under the one that it speaks to itself by.
    pub fn of_key(node: &DelegateId, key: &TaskKey) -> Option<Self> {
        let rest = key.owner.as_str().strip_prefix(node.as_str())?;
        Self::of_task(key.id.as_str()).filter(|_| matches!(rest, "" | ":caller"))
    }

    /// A name that sorts by time: a UUID of version 7.
    pub(super) fn new(now_ms: u64) -> Option<Self> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).ok()?;
        bytes[..6].copy_from_slice(&now_ms.to_be_bytes()[2..]);
        bytes[6] = bytes[6] & 0x0f | 0x70;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        Some(Self(format!("{}{}", Self::PREFIX, parts.join("-"))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the delegate knows its task by.
    pub fn task_id(&self) -> &str {
        self.0.strip_prefix(Self::PREFIX).unwrap_or(&self.0)
    }
}

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl OrderRequest {
    /// For anybody, on no terms, from a person at the keyboard.
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            input: None,
            skill: None,
            to: Vec::new(),
            strategy: Strategy::default(),
            trust_domain: None,
            budget_tokens: None,
            budget_usd: None,
            deadline_secs: None,
            verify: None,
            by: Placer::Person,
            visit: None,
            parent: None,
            for_task: None,
            depth: 0,
            path: Vec::new(),
            within: None,
            again: None,
        }
    }

    /// What can be seen to be wrong without asking anybody.
    pub(super) fn check(&self) -> Result<(), OrderError> {
        let invalid = |field, why: String| Err(OrderError::Invalid { field, why });
        if self.task.trim().is_empty() {
            return invalid("task", "it is empty".to_owned());
        }
        if self.task.len() > MAX_TASK {
            return invalid("task", format!("it has more than {MAX_TASK} bytes"));
        }
        if let Some(skill) = &self.skill
            && let Err(error) = SkillName::new(skill)
        {
            return invalid("skill", error.to_string());
        }
        if self.to.len() > MAX_TO {
            return invalid("to", format!("more than {MAX_TO} are named"));
        }
        if self.budget_tokens == Some(0) {
            return invalid("budget_tokens", "nothing can be done with none".to_owned());
        }
        if self.budget_usd.is_some_and(|usd| !usd.is_finite() || usd <= 0.0) {
            return invalid("budget_usd", "it has to be more than nothing".to_owned());
        }
        if self.deadline_secs.is_some_and(|secs| secs == 0 || secs > LONGEST_SECS) {
            return invalid("deadline_secs", format!("1 to {LONGEST_SECS} seconds"));
        }
        if let Some(Value::Object(fields)) = &self.input
            && fields.get("instruction").is_some_and(|it| it.as_str() != Some(&self.task))
        {
            let why = "it has an instruction, and the task is another one";
            return invalid("input", why.to_owned());
        }
        match &self.verify {
            Some(OrderVerify::Rule { schema, .. }) => match sabir_host::check_schema(schema) {
                Ok(()) => Ok(()),
                Err(why) => invalid("verify", why),
            },
            Some(OrderVerify::Tool { command }) if command.is_empty() => {
                invalid("verify", "a command that is empty passes everything".to_owned())
            }
            Some(OrderVerify::Peer { skill, .. }) => match SkillName::new(skill) {
                Ok(_) => Ok(()),
                Err(error) => invalid("verify", error.to_string()),
            },
            Some(OrderVerify::Tool { .. } | OrderVerify::Person) | None => Ok(()),
        }
    }

    /// What the delegate is given.
    pub(super) fn task_input(&self) -> TaskInput {
        let mut fields = match &self.input {
            None => return TaskInput::Text(self.task.clone()),
            Some(Value::Object(fields)) => fields.clone(),
            Some(data) => Map::from_iter([("data".to_owned(), data.clone())]),
        };
        fields.insert("instruction".to_owned(), self.task.clone().into());
        TaskInput::Json(Value::Object(fields))
    }

    pub(super) fn budget(&self) -> Budget {
        Budget { max_tokens: self.budget_tokens, max_cost_usd: self.budget_usd }
    }
}

/// More than that is data, and goes into `input`.
const MAX_TASK: usize = 256 * 1024;
const MAX_TO: usize = 64;
const LONGEST_SECS: u64 = 7 * 24 * 3600;

#[cfg(test)]
mod tests {
    use sabir_ldp::TaskId;

    use super::*;

    #[test]
    fn names_of_orders_sort_by_time_and_name_their_tasks() {
        let ids: Vec<OrderId> =
            [1, 2, 1 << 40].map(|now_ms| OrderId::new(now_ms).unwrap()).into_iter().collect();
        assert!(ids.is_sorted(), "{ids:?}");
        for id in &ids {
            assert_eq!(OrderId::parse(id.as_str()).as_ref(), Some(id));
            assert_eq!(OrderId::of_task(id.task_id()).as_ref(), Some(id));
            assert_eq!(OrderId::of_task(&format!("{}-2", id.task_id())).as_ref(), Some(id));
            assert_eq!(id.task_id().as_bytes()[14], b'7');
        }
        for no in ["", "order-", "order-1", "task", "order-zzzzzzzz-0000-7000-8000-000000000000"] {
            assert_eq!(OrderId::parse(no), None);
        }
    }

    #[test]
    fn a_key_of_a_task_is_an_order_if_the_node_placed_it() {
        let id = OrderId::new(1).unwrap();
        let node = DelegateId::new("ldp:delegate:node").unwrap();
        let of = |owner: &str, task: &str| {
            let (owner, id) = (DelegateId::new(owner).unwrap(), TaskId::new(task).unwrap());
            OrderId::of_key(&node, &TaskKey { owner, id })
        };
        for owner in ["ldp:delegate:node", "ldp:delegate:node:caller"] {
            assert_eq!(of(owner, id.task_id()), Some(id.clone()), "{owner}");
            assert_eq!(of(owner, "t-1"), None);
        }
        for other in ["ldp:delegate:node2", "ldp:delegate:node:caller2", "ldp:delegate:no"] {
            assert_eq!(of(other, id.task_id()), None, "{other}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |change: &dyn Fn(&mut OrderRequest)| {
            let mut request = OrderRequest::new("say hi");
            change(&mut request);
            request.check().map_err(|error| error.to_string())
        };
        assert_eq!(check(&|_| {}), Ok(()));
        for (change, field) in [
            ((&|it: &mut OrderRequest| it.task = " ".into()) as &dyn Fn(&mut OrderRequest), "task"),
            (&|it| it.task = "x".repeat(MAX_TASK + 1), "task"),
            (&|it| it.skill = Some("no skill at all\n".into()), "skill"),
            (&|it| it.budget_tokens = Some(0), "budget_tokens"),
            (&|it| it.budget_usd = Some(f64::NAN), "budget_usd"),
            (&|it| it.deadline_secs = Some(0), "deadline_secs"),
            (&|it| it.deadline_secs = Some(LONGEST_SECS + 1), "deadline_secs"),
            (&|it| it.input = Some(serde_json::json!({ "instruction": "other" })), "input"),
            (&|it| it.verify = Some(OrderVerify::Tool { command: vec![] }), "verify"),
        ] {
            let why = check(change).unwrap_err();
            assert!(why.starts_with(field), "{why}");
        }
    }
}
