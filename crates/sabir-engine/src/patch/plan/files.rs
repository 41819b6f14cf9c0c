//! What the planner asks about files, and an answer from memory.

use std::collections::BTreeMap;
use std::fmt;

use crate::patch::path::PatchPath;

/// A folder of files that can be read. Whoever implements it must not leave the folder.
pub trait Files {
    /// Where a path leads when links are followed. What does not exist leads to itself.
    fn locate(&self, path: &PatchPath) -> Result<PatchPath, ReadFailure> {
        Ok(path.clone())
    }

    /// What a file holds, or `None` when there is none.
    fn read(&self, path: &PatchPath) -> Result<Option<Vec<u8>>, ReadFailure>;
}

/// Why a path is neither a file nor absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFailure {
    /// A link leads out of the folder, or in a circle.
    Outside,
    Folder,
    /// Something above it is a file.
    BelowFile,
    /// A device, a socket or a pipe.
    Special,
    TooLarge,
    /// The system says why.
    Other(String),
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outside => "leads out of the working directory through a symbolic link",
            Self::Folder => "is a folder",
            Self::BelowFile => "lies below a file",
            Self::Special => "is not a regular file",
            Self::TooLarge => "is too large",
            Self::Other(reason) => return write!(f, "cannot be read: {reason}"),
        })
    }
}

impl std::error::Error for ReadFailure {}

impl ReadFailure {
    /// What to type instead.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Outside => "name a file inside of the working directory",
            Self::Folder | Self::Special => "write the path of a regular file",
            Self::BelowFile => "choose another path, or remove that file with a patch of its own",
            Self::TooLarge => "change files of more than 64 MiB with another tool",
            Self::Other(_) => "make the file readable, or name another one",
        }
    }
}

/// Files that exist only here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFiles(pub BTreeMap<PatchPath, Vec<u8>>);

impl Files for MemoryFiles {
    fn read(&self, path: &PatchPath) -> Result<Option<Vec<u8>>, ReadFailure> {
        if let Some(bytes) = self.0.get(path) {
            return Ok(Some(bytes.clone()));
        }
        if self.0.keys().any(|file| path.is_below(file)) {
            return Err(ReadFailure::BelowFile);
        }
        if self.0.keys().any(|file| file.is_below(path)) {
            return Err(ReadFailure::Folder);
        }
        Ok(None)
    }
}
