//! Patches: the `*** Begin Patch` format, read with spans, planned against files that somebody else
//! reads, and shown as unified diffs.
//!
//! Nothing here touches a file: [`plan`] asks [`Files`] what a path holds and answers with what every
//! path should hold. Whoever applies the [`Plan`] has to make it all or nothing.

mod diff;
mod error;
mod index;
mod intercept;
mod parse;
mod path;
mod plan;
mod syntax;
mod text;
mod update;

pub use error::{Elsewhere, PatchError, PatchErrorKind, PlanError, PlanErrorKind};
pub use intercept::{Intercepted, intercept};
pub use parse::parse;
pub use path::{PatchPath, PathError};
pub use plan::{FilePlan, Files, MemoryFiles, Plan, ReadFailure, plan};
pub use syntax::{Chunk, ChunkLine, Context, Operation, OperationKind, Patch};

/// A patch is written by a model, in one answer: this is more than any of them can say.
pub const MAX_PATCH_BYTES: usize = 32 * 1024 * 1024;

/// Sources are smaller than this, and what is larger would be held in memory several times.
pub const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;
