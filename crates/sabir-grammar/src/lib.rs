//! Grammars as data: a language fills one [`Table`] with rules, and three printers write it down, for
//! people (EBNF), for llguidance (Lark) and for llama.cpp (GBNF). One table keeps the three from
//! drifting apart.
//!
//! This crate knows no language, reads no grammar and depends on nothing of ours. White space is a
//! rule like any other: no dialect is told to ignore it on the side.
//!
//! ```
//! use sabir_grammar::{Format, Introduction, Table, class, lit, rule, seq, separated, some};
//!
//! let mut table = Table::new(Introduction {
//!     ebnf: "Sums.",
//!     lark: "Sums for llguidance.",
//!     gbnf: "Sums for llama.cpp.",
//! });
//! table.phrase("sum", separated(rule("digits"), lit("+")));
//! table.token("digits", some(class(&[('0', '9')])));
//!
//! assert_eq!(
//!     table.print(Format::Lark),
//!     "// Sums for llguidance.\n\nstart: DIGITS (\"+\" DIGITS)*\n\nDIGITS: /[0-9]/+\n",
//! );
//! ```

mod class;
mod depth;
mod ebnf;
mod expr;
mod gbnf;
mod lark;
mod print;
mod table;
#[cfg(test)]
mod tests;

pub use class::Class;
pub use depth::Depth;
pub use expr::{
    Except, Expr, choice, class, lit, many, one_of, opt, rule, separated, separated_after, seq,
    some,
};
pub use table::{Format, Introduction, Table};
