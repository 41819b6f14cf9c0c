//! What was written down, seen from outside: `log`, `explain`, `replay` and `audit verify` over a home
//! with several journals.

mod explain;
mod home;
mod log;
mod node;
mod verify;
