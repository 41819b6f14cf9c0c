//! The client of delegates against peers over real sockets: well-behaved ones, and others.

mod client;
mod client_rules;
mod delegating;
mod peer;
mod world;
