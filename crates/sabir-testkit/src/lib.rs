//! What the tests of several crates share. Never a dependency of shipped code.
