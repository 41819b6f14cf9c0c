//! The transports of the queue pair, through the built program and real clients.

mod conformance;
mod endings;
mod entry;
mod listeners;
mod reach;
mod rules;
mod server;
mod wires;
