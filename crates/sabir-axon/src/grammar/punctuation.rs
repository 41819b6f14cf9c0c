//! Commas and the white space around them, the same in every list of AXON.

use sabir_grammar::{Expr, lit, rule, separated, separated_after, seq};

/// `item`, then more of them behind commas.
pub(super) fn comma_separated(item: Expr) -> Expr {
    separated(item, comma())
}

/// `first`, then `item`s behind commas.
pub(super) fn followed_by_more(first: Expr, item: Expr) -> Expr {
    separated_after(first, item, comma())
}

pub(super) fn comma() -> Expr {
    seq([ws(), lit(","), ws()])
}

/// Optional white space.
pub(super) fn ws() -> Expr {
    rule("ws")
}
