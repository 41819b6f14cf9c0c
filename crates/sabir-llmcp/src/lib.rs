//! What passes between an agent and a model: packets, context documents, citations, typed tools,
//! packing, redaction. It names no model, no file and no clock.

mod cite;

pub use cite::{
    CitableSource, CitationStatus, MatchKind, Reason, SourceText, Verdict, verify_citation,
    verify_quote,
};
