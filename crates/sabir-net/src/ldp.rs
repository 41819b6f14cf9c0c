//! The protocol between agents over HTTP: what listens for others, and what calls them. What their
//! messages mean is for the node, and for who asked.

pub(crate) mod client;
mod server;

pub use server::{Demand, LdpLimits, LdpOptions, LdpServer, Rate, TlsFiles, ldp_openapi};
