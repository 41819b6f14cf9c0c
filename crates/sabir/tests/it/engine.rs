//! The engine through the built program: lines of JSON on one side, a scripted model on the other,
//! and real commands, patches and files between them.

mod approvals;
mod bad_input;
mod chat;
mod client;
mod decisions;
mod diagrams;
mod endings;
mod floods;
mod interrupts;
mod ops;
mod patches;
pub(crate) mod place;
mod policies;
mod resume;
mod run;
mod secrets;
mod sessions;
mod streams;
mod tasks;
pub(crate) mod terminal;
