//! Stub.
#[derive(Debug, Clone)]
pub struct Peers;
