//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests read files and run themselves")]

mod conversations;
mod desk;
mod mcp;
mod model;
mod sessions;
mod spawning;
