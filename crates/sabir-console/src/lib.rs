//! The console: a web page where a person sees what their node does and decides what it may do, and
//! the API behind it. `docs/protocol/console.md` has the rules.
//!
//! It knows HTTP, who is signed in, and how things are shown. What happens, and whether it may, is for
//! the parts that it shows.

#![expect(clippy::disallowed_methods, reason = "it has a clock, and a token in a file")]

mod assets;
mod changes;
mod door;
mod headers;
mod input;
mod refused;
mod routes;
mod setup;
mod state;
mod stream;
mod views;

pub use door::{ConsoleToken, PlainLogin, TokenError};
pub use routes::{console, console_routes};
pub use setup::{About, Builtin, ConsoleSetup, Hint, ModelState};
