//! LLMX as JSON and back, so that a model can write JSON and the wire can carry LLMX.
//!
//! The encoding holds what `same` compares and nothing else: no spans, no white space, no quotes
//! that a word does not need. It is described in `docs/protocol/llmx-json.md` and, for machines, by
//! [`schema`].

mod decode;
mod encode;
mod lexeme;
mod schema;

pub use decode::decode;
pub use encode::{EncodeError, Encoding, encode, encoding};
pub use schema::schema;

/// The version of the encoding, which every document names.
const VERSION: u8 = 1;

/// What only extensions can say, because only they are kept as they are written. No key of LLMX has
/// a `$` in it, so no object of a document is mistaken for one of these.
mod form {
    pub(super) const WORD: &str = "$word";
    pub(super) const RUN: &str = "$run";
    pub(super) const TUPLE: &str = "$tuple";
}
