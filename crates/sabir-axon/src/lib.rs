//! The AXON language, whole: what a tool that reads, writes, checks or mends AXON needs.
//!
//! This crate knows text and trees. It refuses to know files, clocks, sockets and terminals.

pub mod grammar;
mod performative;
mod tier;
mod unit;

pub use performative::{Performative, PerformativeInfo};
pub use tier::{MetaField, MetaValue, Presence, Tier};
pub use unit::{Unit, UnitCategory};
