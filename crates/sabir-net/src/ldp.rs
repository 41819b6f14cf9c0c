//! The protocol between agents over HTTP: what listens for others, and what calls them. What their
//! messages mean is for the node, and for who asked.

pub(crate) mod client;
mod server;

pub use server::{
    Demand, Entry, LdpLimits, LdpOptions, LdpServer, Mount, Rate, Served, TlsFiles, Visitor,
    ldp_openapi,
};
