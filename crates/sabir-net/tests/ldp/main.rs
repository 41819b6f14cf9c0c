//! The server for other agents, over real connections, in front of a real node with a home of its
//! own. What messages mean is tested where the protocol is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bridges;
mod crowd;
mod doors;
mod holders;
mod http2;
mod limits;
mod mounts;
mod openapi;
mod orders;
mod routes;
mod rules;
mod slow;
mod socket;
mod stream;
mod tls;
mod together;
mod wire;
mod world;
