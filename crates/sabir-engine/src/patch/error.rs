//! Why a patch cannot be read, and why it cannot be planned. Each says what to type.

use std::fmt;

use sabir_base::Span;

use super::path::{PatchPath, PathError};
use super::plan::ReadFailure;

/// A text that is not a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    pub kind: PatchErrorKind,
    /// The bytes of the text that are meant.
    pub span: Span,
    /// The line on which they start, counted from one.
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchErrorKind {
    TooLarge,
    Nul,
    NoBegin,
    NoEnd,
    AfterEnd,
    /// Nothing between the first and the last line.
    Empty,
    /// A line that starts with `***` and is not one of ours.
    UnknownMarker {
        found: String,
    },
    /// A line where a `*** … File:` was expected.
    NotAnOperation {
        found: String,
    },
    Path {
        path: String,
        error: PathError,
    },
    /// A line of an added file without its `+`.
    AddLine {
        found: String,
    },
    /// A line of a chunk that starts with none of its signs.
    ChunkLine {
        found: String,
    },
    /// A line behind the end of a chunk that starts no other one.
    NoChunkHead {
        found: String,
    },
    /// A chunk that neither keeps, removes nor inserts a line.
    EmptyChunk,
    /// An update that neither changes nor moves its file.
    EmptyUpdate {
        path: String,
    },
    /// `*** Move to:` that does not follow `*** Update File:`.
    StrayMove,
}

impl PatchError {
    /// What to type instead.
    pub fn help(&self) -> String {
        match &self.kind {
            PatchErrorKind::TooLarge => {
                format!("split it into patches of at most {} bytes", super::MAX_PATCH_BYTES)
            }
            PatchErrorKind::Nul => "a patch is text: remove the NUL character".to_owned(),
            PatchErrorKind::NoBegin => "write `*** Begin Patch` as the first line".to_owned(),
            PatchErrorKind::NoEnd => "write `*** End Patch` as the last line".to_owned(),
            PatchErrorKind::AfterEnd => {
                "remove what follows, or move `*** End Patch` behind it".to_owned()
            }
            PatchErrorKind::Empty => format!("write at least one of {OPERATIONS}"),
            PatchErrorKind::UnknownMarker { .. } | PatchErrorKind::NotAnOperation { .. } => {
                format!("write one of {OPERATIONS}, or `*** End Patch`")
            }
            PatchErrorKind::Path { error, .. } => error.help().to_owned(),
            PatchErrorKind::AddLine { .. } => {
                "write `+` in front of every line of an added file".to_owned()
            }
            PatchErrorKind::ChunkLine { .. } => {
                "start every line with a space (kept), `-` (removed) or `+` (inserted)".to_owned()
            }
            PatchErrorKind::NoChunkHead { .. } => {
                "write `@@` on the line above it, to start another chunk".to_owned()
            }
            PatchErrorKind::EmptyChunk => {
                "write the lines of the chunk under `@@`, each with a space, `-` or `+` in front"
                    .to_owned()
            }
            PatchErrorKind::EmptyUpdate { .. } => {
                "write a chunk that starts with `@@`, or `*** Move to: PATH`".to_owned()
            }
            PatchErrorKind::StrayMove => {
                "write `*** Move to:` on the line under `*** Update File:`".to_owned()
            }
        }
    }
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.kind {
            PatchErrorKind::TooLarge => f.write_str("the patch is too large"),
            PatchErrorKind::Nul => f.write_str("the patch holds a NUL character"),
            PatchErrorKind::NoBegin => f.write_str("the patch does not start"),
            PatchErrorKind::NoEnd => f.write_str("the patch does not end"),
            PatchErrorKind::AfterEnd => f.write_str("text after the end of the patch"),
            PatchErrorKind::Empty => f.write_str("the patch is empty: no files were modified"),
            PatchErrorKind::UnknownMarker { found } => write!(f, "unknown marker `{found}`"),
            PatchErrorKind::NotAnOperation { found } => {
                write!(f, "`{found}` belongs to no file")
            }
            PatchErrorKind::Path { path, error } => write!(f, "the path `{path}` {error}"),
            PatchErrorKind::AddLine { found } => {
                write!(f, "`{found}` is in an added file but has no `+`")
            }
            PatchErrorKind::ChunkLine { found } => {
                write!(f, "`{found}` is neither kept, removed nor inserted")
            }
            PatchErrorKind::NoChunkHead { found } => {
                write!(f, "`{found}` stands behind the end of its chunk")
            }
            PatchErrorKind::EmptyChunk => f.write_str("the chunk has no lines"),
            PatchErrorKind::EmptyUpdate { path } => {
                write!(f, "the update of `{path}` changes nothing")
            }
            PatchErrorKind::StrayMove => f.write_str("a move without an update before it"),
        }
    }
}

impl std::error::Error for PatchError {}

