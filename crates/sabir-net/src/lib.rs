//! Servers and clients: the transports of the queue pair, and the protocols of editors.

mod acp;
mod lines;
mod stdio;
mod transport;

pub use acp::serve_acp;
pub use lines::{LineSink, LineSource, lines};
pub use stdio::serve_stdio;
pub use transport::{Frame, Sink, Source, carry};
