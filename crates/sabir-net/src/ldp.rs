//! The protocol between agents over HTTP.

pub(crate) mod client;
