//! The integration tests of sabir-ldp, in one binary.

mod cards;
mod envelopes;
mod hostile;
mod made;
mod negotiation;
mod payloads;
mod refusals;
mod replay;
mod round_trips;
mod schema;
mod security_rules;
mod signing;
mod signing_vectors;
mod times;
mod trust;
mod vectors;
mod wire_rules;
