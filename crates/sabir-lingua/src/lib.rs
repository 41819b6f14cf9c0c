//! What the notations have in common: what a text costs in tokens.
//!
//! This crate knows texts. It refuses to know files, clocks, sockets and terminals, and it asks
//! no service: the vocabularies are part of the program.

pub mod tokens;
