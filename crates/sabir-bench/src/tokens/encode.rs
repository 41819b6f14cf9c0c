//! The notations that are compared. Each has one encoder; no scenario has a text of its own.

mod axon;
mod english;
mod json;
mod llmx;
mod toon;

use anyhow::Result;

use crate::tokens::scenario::Message;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    AxonWire,
    AxonPretty,
    Llmx,
    Json,
    JsonShort,
    JsonPretty,
    Toon,
    English,
}

impl Notation {
    pub(crate) const ALL: &[Self] = &[
        Self::AxonWire,
        Self::AxonPretty,
        Self::Llmx,
        Self::Json,
        Self::JsonShort,
        Self::JsonPretty,
        Self::Toon,
        Self::English,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::AxonWire => "AXON, wire",
            Self::AxonPretty => "AXON, pretty",
            Self::Llmx => "LLMX",
            Self::Json => "JSON, compact",
            Self::JsonShort => "JSON, short keys",
            Self::JsonPretty => "JSON, pretty",
            Self::Toon => "TOON",
            Self::English => "English",
        }
    }

    /// For programs.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::AxonWire => "axon-wire",
            Self::AxonPretty => "axon-pretty",
            Self::Llmx => "llmx",
            Self::Json => "json",
            Self::JsonShort => "json-short",
            Self::JsonPretty => "json-pretty",
            Self::Toon => "toon",
            Self::English => "english",
        }
    }

    /// How the page says what was written.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::AxonWire => {
                "AXON v0.1 as it goes over the wire: no white space that is not needed"
            }
            Self::AxonPretty => "AXON v0.1 laid out for people",
            Self::Llmx => {
                "LLMX v1.0: the block that fits the intent, `x_` fields and `X_` blocks for what has none"
            }
            Self::Json => "JSON without white space, keys that say what they mean: the baseline",
            Self::JsonShort => {
                "JSON without white space, with AXON's performatives, metadata keys and operators"
            }
            Self::JsonPretty => "the baseline, indented by two spaces",
            Self::Toon => "TOON of the baseline's value",
            Self::English => "English sentences from one template for each intent",
        }
    }

    /// `message` as text; `number` is its place in the conversation, from one.
    pub(crate) fn encode(self, message: &Message, number: usize) -> Result<String> {
        Ok(match self {
            Self::AxonWire => axon::wire(message)?,
            Self::AxonPretty => axon::pretty(message)?,
            Self::Llmx => llmx::message(message, number),
            Self::Json => serde_json::to_string(&json::descriptive(message)?)?,
            Self::JsonShort => serde_json::to_string(&json::short(message)?)?,
            Self::JsonPretty => serde_json::to_string_pretty(&json::descriptive(message)?)?,
            Self::Toon => toon::of(&json::descriptive(message)?)?,
            Self::English => english::message(message),
        })
    }
}
