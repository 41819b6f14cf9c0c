//! `sabir acp`, seen by an editor: raw lines of JSON-RPC, and a model that says what it is told to.

mod editor;
mod endings;
mod load;
mod permission;
mod prompt;
mod wrong;

use editor::{Editor, World, text};
