//! The console over HTTP, on homes with something in them.

#![expect(clippy::unwrap_used, reason = "tests say what they expect")]
#![expect(clippy::disallowed_methods, reason = "tests make homes, and times of today")]

mod asking;
mod browser;
mod collections;
mod crowd;
mod delegates;
mod door;
mod journals;
mod orders;
mod policy;
mod rules;
mod served;
mod streams;
mod talking;
mod world;
