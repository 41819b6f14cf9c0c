//! What passes between an agent and a model: packets, context documents, citations, typed tools,
//! packing, redaction. It names no model, no file and no clock.
