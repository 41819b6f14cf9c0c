//! What an exported grammar allows. The defaults allow all of the strict form.

use crate::block::BlockKind;

/// Narrows a grammar to what an agent may say here and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The types of block that may follow a HEADER. Empty means all.
    pub blocks: Vec<BlockKind>,
    /// The agents that may send and receive; `ALL` may receive as well. Empty means any.
    pub agents: Vec<String>,
    /// Whether `x_` fields are allowed, and `X_` blocks besides the blocks that were chosen.
    pub extensions: bool,
    /// How deep brackets may nest inside an object that a field holds. `None` means without bound.
    pub max_depth: Option<u8>,
    /// One message and no more, for an agent that has one thing to answer.
    pub single_message: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            agents: Vec::new(),
            extensions: true,
            max_depth: None,
            single_message: false,
        }
    }
}
