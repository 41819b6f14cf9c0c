//! What passes between an agent and a model: packets, context documents, citations, typed tools,
//! packing, redaction. It names no model, no file and no clock.

mod calculate;
mod chunk;
mod redact;

pub use calculate::{CalculateError, CalculateProblem, calculate};
pub use chunk::{Chunk, choose_chunks, gap_mark, split_chunks};
pub use redact::{Redacted, normalise_url, redact_packet, redact_text, redact_url};
