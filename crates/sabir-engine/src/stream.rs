//! What a model sends while it answers, as plain values: the same for every wire, and the same
//! however the bytes were cut on their way.

mod chat;
mod decoder;
mod failure;
mod lax;
mod request;
mod responses;
mod sse;

pub use decoder::StreamDecoder;
pub use request::ModelRequest;
pub use sse::{SseDecoder, SseEvent, SseTooLarge};

use crate::items::Item;

/// One thing that a stream said.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    TextDelta(String),
    ReasoningDelta(String),
    /// An item is whole. A call may start now.
    ItemDone(Item),
    /// The response is whole: nothing after it counts, even if the connection stays open.
    Completed {
        response_id: String,
        usage: Option<Usage>,
    },
    /// The response ended badly: nothing after it counts.
    Failed(ModelFailure),
}

/// Tokens of one response.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
)]
pub struct Usage {
    pub input: u64,
    /// The part of `input` that the provider had seen before.
    pub cached: u64,
    pub output: u64,
    /// The part of `output` that was thought, not said.
    pub reasoning: u64,
}

/// Why a request or a stream gave no whole response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFailure {
    pub kind: FailureKind,
    /// For people. Never holds a key.
    pub message: String,
    /// What the provider asked for, by header or in words.
    pub retry_after_ms: Option<u64>,
}

/// What went wrong, as far as the retry rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// No connection, or it broke before any status came.
    Connect,
    /// 429 with nothing that says that waiting is useless.
    RateLimited,
    /// 5xx, or a failed response that blames the server.
    Server,
    /// The stream ended or broke before the response was whole.
    Disconnected,
    /// No byte came for the idle time.
    Idle,
    /// `response.incomplete`, or a finish reason that says the answer was cut.
    Incomplete,
    /// The thread no longer fits.
    ContextLength,
    /// The account is used up.
    Quota,
    /// 4xx, or a response that cannot be understood: asking again would give the same.
    Refused,
    /// This side is set up wrongly: no key, no such host, a wrong URL.
    Configuration,
}

/// Every new item is compared with those before it, so that their number must be bounded. No model
/// makes a hundredth of this in one response.
const MOST_ITEMS: usize = 4096;

fn too_many() -> ModelFailure {
    ModelFailure::new(
        FailureKind::Refused,
        format!("the response has more than {MOST_ITEMS} items"),
    )
}
