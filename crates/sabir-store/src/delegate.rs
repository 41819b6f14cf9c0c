//! What this node's delegate records, in the journal and in tables of its own: the rows, what they
//! mean for the tables, and how a delegate is read back. What the records mean to peers is not known
//! here; `sabir-ldp` decides that.

mod behind;
mod check;
mod effect;
mod entry;
mod lookup;
mod mark;
mod names;
mod projection;
mod restore;
mod sessions;
mod tasks;

pub(crate) use behind::PeerTables;
pub(crate) use check::PeerCheck;
pub use entry::PeerEntry;
pub use lookup::PeerRefusal;
pub(crate) use mark::{Known, mark};
pub(crate) use tasks::RECORDS;
