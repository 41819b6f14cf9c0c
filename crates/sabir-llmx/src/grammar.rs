//! LLMX as a grammar that other programs read: for people (EBNF), for llguidance (Lark) and for
//! llama.cpp (GBNF).
//!
//! One table is built from the options and from the table of blocks, and the printers of
//! `sabir-grammar` render it. The exports describe the strict form; what no context-free grammar can
//! say (duplicate keys, for one) is left to the parser and validator.

mod blocks;
mod lexical;
mod options;
mod table;
mod values;

pub use options::Options;
pub use sabir_grammar::Format;

/// The grammar of LLMX documents under `options`.
pub fn export(format: Format, options: &Options) -> String {
    table::build(options).print(format)
}
