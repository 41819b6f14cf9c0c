//! The built-in model: no weights, deterministic, honest. It selects sentences of the sources, so
//! that each of its citations is exact, and says when nothing supports an answer.
