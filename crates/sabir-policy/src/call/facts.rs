//! What the gate knows of a tool call, boiled down to a few small choices, so that the whole table of
//! decisions can be written down. Which document, which address and which field it was is known to
//! whoever boiled it down.

use serde::{Deserialize, Serialize};

use crate::labels::Labels;

/// The facts of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallFacts {
    pub labels: Labels,
    pub reading: Reading,
    /// Untrusted content entered the context that the model answered from.
    pub untrusted: bool,
    /// Private content entered it.
    pub private: bool,
    /// The worst of the addresses among the arguments; `None` when there is none.
    pub address: Option<AddressKind>,
    pub origin: OriginKind,
    /// What is typed into or selected in; `None` when nothing is.
    pub field: Option<FieldKind>,
    /// What would be sent looks like something that identifies or opens something.
    pub sensitive: bool,
    pub offer: Offer,
    pub scope: Scope,
    pub budget: Budget,
}

impl CallFacts {
    /// A call of a strict response, in a clean context, with nothing special about it.
    pub fn plain(labels: Labels) -> Self {
        Self {
            labels,
            reading: Reading::Strict,
            untrusted: false,
            private: false,
            address: None,
            origin: OriginKind::NoPage,
            field: None,
            sensitive: false,
            offer: Offer::Made,
            scope: Scope::Own,
            budget: Budget::Left,
        }
    }
}

/// How the response that holds the call was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    Strict,
    /// It was repaired, or accepted although it is not what it should be.
    Loose,
}

/// Whether the model was told of the tool for this question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    Made,
    NotMade,
}

/// Whose collection, source or artifact a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// None, the collection that the question is about, or what this turn has made.
    Own,
    /// Something else of the user's, which they did not name.
    Other,
}

/// Where an address came from, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressKind {
    /// The user typed it, whole.
    Typed,
    /// A source links it, whole.
    Linked,
    /// It stands in the text of a source, which does not link it.
    Found,
    Invented,
    /// No http or https, no host, a name and password in it, or characters that hide what it is.
    Unusable,
}

/// Where a call acts, seen from the page that the user opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// There is no page, or the call does not go anywhere.
    NoPage,
    /// At the origin that the user opened, or one that the user typed.
    Own,
    Other,
}

/// What a field is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    Ordinary,
    /// Nothing is known of it.
    Unknown,
    Credential,
    Payment,
    PersonalId,
}

impl FieldKind {
    /// Whether nothing a model says is ever put into it.
    pub fn is_sensitive(self) -> bool {
        match self {
            Self::Ordinary | Self::Unknown => false,
            Self::Credential | Self::Payment | Self::PersonalId => true,
        }
    }
}

/// What the turn may still do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    Left,
    /// It has asked as often as it may. Who is asked too often says yes.
    NoAsks,
    NoCalls,
}

impl Budget {
    /// From what this turn has made and asked so far, this call not counted.
    pub fn after(calls: u32, asks: u32, limits: &Limits) -> Self {
        match (calls < limits.calls_per_turn, asks < limits.asks_per_turn) {
            (false, _) => Self::NoCalls,
            (true, false) => Self::NoAsks,
            (true, true) => Self::Left,
        }
    }
}

/// How much one turn may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    pub calls_per_turn: u32,
    pub asks_per_turn: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { calls_per_turn: CALLS_PER_TURN, asks_per_turn: ASKS_PER_TURN }
    }
}

/// Enough for a page that is worked through step by step, too few to send a collection away in
/// pieces.
const CALLS_PER_TURN: u32 = 32;
/// More questions in one turn are not read any more.
const ASKS_PER_TURN: u32 = 8;
