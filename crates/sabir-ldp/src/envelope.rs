//! Envelopes and the twelve messages in them: read in every dialect, written in one form that all
//! dialects can read.
//!
//! It knows what a message may say. Whether it may be said now is for the machines, and whether its
//! sender is who it says for those who check signatures.

mod body;
mod malformed;
mod read;
mod read_body;
mod write;

use serde::{Deserialize, Serialize};

pub use body::{
    Acceptance, Attestation, Body, Cancellation, Closing, DEFAULT_TTL_SECS, Failure, Hello,
    Manifest, MessageType, Outcome, Proposal, Rejection, STATUS_QUERY, Submission, TaskState,
    Update,
};
pub use malformed::{Fault, Malformed};
pub use read::MAX_DEPTH;

use crate::id::{DelegateId, MessageId, SessionId};
use crate::mode::PayloadMode;
use crate::provenance::Provenance;
use crate::read::Counted;
use crate::sign::{SignatureFault, SignedMessage};
use crate::time::Stamp;

/// One message with its address.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    pub message_id: MessageId,
    /// None before there is a session; the wire writes an empty string.
    pub session_id: Option<SessionId>,
    pub from: DelegateId,
    pub to: Recipient,
    pub body: Body,
    pub payload_mode: PayloadMode,
    pub timestamp: Stamp,
    pub provenance: Option<Provenance>,
    pub signature: Option<String>,
    pub signature_algorithm: Option<String>,
    pub nonce: Option<String>,
}

/// Whom a message is for. Both references address a peer by its URL until they know its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    Unnamed,
    Delegate(DelegateId),
    /// A URL, which is not compared with anything.
    Address(String),
}

/// A message that a peer sent, and the text that it sent: signatures are over that.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    pub envelope: Envelope,
    text: String,
    signed: Signed,
    weight: usize,
}

type Signed = Result<Option<SignedMessage>, SignatureFault>;

/// A text of which it is known how much memory it takes once it is read, and no more.
#[derive(Clone, Copy, Debug)]
pub struct Weighed<'t>(Counted<'t>);

impl<'t> Weighed<'t> {
    pub fn of(text: &'t str) -> Self {
        Self(Counted::of(text))
    }

    /// About how many bytes.
    pub fn bytes(self) -> usize {
        self.0.weight()
    }

    pub fn read(self) -> Result<Received, Box<Malformed>> {
        read::read_envelope(self.0)
    }
}

impl Received {
    pub fn read(text: &str) -> Result<Self, Box<Malformed>> {
        Weighed::of(text).read()
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// As it was received.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says about its signature; nothing if it is not signed.
    pub fn signed(&self) -> Result<Option<&SignedMessage>, SignatureFault> {
        self.signed.as_ref().map(Option::as_ref).map_err(SignatureFault::clone)
    }
}

impl Recipient {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unnamed => "",
            Self::Delegate(id) => id.as_str(),
            Self::Address(url) => url,
        }
    }
}

/// Stored as its text alone, and read again from it.
impl Serialize for Received {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Received {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).map_err(serde::de::Error::custom)
    }
}
