//! AXON as a grammar that other programs read: for people (EBNF), for llguidance (Lark) and for
//! llama.cpp (GBNF).
//!
//! One table is built from the options, and the printers of `sabir-grammar` render it. The exports
//! describe the strict language without comments; what no context-free grammar can say (duplicate
//! keys, for one) is left to the parser and validator.

mod expression;
mod lexical;
mod options;
mod punctuation;
mod table;

pub use options::{AgentName, BadAgentName, Options};
pub use sabir_grammar::Format;

/// The grammar of AXON documents under `options`.
pub fn export(format: Format, options: &Options) -> String {
    table::build(options).print(format)
}
