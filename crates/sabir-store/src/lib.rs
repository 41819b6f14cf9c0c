//! The journal and its tables, in SQLite. The only crate that links a database.
//!
//! One process owns a home: its [`Store`] appends batches of entries, many at a time in one
//! transaction, and says when they are on disk. Anyone may read beside it with a [`Reader`].
//! The entries form a hash chain, described in `docs/protocol/journal.md`, so that a change to what
//! was written can be found. What the bodies mean is not known here: they are texts, with two
//! exceptions. The first words of the user become the title of a session without one; what this node's
//! delegate records for peers is typed, so that a delegate can be read back without reading all of it.
//!
//! Beside the journal stand two files of their own that any number of processes write: the [`library`],
//! with what people collect, ask and make, and [`peers`], with what this node knows of others.

#![expect(clippy::disallowed_methods, reason = "a store is files")]

mod browse;
mod chain;
mod commits;
mod connection;
mod counts;
mod delegate;
mod entry;
mod error;
mod gathering;
mod home;
mod journal;
pub mod library;
mod node_key;
pub mod peers;
mod projection;
mod queue;
mod reader;
mod schema;
mod store;
mod tables;
mod title;
mod verify;
mod writer;

pub use browse::LineFilter;
pub use chain::{Hash, Link, entry_hash, genesis_hash};
pub use counts::{COMMIT_SECONDS, JournalCounts};
pub use delegate::{PeerEntry, PeerRefusal};
pub use entry::{ApprovalState, Batch, Entry, Parent, SessionFacts, SessionId};
pub use error::{StoreError, Tampered};
pub use node_key::{has_node_key, node_key};
pub use reader::{Bookmark, Line, Most, Reader, Recorded, Scope, SessionFilter, SessionSummary};
pub use store::{Options, Receipt, Rejected, Store};
pub use verify::Verified;
