//! Agents among each other: the commands that serve a delegate, and those that find, trust and use
//! others.

pub(crate) mod card;
pub(crate) mod delegate;
pub(crate) mod delegates;
pub(crate) mod domain;
mod drain;
mod house;
pub(crate) mod keys;
pub(crate) mod mcp;
mod me;
mod operator;
mod own;
mod serving;
mod shown;
pub(crate) mod spawning;
mod telemetry;
pub(crate) mod up;

pub(crate) use me::folder_of;
pub(crate) use own::WEBHOOKS;
