//! The integration tests of sabir-ldp, in one binary.

mod cards;
mod envelopes;
mod hostile;
mod made;
mod negotiation;
mod payloads;
mod refusals;
mod round_trips;
mod schema;
mod times;
mod vectors;
mod wire_rules;
