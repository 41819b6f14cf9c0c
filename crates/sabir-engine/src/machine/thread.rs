//! The thread of a session: a tree of items, because any response can be continued from. It is the
//! sum of its records; a stored session is rebuilt by applying them again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use sabir_policy::{ApprovalMark, AuditRow};
use serde::{Deserialize, Serialize};

use super::grants::GrantRecord;
use super::settings::Settings;
use crate::items::Item;
use crate::protocol::{PlanStep, TokenTotals};
use crate::stream::Usage;

/// Something that a session must remember beyond its process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The settings from here on.
    Settings {
        settings: Box<Settings>,
    },
    /// An item follows the thread's end.
    Item {
        item: Arc<Item>,
    },
    /// The thread's end is where this response can be continued from.
    Turn {
        response_id: String,
        /// How full the model's context was.
        #[serde(default)]
        usage: Option<Usage>,
    },
    /// The thread's end goes back to a response, or to the beginning.
    Branch {
        after: Option<String>,
    },
    /// What follows stands beside the thread, until the matching end.
    AsideBegin,
    AsideEnd,
    /// These items take the place of everything before.
    Compacted {
        items: Vec<Arc<Item>>,
    },
    /// What a person was asked, or said.
    Approval {
        call_id: String,
        state: ApprovalState,
        what: String,
        /// Of a question: what the gate said, so that the audit can be told what became of it by
        /// whoever resumes the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judged: Option<Box<AuditRow>>,
    },
    Granted {
        grant: GrantRecord,
    },
    Revoked {
        approval_id: String,
    },
    /// Files were changed by a task, and how to take that back. Opaque here.
    Changed {
        /// Tasks that change files are numbered in a session.
        #[serde(default)]
        task: u64,
        undo: serde_json::Value,
    },
    /// The last change was taken back.
    Undone,
    Plan {
        plan: Vec<PlanStep>,
    },
    Tokens {
        total: TokenTotals,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Requested,
    Approved,
    ApprovedForSession,
    Denied,
    Aborted,
    /// Nobody answered in time.
    Expired,
}

impl Record {
    /// What a person said, or what became of a question that nobody answered.
    pub(super) fn answer(call_id: &str, state: ApprovalState, what: String) -> Self {
        Self::Approval { call_id: call_id.to_owned(), state, what, judged: None }
    }
}

impl ApprovalState {
    /// The same, as the audit says it.
    pub(super) fn mark(self) -> ApprovalMark {
        match self {
            Self::Requested => ApprovalMark::Requested,
            Self::Approved => ApprovalMark::Approved,
            Self::ApprovedForSession => ApprovalMark::ApprovedForSession,
            Self::Denied => ApprovalMark::Denied,
            Self::Aborted => ApprovalMark::Aborted,
            Self::Expired => ApprovalMark::Expired,
        }
    }
}

/// The thread and what hangs on it.
#[derive(Debug, Default)]
pub(super) struct Thread {
    nodes: Vec<Node>,
    place: Place,
    /// Where each response ended.
    turns: BTreeMap<String, Place>,
    asides: Vec<Place>,
}

/// Where a thread stands.
#[derive(Debug, Default, Clone)]
struct Place {
    /// Its last item.
    head: Option<usize>,
    last_response: Option<String>,
    /// Of that response.
    usage: Option<Usage>,
}

#[derive(Debug)]
struct Node {
    before: Option<usize>,
    item: Arc<Item>,
}

impl Thread {
    pub(super) fn apply(&mut self, record: &Record) {
        match record {
            Record::Item { item } => self.push(Arc::clone(item)),
            Record::Turn { response_id, usage } => {
                self.place.last_response = Some(response_id.clone());
                // A response that says nothing of it leaves what was known before.
                self.place.usage = usage.or(self.place.usage);
                self.turns.insert(response_id.clone(), self.place.clone());
            }
            Record::Branch { after } => {
                // A branch is only recorded for a response that is known; one that is not would
                // come from a journal that was cut, and the beginning is the honest place then.
                let turn = after.as_ref().and_then(|id| self.turns.get(id));
                self.place = turn.cloned().unwrap_or_default();
            }
            Record::AsideBegin => self.asides.push(self.place.clone()),
            Record::AsideEnd => {
                if let Some(place) = self.asides.pop() {
                    self.place = place;
                }
            }
            Record::Compacted { items } => {
                // What is continued after the last response is continued from its summary, unless
                // more was said since.
                let last = self.place.last_response.clone();
                let summed_up = last.filter(|id| self.stands_at_the_end_of(id));
                (self.place.head, self.place.usage) = (None, None);
                for item in items {
                    self.push(Arc::clone(item));
                }
                if let Some(response_id) = summed_up {
                    self.turns.insert(response_id, self.place.clone());
                }
            }
            Record::Settings { .. }
            | Record::Approval { .. }
            | Record::Granted { .. }
            | Record::Revoked { .. }
            | Record::Changed { .. }
            | Record::Undone
            | Record::Plan { .. }
            | Record::Tokens { .. } => {}
        }
    }

