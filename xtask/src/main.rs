//! The project's one door for developers.

fn main() {}
