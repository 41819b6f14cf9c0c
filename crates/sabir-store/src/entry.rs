//! What is written: batches of entries, and the row that each becomes.

use std::borrow::Cow;
use std::fmt;

use sabir_ldp::Record;
use serde::{Deserialize, Serialize};

use crate::delegate::PeerEntry;

/// Chosen by whoever starts the session; the store only compares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

/// Entries that are written together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub session_id: SessionId,
    pub at_ms: u64,
    pub entries: Vec<Entry>,
}

/// Bodies are texts, in practice JSON, that the store keeps to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Starts a session or changes what is known about it.
    Session(SessionFacts),
    /// Ids are the UI's, so the same one may come twice; both are kept.
    Submission {
        sub_id: String,
        body: String,
    },
    Event {
        sub_id: String,
        kind: String,
        body: String,
    },
    /// Something appended to the thread that the model sees.
    Item {
        body: String,
    },
    /// A bookmark: the thread up to here is what this response ended.
    Turn {
        response_id: String,
        body: String,
    },
    Approval {
        call_id: String,
        state: ApprovalState,
        body: String,
    },
    /// Settings, branches, compactions, grants: whatever resuming needs.
    Note {
        kind: String,
        body: String,
    },
    /// What one input made this node's delegate record. It belongs to no session: see
    /// [`Batch::of_peers`].
    Peer(PeerEntry),
}

/// A later one replaces the folder and the model; a title or parent is kept until another is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFacts {
    pub cwd: String,
    pub model: String,
    pub title: Option<String>,
    pub parent: Option<Parent>,
}

/// The session that one comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub session_id: SessionId,
    /// Where a fork branched off; none for work that was handed to another agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    Requested,
    Approved,
    ApprovedForSession,
    Denied,
    Aborted,
    Expired,
}

/// An entry as columns of the journal, those that the hash covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) kind: Kind,
    pub(crate) tag: &'a str,
    pub(crate) key: &'a str,
    pub(crate) body: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Session,
    Submission,
    Event,
    Item,
    Turn,
    Approval,
    Note,
    Peer,
}

impl SessionId {
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Batch {
    /// What one input made a delegate record. The records are written as JSON here, on the caller's
    /// thread; the keys of sessions among them go where secrets are.
    #[must_use]
    pub fn of_peers(at_ms: u64, records: Vec<Record>) -> Self {
        let entries = vec![Entry::Peer(PeerEntry::new(records))];
        Self { session_id: SessionId(String::new()), at_ms, entries }
    }

    /// What it weighs in the queue.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.iter().map(Entry::bytes).fold(0, usize::saturating_add)
    }
}

impl Entry {
    pub(crate) fn bytes(&self) -> usize {
        let text = match self {
            Self::Session(facts) => {
                let parent = facts.parent.as_ref();
                facts.cwd.len()
                    + facts.model.len()
                    + facts.title.as_ref().map_or(0, String::len)
                    + parent.map_or(0, |it| {
                        it.session_id.0.len() + it.response_id.as_ref().map_or(0, String::len)
                    })
            }
            Self::Submission { sub_id, body } => sub_id.len() + body.len(),
            Self::Event { sub_id, kind, body } => sub_id.len() + kind.len() + body.len(),
            Self::Item { body } => body.len(),
            Self::Turn { response_id, body } => response_id.len() + body.len(),
            Self::Approval { call_id, body, .. } => call_id.len() + body.len(),
            Self::Note { kind, body } => kind.len() + body.len(),
            Self::Peer(peer) => peer.bytes(),
        };
        text + size_of::<Self>()
    }

    pub(crate) fn row(&self) -> Row<'_> {
        let (kind, tag, key, body): (_, &str, &str, &str) = match self {
            Self::Session(facts) => {
                let body = Cow::Owned(facts.to_json());
                return Row { kind: Kind::Session, tag: "", key: "", body };
            }
            Self::Submission { sub_id, body } => (Kind::Submission, "", sub_id, body),
            Self::Event { sub_id, kind, body } => (Kind::Event, kind, sub_id, body),
            Self::Item { body } => (Kind::Item, "", "", body),
            Self::Turn { response_id, body } => (Kind::Turn, "", response_id, body),
            Self::Approval { call_id, state, body } => {
                (Kind::Approval, state.as_str(), call_id, body)
            }
            Self::Note { kind, body } => (Kind::Note, kind, "", body),
            Self::Peer(peer) => (Kind::Peer, "", "", peer.body()),
        };
        Row { kind, tag, key, body: Cow::Borrowed(body) }
    }

    /// `None` when the columns are not what [`Entry::row`] makes.
    pub(crate) fn from_columns(kind: Kind, tag: &str, key: &str, body: String) -> Option<Self> {
        let (tag, key) = (tag.to_owned(), key.to_owned());
        Some(match kind {
            Kind::Session => Self::Session(serde_json::from_str(&body).ok()?),
            Kind::Submission => Self::Submission { sub_id: key, body },
            Kind::Event => Self::Event { sub_id: key, kind: tag, body },
            Kind::Item => Self::Item { body },
            Kind::Turn => Self::Turn { response_id: key, body },
            Kind::Approval => {
                Self::Approval { call_id: key, state: ApprovalState::from_str(&tag)?, body }
            }
            Kind::Note => Self::Note { kind: tag, body },
            Kind::Peer => Self::Peer(PeerEntry::from_body(body)?),
        })
    }
}

impl SessionFacts {
    fn to_json(&self) -> String {
        // Texts and options of texts always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl ApprovalState {
    const ALL: [Self; 6] = [
        Self::Requested,
        Self::Approved,
        Self::ApprovedForSession,
        Self::Denied,
        Self::Aborted,
        Self::Expired,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Approved => "approved",
            Self::ApprovedForSession => "approved_for_session",
            Self::Denied => "denied",
            Self::Aborted => "aborted",
            Self::Expired => "expired",
        }
    }

    fn from_str(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Session,
        Self::Submission,
        Self::Event,
        Self::Item,
        Self::Turn,
        Self::Approval,
        Self::Note,
        Self::Peer,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Submission => "submission",
            Self::Event => "event",
            Self::Item => "item",
            Self::Turn => "turn",
            Self::Approval => "approval",
            Self::Note => "note",
            Self::Peer => "peer",
        }
    }

    pub(crate) fn from_str(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The table that says which entries of this kind a session has. Entries of peers belong to none.
    pub(crate) fn table(self) -> Option<&'static str> {
        Some(match self {
            Self::Session => "session_facts",
            Self::Submission => "submissions",
            Self::Event => "events",
            Self::Item => "items",
            Self::Turn => "turns",
            Self::Approval => "approvals",
            Self::Note => "notes",
            Self::Peer => return None,
        })
    }
}
