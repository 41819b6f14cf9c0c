//! The `sabir` program: arguments, rendering of diagnostics, exit codes.

fn main() {}
