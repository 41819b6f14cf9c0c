//! LDP on the wire: what listens for other agents. What their messages mean is for the node.

mod server;

pub use server::{Demand, LdpLimits, LdpOptions, LdpServer, Rate, TlsFiles, ldp_openapi};
