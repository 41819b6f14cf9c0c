//! Any list of inputs to a session: no panic, one task at a time, every call answered once, nothing
//! left running, and what is stored is enough to go on.

#![no_main]

#[path = "../../crates/sabir-engine/tests/it/session_ops.rs"]
mod session_ops;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    session_ops::drive(bytes);
});
