//! What a patch says, with the places where it says so.

use sabir_base::Span;

use super::path::PatchPath;

/// A patch that was read: at least one operation, in the order in which they are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub operations: Vec<Operation>,
}

/// One `*** … File: …` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub path: PatchPath,
    pub kind: OperationKind,
    /// Its first line.
    pub span: Span,
    /// The number of that line, counted from one.
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationKind {
    Add { content: String },
    Delete,
    Update { move_to: Option<PatchPath>, chunks: Vec<Chunk> },
}

/// Lines that stand together in the file, and what becomes of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Lines of `@@ …`, which the file holds in this order before the chunk.
    pub contexts: Vec<Context>,
    pub lines: Vec<ChunkLine>,
    /// The chunk ends where the file ends.
    pub at_end: bool,
    /// From its first line to its last.
    pub span: Span,
    /// The number of its first line, counted from one.
    pub line: u32,
}

/// The text behind `@@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    pub text: String,
    pub span: Span,
    pub line: u32,
}

/// One line of a chunk, without its sign and its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkLine {
    Keep(String),
    Remove(String),
    Insert(String),
}

impl ChunkLine {
    /// The line as the file has it before, if it has.
    pub(super) fn old(&self) -> Option<&str> {
        match self {
            Self::Keep(text) | Self::Remove(text) => Some(text),
            Self::Insert(_) => None,
        }
    }
}
