//! `sabir llmx …`: one file per command.

pub(crate) mod check;
pub(crate) mod fmt;
pub(crate) mod json;
pub(crate) mod reply;
mod root;