    fn push(&mut self, item: Arc<Item>) {
        self.nodes.push(Node { before: self.place.head, item });
        self.place.head = Some(self.nodes.len() - 1);
    }

    pub(super) fn knows(&self, response_id: &str) -> bool {
        self.turns.contains_key(response_id)
    }

    /// Whether this response was the last one, and nothing follows it.
    pub(super) fn stands_at_the_end_of(&self, response_id: &str) -> bool {
        self.last_response() == Some(response_id)
            && self.turns.get(response_id).is_some_and(|turn| turn.head == self.place.head)
    }

    pub(super) fn last_response(&self) -> Option<&str> {
        self.place.last_response.as_deref()
    }

    /// A name for a response that no other has. Some servers give one twice, and who continues
    /// after a response means one of them.
    pub(super) fn name(&self, response_id: String) -> String {
        if !self.knows(&response_id) {
            return response_id;
        }
        let mut names = (self.turns.len()..).map(|number| format!("{response_id}-{number}"));
        names.find(|name| !self.knows(name)).unwrap_or(response_id)
    }

    /// How full the model's context was at the last response, if it is known.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.place.usage
    }

    pub(super) fn has_open_aside(&self) -> bool {
        !self.asides.is_empty()
    }

    /// The items from the beginning to the thread's end.
    pub(super) fn history(&self) -> Vec<Arc<Item>> {
        self.path().iter().map(|&index| Arc::clone(&self.nodes[index].item)).collect()
    }

    /// Where in the history answers are over, as numbers of items before.
    pub(super) fn answers_end(&self) -> Vec<usize> {
        let ends: BTreeSet<usize> = self.turns.values().filter_map(|turn| turn.head).collect();
        let places = self.path().into_iter().enumerate();
        places.filter(|(_, node)| ends.contains(node)).map(|(place, _)| place + 1).collect()
    }

    /// The nodes from the beginning to the thread's end.
    fn path(&self) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = self.place.head;
        while let Some(index) = at {
            path.push(index);
            at = self.nodes[index].before;
        }
        path.reverse();
        path
    }

    /// The calls that have no output yet, oldest first.
    pub(super) fn open_calls(&self) -> Vec<String> {
        // From the end: an output stands behind its call.
        let mut answered: HashMap<&str, usize> = HashMap::new();
        let mut open = Vec::new();
        let mut at = self.place.head;
        while let Some(index) = at {
            let node = &self.nodes[index];
            match &*node.item {
                Item::FunctionCallOutput { call_id, .. } => {
                    *answered.entry(call_id).or_default() += 1;
                }
                Item::FunctionCall { call_id, .. } => match answered.get_mut(call_id.as_str()) {
                    Some(count @ 1..) => *count -= 1,
                    _ => open.push(call_id.clone()),
                },
                Item::Message { .. } | Item::Reasoning { .. } | Item::Other(_) => {}
            }
            at = node.before;
        }
        open.reverse();
        open
    }
}

/// The items of a stored session up to the end of a response, and the responses that ended between
/// them; not that response itself.
pub fn thread_at(records: &[Record], response_id: &str) -> Option<Vec<Record>> {
    let mut thread = Thread::default();
    records.iter().for_each(|record| thread.apply(record));
    if !thread.knows(response_id) {
        return None;
    }
    thread.apply(&Record::Branch { after: Some(response_id.to_owned()) });
    let mut ended: BTreeMap<usize, Vec<(&String, Option<Usage>)>> = BTreeMap::new();
    for (ended_id, turn) in &thread.turns {
        if let Some(node) = turn.head
            && ended_id != response_id
        {
            ended.entry(node).or_default().push((ended_id, turn.usage));
        }
    }
    let mut path = Vec::new();
    for node in thread.path() {
        path.push(Record::Item { item: Arc::clone(&thread.nodes[node].item) });
        let turns = ended.get(&node).into_iter().flatten();
        path.extend(turns.map(|&(id, usage)| Record::Turn { response_id: id.clone(), usage }));
    }
    Some(path)
}
