//! Nodes that speak with each other and with programs of others, through the built program.

mod crew;
mod delegate;
mod ends;
pub(crate) mod harbor;
mod hostile;
mod kill;
mod python;
mod refusals;
mod secrets;
mod streams;
