//! `sabir llmcp …`: one file per command.

pub(crate) mod check;
