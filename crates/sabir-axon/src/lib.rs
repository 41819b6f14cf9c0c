//! The AXON language, whole: what a tool that reads, writes, checks or mends AXON needs.
//!
//! This crate knows text and trees. It refuses to know files, clocks, sockets and terminals.

pub mod codes;
pub mod grammar;
pub mod json;
mod lexer;
mod normal;
mod parser;
mod performative;
mod print;
mod repair;
mod same;
mod strings;
mod tier;
mod token;
mod tree;
mod unit;
mod validate;
mod view;

pub use lexer::{is_agent_name, is_identifier};
pub use parser::{MAX_DEPTH, Parsed, parse};
pub use performative::{Performative, PerformativeInfo};
pub use print::{Style, print};
pub use repair::{Change, Repaired, repair};
pub use same::same;
pub use strings::{quote, quote_into};
pub use tier::{MetaField, MetaValue, Presence, Tier};
pub use token::{Token, TokenKind};
pub use tree::{Kind, NodeId, Tokens, Tree, tokens};
pub use unit::{Unit, UnitCategory};
pub use validate::{Rules, check, validate};
pub use view::{
    Chain, Children, Comparison, Expr, Field, Message, Node, Number, Str, endpoint_agents,
    is_bare_key,
};
