//! What it takes to explain a notation to a model that has never seen it: the prompts.

use crate::tokens::encode::Notation;

const AXON: &str = include_str!("teach/axon.txt");
const LLMX: &str = include_str!("teach/llmx.txt");
const JSON: &str = include_str!("teach/json.txt");
const JSON_SHORT: &str = include_str!("teach/json-short.txt");
const TOON: &str = include_str!("teach/toon.txt");
const ENGLISH: &str = include_str!("teach/english.txt");

/// The prompt. Every notation's explains the intents, the metadata and the shapes of content; TOON
/// is explained on top of the object that it writes.
pub(crate) fn prompt(notation: Notation) -> String {
    match notation {
        Notation::AxonWire | Notation::AxonPretty => AXON.to_owned(),
        Notation::Llmx => LLMX.to_owned(),
        Notation::Json | Notation::JsonPretty => JSON.to_owned(),
        Notation::JsonShort => JSON_SHORT.to_owned(),
        Notation::Toon => format!("{JSON}{TOON}"),
        Notation::English => ENGLISH.to_owned(),
    }
}
