//! What goes wrong with a store. Texts are whole sentences' halves: they name the file and the way out.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::entry::SessionId;
use crate::schema::Unusable;

/// Clonable, because one failed transaction is told to everyone who waited for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Another process owns the home. Its number is missing when it has only just taken the lock.
    InUse {
        home: PathBuf,
        pid: Option<u32>,
    },
    /// There is no store to read.
    Missing {
        path: PathBuf,
    },
    /// A newer Sabir wrote it.
    NewerSchema {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    /// The file is no database, somebody else's database, or damaged.
    Damaged {
        path: PathBuf,
        why: String,
    },
    /// What is in the journal is not what was written.
    Tampered(Tampered),
    /// The first entry of a session has to say where it runs.
    UnknownSession {
        session_id: SessionId,
    },
    /// A batch without entries, or with a time that no clock shows.
    BadBatch {
        why: &'static str,
    },
    TooLarge {
        what: &'static str,
        bytes: usize,
        limit: usize,
    },
    /// There is no room for one more.
    TooMany {
        what: &'static str,
        limit: usize,
    },
    /// It cannot be kept as it is.
    Invalid {
        what: &'static str,
        why: &'static str,
    },
    /// A write failed. Nothing of its batch is in the journal, and no more is taken: what would
    /// follow might depend on what was lost.
    Failed {
        why: String,
    },
    /// Others wrote for longer than we waited. Nothing happened; trying again may help.
    Busy {
        path: PathBuf,
    },
    /// Others than its owner can use the file of the node's key.
    KeyExposed {
        path: PathBuf,
        mode: u32,
    },
    /// The store was closed before the batch was written.
    Closed,
    /// A file or the database could not be used.
    Io {
        path: PathBuf,
        why: String,
    },
}

/// Where the chain or a table first disagrees with the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tampered {
    pub seq: u64,
    pub why: &'static str,
}

impl StoreError {
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), why: error.to_string() }
    }

    /// Why the tables of a file cannot be used.
    pub(crate) fn unusable(path: &Path, unusable: Unusable) -> Self {
        match unusable {
            Unusable::Foreign => {
                let why = "it is a database of another program".to_owned();
                Self::Damaged { path: path.to_owned(), why }
            }
            Unusable::Newer { found, known } => {
                Self::NewerSchema { path: path.to_owned(), found, known }
            }
            Unusable::Database(error) => Self::database(path, &error),
        }
    }

    pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path, why: error.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            _ => Self::Io { path, why: error.to_string() },
        }
    }
}

impl std::error::Error for StoreError {}

impl std::error::Error for Tampered {}

impl From<Tampered> for StoreError {
    fn from(tampered: Tampered) -> Self {
        Self::Tampered(tampered)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { home, pid } => {
                write!(f, "{} is in use by another process", home.display())?;
                if let Some(pid) = pid {
                    write!(f, " ({pid})")?;
                }
                f.write_str("; end that process, or use another home with --home DIR")
            }
            Self::Missing { path } => write!(f, "there is no store at {}", path.display()),
            Self::NewerSchema { path, found, known } => write!(
                f,
                "{} was written by a newer sabir (schema {found}, this one knows {known}); \
                 update sabir, or use another home with --home DIR",
                path.display()
            ),
            Self::Damaged { path, why } => write!(
                f,
                "{} is not a readable store: {why}; restore it from a copy, or move it away to \
                 start afresh",
                path.display()
            ),
            Self::Tampered(tampered) => tampered.fmt(f),
            Self::UnknownSession { session_id } => {
                write!(
                    f,
                    "session {session_id} is not in the store, and the batch does not start it"
                )
            }
            Self::BadBatch { why } => write!(f, "the batch cannot be written: {why}"),
            Self::TooLarge { what, bytes, limit } => {
                write!(f, "{what} of {bytes} bytes is over the limit of {limit}")
            }
            Self::TooMany { what, limit } => {
                write!(f, "there is no room for more than {limit} {what}")
            }
            Self::Invalid { what, why } => write!(f, "{what} cannot be kept: {why}"),
            Self::Failed { why } => write!(
                f,
                "the journal takes no more entries because a write failed: {why}; make room or \
                 repair the disk, then start again"
            ),
            Self::Busy { path } => write!(
                f,
                "{} was in use by other processes for too long; try again",
                path.display()
            ),
            Self::KeyExposed { path, mode } => write!(
                f,
                "{} holds the secret key of this node and others can use it (mode {mode:03o}); \
                 `chmod 600` it if nobody did, else move it away to get a new one",
                path.display()
            ),
            Self::Closed => f.write_str("the store is closed"),
            Self::Io { path, why } => write!(f, "cannot use {}: {why}", path.display()),
        }
    }
}

impl fmt::Display for Tampered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the journal was changed after it was written: entry {}: {}; `sabir audit verify` looks \
             at all of it",
            self.seq, self.why
        )
    }
}
