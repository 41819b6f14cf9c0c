//! AXON as a grammar that other programs read: for people (EBNF), for llguidance (Lark) and for
//! llama.cpp (GBNF).
//!
//! One table is built from the options, and three printers render it, so that the three exports
//! cannot drift apart. The exports describe the strict language without comments; what no
//! context-free grammar can say (duplicate keys, for one) is left to the parser and validator.

mod ebnf;
mod expression;
mod gbnf;
mod lark;
mod lexical;
mod options;
mod print;
mod rule;
mod table;

pub use options::{AgentName, BadAgentName, Options};

/// The dialect in which a grammar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// In the style of the AXON specification: `=`, `;`, `{ }` and `[ ]`. For people.
    Ebnf,
    /// The dialect of Lark that llguidance reads.
    Lark,
    /// The dialect that llama.cpp reads.
    Gbnf,
}

/// The grammar of AXON documents under `options`.
pub fn export(format: Format, options: &Options) -> String {
    let table = table::build(options);
    match format {
        Format::Ebnf => ebnf::print(&table),
        Format::Lark => lark::print(&table),
        Format::Gbnf => gbnf::print(&table),
    }
}
