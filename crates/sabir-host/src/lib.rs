//! Drives the engine: processes, the sandbox, files, the clock, model clients and tools.

mod files;

pub use files::{
    Applied, AppliedFile, ApplyError, BeforeFile, Recovered, Root, apply, recover, revert,
};
