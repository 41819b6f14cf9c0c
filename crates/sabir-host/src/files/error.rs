//! Why files were not changed.

use std::fmt;
use std::io;
use std::path::PathBuf;

use sabir_engine::patch::ReadFailure;

/// Unless it is [`ApplyError::HalfDone`], every file is as it was before.
#[derive(Debug)]
pub enum ApplyError {
    /// The file does not hold what it should hold before the change.
    Changed {
        path: String,
    },
    ReadOnly {
        path: String,
    },
    Read {
        path: String,
        failure: ReadFailure,
    },
    /// The system refused to do something with a file.
    File {
        action: &'static str,
        path: String,
        source: io::Error,
    },
    /// The journal cannot be written or read.
    Journal {
        path: PathBuf,
        source: io::Error,
    },
    /// The path lies in the folder of the journal.
    Reserved {
        path: String,
    },
    /// Something failed, and these files could not be put back.
    HalfDone {
        cause: Box<ApplyError>,
        left: Vec<String>,
    },
    /// What the file held before is gone, or was changed.
    NotKept {
        path: String,
    },
    /// The record of an applied patch names a path that is none.
    BadRecord {
        path: String,
    },
}

impl ApplyError {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Changed { .. } => "read the file again and write the patch for it".to_owned(),
            Self::ReadOnly { path } => format!("make it writable first: chmod u+w '{path}'"),
            Self::Read { failure, .. } => failure.help().to_owned(),
            Self::File { .. } => "check permissions and free space, and try again".to_owned(),
            Self::Journal { .. } => "choose a folder that can be written to: --home DIR".to_owned(),
            Self::Reserved { .. } => "leave the files of sabir itself alone".to_owned(),
            Self::HalfDone { .. } => {
                "look at these files; what they held is beside them, in files named .sabir-*"
                    .to_owned()
            }
            Self::NotKept { .. } => {
                "too many changes have come since: put the file right by hand".to_owned()
            }
            Self::BadRecord { .. } => "the record is damaged and cannot be used".to_owned(),
        }
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { path } => write!(f, "{path} has changed meanwhile"),
            Self::ReadOnly { path } => write!(f, "{path} is read-only"),
            Self::Read { path, failure } => write!(f, "{path} {failure}"),
            Self::File { action, path, .. } => write!(f, "cannot {action} {path}"),
            Self::Journal { path, .. } => write!(f, "cannot keep a journal in {}", path.display()),
            Self::Reserved { path } => write!(f, "{path} belongs to the journal"),
            Self::HalfDone { left, .. } => {
                write!(f, "could not put back {}", left.join(", "))
            }
            Self::NotKept { path } => write!(f, "what {path} held before is not kept any more"),
            Self::BadRecord { path } => write!(f, "the record names `{path}`"),
        }
    }
}

impl std::error::Error for ApplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } | Self::Journal { source, .. } => Some(source),
            Self::HalfDone { cause, .. } => Some(cause),
            Self::Changed { .. }
            | Self::ReadOnly { .. }
            | Self::Read { .. }
            | Self::Reserved { .. }
            | Self::NotKept { .. }
            | Self::BadRecord { .. } => None,
        }
    }
}
