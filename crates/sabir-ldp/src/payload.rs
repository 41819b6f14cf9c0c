//! What a task's input must look like in each payload mode, and how one mode is said in another.
//!
//! It knows shapes. What an input means is for the skill that gets it.

mod axon;
mod convert;
mod error;
mod frame;
mod graph;
mod hints;

use serde_json::Value;

pub use error::PayloadError;
pub use frame::Frame;
pub use graph::{Edge, Graph, MAX_EDGES, MAX_NODES, Node};
pub use hints::{Hint, Hints, MAX_DIMENSION, MAX_HINTS};

use crate::mode::PayloadMode;

/// A payload that was found to be what its mode says.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Any JSON: in this mode the references send whatever the caller gave, a string or not.
    Text(Value),
    Frame(Frame),
    Hints(Hints),
    Graph(Graph),
}

impl Payload {
    /// Checks a payload against its mode. Its depth was bounded when its message was read.
    pub fn check(mode: PayloadMode, value: &Value) -> Result<Self, PayloadError> {
        match mode {
            PayloadMode::Text => Ok(Self::Text(value.clone())),
            PayloadMode::SemanticFrame => Frame::check(value).map(Self::Frame),
            PayloadMode::EmbeddingHints => Hints::check(value).map(Self::Hints),
            PayloadMode::SemanticGraph => Graph::check(value).map(Self::Graph),
            PayloadMode::LatentCapsules | PayloadMode::CacheSlices => {
                Err(PayloadError::NotImplemented { mode })
            }
        }
    }

    pub fn mode(&self) -> PayloadMode {
        match self {
            Self::Text(_) => PayloadMode::Text,
            Self::Frame(_) => PayloadMode::SemanticFrame,
            Self::Hints(_) => PayloadMode::EmbeddingHints,
            Self::Graph(_) => PayloadMode::SemanticGraph,
        }
    }

    pub fn to_value(&self) -> Value {
        match self {
            Self::Text(value) => value.clone(),
            Self::Frame(frame) => frame.to_value(),
            Self::Hints(hints) => hints.to_value(),
            Self::Graph(graph) => graph.to_value(),
        }
    }
}
