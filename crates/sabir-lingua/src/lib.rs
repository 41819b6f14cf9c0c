//! What the notations have in common: translation between them, and what each costs in tokens.
//!
//! AXON, LLMX, their JSON and semantic frames say the same things in different words. Translation
//! is exact: there and back gives an equal tree, for every document that can be read. A [`Message`] of a
//! record can be seen in each of them, and in English.
//!
//! This crate knows texts. It refuses to know files, clocks, sockets and terminals, and it asks
//! no service: the vocabularies are part of the program.

mod axon_in_frame;
mod axon_in_llmx;
mod convert;
mod faithful;
mod frame_in_axon;
mod guess;
mod layers;
mod llmx_in_axon;
mod numbering;
mod speech;
pub mod tokens;
mod utterance;

pub use convert::{Refused, Tongue, convert};
pub use guess::guess;
pub use utterance::{Act, Content, Costs, Form, Message, Utterance, hear, utter};
