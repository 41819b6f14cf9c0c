//! Agents among each other: the commands that serve a delegate, and those that find, trust and use
//! others.

pub(crate) mod card;
pub(crate) mod delegate;
pub(crate) mod delegates;
pub(crate) mod domain;
pub(crate) mod keys;
mod me;
mod operator;
mod shown;
pub(crate) mod up;