/// A patch that does not fit the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    pub kind: PlanErrorKind,
    /// The file it is about.
    pub path: PatchPath,
    /// The bytes of the patch that do not fit.
    pub span: Span,
    /// The line on which they start, counted from one.
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanErrorKind {
    Missing,
    Read(ReadFailure),
    Nul,
    NotUtf8 {
        offset: usize,
    },
    TooManyLines,
    /// The file that would come out is larger than a file may be.
    TooLarge,
    /// The files of the plan together are larger than a plan may be.
    PlanTooLarge,
    /// Finding the lines takes more steps than a patch may take.
    TooMuchWork,
    /// The line behind `@@` is not in the rest of the file.
    NoContext {
        context: String,
    },
    /// The lines of a chunk are not in the rest of the file.
    NoLines {
        lines: String,
        elsewhere: Elsewhere,
    },
    /// It is a link, and would be removed instead of what it leads to.
    IsLink {
        target: PatchPath,
    },
    /// It would be a file, and the folder of another one.
    FileAndFolder {
        below: PatchPath,
    },
}

/// Where the lines that were not found are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    Nowhere,
    /// Before the place that the patch has reached; the line is counted from one.
    Before {
        line: usize,
    },
    /// Not at the end, as the chunk says.
    NotAtEnd {
        line: usize,
    },
}

impl PlanError {
    /// What to type instead.
    pub fn help(&self) -> String {
        let path = &self.path;
        match &self.kind {
            PlanErrorKind::Missing => {
                format!("check the path; to make a new file, write `*** Add File: {path}`")
            }
            PlanErrorKind::Read(failure) => failure.help().to_owned(),
            PlanErrorKind::Nul | PlanErrorKind::NotUtf8 { .. } => {
                "change files that are not UTF-8 text with another tool".to_owned()
            }
            PlanErrorKind::TooManyLines | PlanErrorKind::TooLarge => {
                "change files of this size with another tool".to_owned()
            }
            PlanErrorKind::PlanTooLarge => "split it into patches of fewer files".to_owned(),
            PlanErrorKind::TooMuchWork => format!(
                "write the lines exactly as they are in the file, and all chunks under one \
                 `*** Update File: {path}`"
            ),
            PlanErrorKind::NoContext { context } if is_line_numbers(context) => {
                "line numbers are not part of this format: write `@@` alone, or `@@` and a line of \
                 the file"
                    .to_owned()
            }
            PlanErrorKind::NoContext { .. } => {
                "write behind `@@` a whole line of the file, above the chunk and below the chunks \
                 before it"
                    .to_owned()
            }
            PlanErrorKind::NoLines { elsewhere, .. } => match elsewhere {
                Elsewhere::Nowhere => format!(
                    "read {path} again and write the kept and removed lines as they are there"
                ),
                Elsewhere::Before { line } => format!(
                    "the lines are at line {line}, before what the patch has changed already: \
                     write the chunks in the order of the file"
                ),
                Elsewhere::NotAtEnd { line } => format!(
                    "the lines are at line {line}, which is not the end: remove `*** End of File`"
                ),
            },
            PlanErrorKind::IsLink { target } => format!("write `{target}`, to which it leads"),
            PlanErrorKind::FileAndFolder { .. } => "give one of them another name".to_owned(),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, path, line, .. } = self;
        write!(f, "line {line}: ")?;
        match kind {
            PlanErrorKind::Missing => write!(f, "{path} does not exist"),
            PlanErrorKind::Read(failure) => write!(f, "{path} {failure}"),
            PlanErrorKind::Nul => write!(f, "{path} holds NUL bytes"),
            PlanErrorKind::NotUtf8 { offset } => write!(f, "{path} is not UTF-8 (byte {offset})"),
            PlanErrorKind::TooManyLines => write!(f, "{path} has too many lines"),
            PlanErrorKind::TooLarge => write!(f, "{path} would become too large"),
            PlanErrorKind::PlanTooLarge => {
                write!(f, "the files up to {path} are too large together")
            }
            PlanErrorKind::TooMuchWork => {
                write!(f, "finding the lines in {path} takes too many steps")
            }
            PlanErrorKind::NoContext { context } => {
                write!(f, "failed to find context '{context}' in {path}")
            }
            PlanErrorKind::NoLines { lines, .. } => {
                write!(f, "failed to find expected lines in {path}:\n{lines}")
            }
            PlanErrorKind::IsLink { .. } => write!(f, "{path} is a symbolic link"),
            PlanErrorKind::FileAndFolder { below } => {
                write!(f, "{path} cannot be a file and the folder of {below}")
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// `-1,3 +1,4 @@`: the head of a chunk in another format.
fn is_line_numbers(context: &str) -> bool {
    context.starts_with(['-', '+']) && context.contains("@@")
}

const OPERATIONS: &str = "`*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH`";
