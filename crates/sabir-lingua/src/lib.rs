//! What the notations have in common: translation between them, and what each costs in tokens.
//!
//! AXON, LLMX, their JSON and semantic frames say the same things in different words. Translation
//! is exact: there and back gives an equal tree, for every document that can be read.
//!
//! This crate knows texts. It refuses to know files, clocks, sockets and terminals, and it asks
//! no service: the vocabularies are part of the program.

mod axon_in_frame;
mod axon_in_llmx;
mod convert;
mod faithful;
mod frame_in_axon;
mod layers;
mod llmx_in_axon;
mod numbering;
mod speech;
pub mod tokens;

pub use convert::{Refused, Tongue, convert};
