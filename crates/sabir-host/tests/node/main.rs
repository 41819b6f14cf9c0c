//! A node without a network: messages go in as texts and come out as texts, the store is in a
//! temporary home, and the programs are real. A binary of its own, because it is small and builds
//! quickly.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests read files and run themselves")]

#[path = "../it/mcp/helper.rs"]
mod helper;
mod programs;
mod restarts;
mod signed;
mod streams;
mod tasks;
mod world;
