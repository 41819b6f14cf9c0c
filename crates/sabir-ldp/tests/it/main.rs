//! The integration tests of sabir-ldp, in one binary.

mod cards;
mod envelopes;
mod hostile;
mod made;
mod negotiation;
mod payloads;
mod refusals;
mod round_trips;
mod route_choice;
mod route_evidence;
mod route_plan;
mod route_properties;
mod route_rules;
mod route_world;
mod schema;
mod times;
mod vectors;
mod wire_rules;
