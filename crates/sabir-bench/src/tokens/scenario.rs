//! A conversation as a typed record, before any notation: what every encoder starts from.
//!
//! The types hold what is said, never how it is written. Names, keys and texts are the leaves that
//! every encoding must carry.

pub(crate) use sabir_axon::{Performative as Act, Unit};

/// A small conversation, and what kind it is.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) messages: Vec<Message>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Query,
    Negotiation,
    Subscription,
    Voting,
    Errors,
    Transactions,
    Plans,
    Batches,
    Delegation,
    LongText,
    Tables,
    Nesting,
    Blockers,
    Metadata,
}

pub(crate) struct Message {
    pub(crate) act: Act,
    pub(crate) from: &'static str,
    pub(crate) to: To,
    pub(crate) meta: Vec<(MetaKey, Term)>,
    pub(crate) content: Term,
}

pub(crate) enum To {
    One(&'static str),
    Many(Vec<&'static str>),
    Anyone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaKey {
    Id,
    Version,
    ReplyTo,
    SentAt,
    Conversation,
    TimeToLive,
    Priority,
    Signature,
    Authorization,
    Tenant,
    ErrorNamespace,
    Transaction,
    TransactionState,
}

/// What is said. One variant for each thing that some notation writes in its own way.
pub(crate) enum Term {
    Nothing,
    Text(&'static str),
    Number {
        /// As written. Without a unit it must be how JSON writes the number, too.
        digits: &'static str,
        unit: Option<Unit>,
    },
    Bool(bool),
    /// Something that exists: an agent, a server, an account.
    Entity(&'static str),
    /// A word with an agreed meaning: a state, a category.
    Symbol(&'static str),
    /// A quantity that is spoken about without giving it: `load`.
    Name(&'static str),
    /// A value that the context fills in.
    Variable(&'static str),
    List(Vec<Term>),
    Record(Fields),
    /// A record that says what it is.
    Tagged(&'static str, Fields),
    Call(Call),
    /// One after the other.
    Sequence(Vec<Term>),
    /// All of them, in any order.
    Parallel(Vec<Term>),
    /// One of them.
    AnyOf(Vec<Term>),
    Because(Box<Term>, Box<Term>),
    Compare(Box<Term>, Comparison, Box<Term>),
    Range(Box<Term>, Box<Term>),
    About(Box<Term>),
    /// Records with the same fields.
    Table {
        columns: Vec<&'static str>,
        rows: Vec<Vec<Term>>,
    },
    Message(Box<Message>),
}

pub(crate) type Fields = Vec<(&'static str, Term)>;

pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) args: Vec<Term>,
    pub(crate) named: Fields,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    More,
    AtMost,
    AtLeast,
    Differs,
    Equals,
}

impl Family {
    pub(crate) const ALL: &[Self] = &[
        Self::Query,
        Self::Negotiation,
        Self::Subscription,
        Self::Voting,
        Self::Errors,
        Self::Transactions,
        Self::Plans,
        Self::Batches,
        Self::Delegation,
        Self::LongText,
        Self::Tables,
        Self::Nesting,
        Self::Blockers,
        Self::Metadata,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Query => "query and reply",
            Self::Negotiation => "negotiation",
            Self::Subscription => "subscription",
            Self::Voting => "coordination and voting",
            Self::Errors => "errors",
            Self::Transactions => "transactions",
            Self::Plans => "plans",
            Self::Batches => "batches of actions",
            Self::Delegation => "delegation",
            Self::LongText => "long texts",
            Self::Tables => "tables of records",
            Self::Nesting => "deep nesting",
            Self::Blockers => "blockers and questions",
            Self::Metadata => "much metadata",
        }
    }
}

impl Comparison {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::More => ">",
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Differs => "!=",
            Self::Equals => "=",
        }
    }
}

impl Term {
    /// A word, a number or a text: what needs no brackets anywhere.
    pub(crate) fn is_leaf(&self) -> bool {
        match self {
            Self::Nothing
            | Self::Text(_)
            | Self::Number { .. }
            | Self::Bool(_)
            | Self::Entity(_)
            | Self::Symbol(_)
            | Self::Name(_)
            | Self::Variable(_) => true,
            Self::Tagged(_, fields) => fields.is_empty(),
            Self::List(_)
            | Self::Record(_)
            | Self::Call(_)
            | Self::Sequence(_)
            | Self::Parallel(_)
            | Self::AnyOf(_)
            | Self::Because(..)
            | Self::Compare(..)
            | Self::Range(..)
            | Self::About(_)
            | Self::Table { .. }
            | Self::Message(_) => false,
        }
    }
}
