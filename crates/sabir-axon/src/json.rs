//! AXON as JSON and back, so that a model can write JSON and the wire can carry AXON.
//!
//! The encoding holds what `same` compares and nothing else: no spans, no parentheses, no comments.
//! It is described in `docs/protocol/axon-json.md` and, for machines, by [`schema`].

mod decode;
mod encode;
mod schema;

pub use decode::decode;
pub use encode::{EncodeError, Encoding, encode, encoding};
pub use schema::schema;

/// The version of the encoding, which every document names.
const VERSION: u8 = 1;

/// How many `~` a document may hold. JSON counts those that stand together, so a few bytes of it
/// could ask for gigabytes of AXON; nobody means more than this.
const MAX_APPROX: u32 = 1 << 20;
