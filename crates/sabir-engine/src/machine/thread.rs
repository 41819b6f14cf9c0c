//! The thread of a session: a tree of items, because any response can be continued from. It is the
//! sum of its records; a stored session is rebuilt by applying them again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::grants::GrantRecord;
use super::settings::Settings;
use crate::items::Item;
use crate::protocol::{PlanStep, TokenTotals};

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
    },
    Granted {
        grant: GrantRecord,
    },
    Revoked {
        approval_id: String,
    },
    /// Files were changed by a task, and how to take that back. Opaque here.
    Changed {
        sub_id: String,
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

/// The thread and what hangs on it.
#[derive(Debug, Default)]
pub(super) struct Thread {
    nodes: Vec<Node>,
    head: Option<usize>,
    last_response: Option<String>,
    /// Where each response ended.
    turns: BTreeMap<String, Option<usize>>,
    asides: Vec<(Option<usize>, Option<String>)>,
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
            Record::Turn { response_id } => {
                self.turns.insert(response_id.clone(), self.head);
                self.last_response = Some(response_id.clone());
            }
            Record::Branch { after } => {
                // A branch is only recorded for a response that is known; one that is not would
                // come from a journal that was cut, and the beginning is the honest place then.
                self.head = after.as_ref().and_then(|id| self.turns.get(id).copied()).flatten();
                self.last_response.clone_from(after);
            }
            Record::AsideBegin => self.asides.push((self.head, self.last_response.clone())),
            Record::AsideEnd => {
                if let Some((head, last_response)) = self.asides.pop() {
                    self.head = head;
                    self.last_response = last_response;
                }
            }
            Record::Compacted { items } => {
                // What is continued after the last response is continued from its summary, unless
                // more was said since.
                let summed_up = self.last_response.clone().filter(|id| self.stands_after(id));
                self.head = None;
                for item in items {
                    self.push(Arc::clone(item));
                }
                if let Some(response_id) = summed_up {
                    self.turns.insert(response_id, self.head);
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
        self.nodes.push(Node { before: self.head, item });
        self.head = Some(self.nodes.len() - 1);
    }

    pub(super) fn knows(&self, response_id: &str) -> bool {
        self.turns.contains_key(response_id)
    }

    /// Whether nothing follows this response.
    pub(super) fn stands_after(&self, response_id: &str) -> bool {
        self.turns.get(response_id) == Some(&self.head)
    }

    pub(super) fn last_response(&self) -> Option<&str> {
        self.last_response.as_deref()
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
        let ends: BTreeSet<usize> = self.turns.values().copied().flatten().collect();
        let places = self.path().into_iter().enumerate();
        places.filter(|(_, node)| ends.contains(node)).map(|(place, _)| place + 1).collect()
    }

    /// The nodes from the beginning to the thread's end.
    fn path(&self) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = self.head;
        while let Some(index) = at {
            path.push(index);
            at = self.nodes[index].before;
        }
        path.reverse();
        path
    }

    /// The calls that have no output yet, oldest first.
    pub(super) fn open_calls(&self) -> Vec<String> {
        let mut open: Vec<String> = Vec::new();
        for item in self.history() {
            match &*item {
                Item::FunctionCall { call_id, .. } => open.push(call_id.clone()),
                Item::FunctionCallOutput { call_id, .. } => {
                    if let Some(index) = open.iter().position(|it| it == call_id) {
                        open.remove(index);
                    }
                }
                Item::Message { .. } | Item::Reasoning { .. } | Item::Other(_) => {}
            }
        }
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
    let mut ended: BTreeMap<usize, Vec<&String>> = BTreeMap::new();
    for (ended_id, node) in &thread.turns {
        if let Some(node) = node
            && ended_id != response_id
        {
            ended.entry(*node).or_default().push(ended_id);
        }
    }
    let mut path = Vec::new();
    for node in thread.path() {
        path.push(Record::Item { item: Arc::clone(&thread.nodes[node].item) });
        let turns = ended.get(&node).into_iter().flatten();
        path.extend(turns.map(|&id| Record::Turn { response_id: id.clone() }));
    }
    Some(path)
}
